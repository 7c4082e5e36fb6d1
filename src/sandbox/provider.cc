#include "sandbox/provider.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "os/file.h"
#include "os/tree_size.h"

namespace atl::sandbox {

Result<void> Provider::check_storage(const StorageUse&) const {
  return fail(Error(Code::unsupported, fmt::format("provider {} lacks the trait 'storages'", name()))
                  .with_field("storage"));
}

Task<void> Provider::discard_storage(StorageUse) {
  co_return Result<void>{};
}

Task<void> Provider::discard_snapshot(std::string directory) {
  co_return os::remove_tree(AT_FDCWD, directory);
}

Task<std::uint64_t> Provider::snapshot_bytes(std::string directory) {
  CO_TRY(const os::Fd opened, os::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  CO_TRY(const os::TreeSize size, os::measure_tree(opened.get()));
  co_return size.bytes;
}

void Provider::discard_interpreters(const std::string&) {}

Task<os::Fd> Provider::open_volume(std::string, VolumeSize) {
  co_return fail(Code::unsupported, "this provider has no filesystems of volumes' own");
}

Task<void> Provider::close_volume(std::string) {
  co_return Result<void>();
}

Task<Carried> Sandbox::checkpoint(std::string, CheckpointOptions) {
  co_return fail(Code::unsupported, "the provider lacks the trait 'live_fork'");
}

const Carried& Sandbox::revival() const {
  static const Carried none;
  return none;
}

}  // namespace atl::sandbox
