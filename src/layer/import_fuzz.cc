// Archives from outside: whatever the bytes are, the import refuses or makes layers that verify, and nothing
// is written outside the store.
#include <fcntl.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "layer/import.h"
#include "os/file.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  using namespace atl::layer;
  static const std::string directory = [] {
    std::string pattern = (std::filesystem::temp_directory_path() / "atoll-import-fuzz-XXXXXX").string();
    return std::string(::mkdtemp(pattern.data()));
  }();
  static const auto store = *Store::open(directory + "/layers", Durability::unsynced);
  const std::string file = directory + "/archive";
  if (!os::write_file(file, {reinterpret_cast<const char*>(data), size})) return 0;
  ImportOptions options{.name = "fuzz"};
  options.limits = {.entries_max = 1000, .bytes_max = 1 << 22, .ratio_max = 100, .ratio_from_bytes = 1 << 20};
  if (auto imported = import_file(*store, file, options)) {
    for (const std::string& digest : imported->stack.layers)
      if (!store->verify(digest)) ::abort();
    if (!store->remove("fuzz")) ::abort();
  }
  if (!store->collect() || !store->layers()->empty()) ::abort();
  if (!std::filesystem::is_empty(directory + "/layers/incoming")) ::abort();
  return 0;
}
