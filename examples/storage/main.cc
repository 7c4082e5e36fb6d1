// Writes files through a filesystem on the storage, opens it anew and reads them.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "log_storage.h"
#include "vfs/virtual_file_system.h"

namespace {

using atl::Result;
namespace vfs = atl::vfs;

Result<void> run(const std::string& directory) {
  vfs::StorageKinds kinds;
  kinds.add("log", example::log_kind());  // the one line

  const vfs::StorageKind& kind = *kinds.find("log");
  const vfs::StorageOptions options{{"path", directory}};
  const vfs::Path file = TRY(vfs::Path::posix("/notes/today.txt"));
  {
    auto storage = TRY(kind.open(options, "acme/ses_1"));
    auto fs = TRY(vfs::VirtualFileSystem::open(storage));
    TRY(fs->make_directory(file.parent()));
    TRY(fs->write(file, "It rained."));
  }
  auto storage = TRY(kind.open(options, "acme/ses_1"));
  auto fs = TRY(vfs::VirtualFileSystem::open(storage));
  const vfs::Content content = TRY(fs->read(file));
  if (content.substr(0, 100) != "It rained.")
    return atl::fail(atl::Code::data_loss, "the file is another one");
  auto other = TRY(kind.open(options, "acme/ses_2"));
  if (TRY(other->count()) != 0) return atl::fail(atl::Code::data_loss, "a space shows the files of another");
  fmt::print("kept {} entries\n", TRY(storage->count()));
  return {};
}

}  // namespace

int main() {
  std::string pattern = (std::filesystem::temp_directory_path() / "atoll-example-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  const auto done = run(pattern);
  std::filesystem::remove_all(pattern);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message());
  return 1;
}
