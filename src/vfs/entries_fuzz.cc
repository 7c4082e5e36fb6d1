#include <cstdint>
#include <string>

#include "vfs/entries.h"
#include "vfs/snapshot.h"
#include "vfs/wire.h"

// The records inside a snapshot, past the checksum that keeps random bytes away from them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace atl::vfs;
  WireReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
  std::vector<FileEntry> entries;
  while (!reader.done() && entries.size() < 200) {
    FileEntry entry;
    auto path = reader.bytes();
    if (!path) break;
    auto parsed = Path::posix(*path);
    auto attributes = reader.bytes();
    if (!parsed || !attributes || !decode_attributes(*attributes, entry)) break;
    entry.path = *parsed;
    if (entry.type == Type::file) entry.content = Content(*path);
    if (entry.type == Type::symlink) entry.content = Content("target");
    entries.push_back(std::move(entry));
  }
  auto state = empty_state();
  if (add_entries(state, entries)) (void)all_entries(state);
  return 0;
}
