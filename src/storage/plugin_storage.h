#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "os/fd.h"
#include "storage/plugin_protocol.h"
#include "vfs/mirrored_storage.h"
#include "vfs/storage_kinds.h"

namespace atl::storage {

// Entries that a plugin keeps, in a process of its own (plugin_server.h). A plugin that crashes, hangs or
// refuses fails the call; the next one connects anew, once the process is there again. Values that are no
// entries are Code::data_loss.
class PluginStorage final : public vfs::MirroredStorage {
 public:
  struct Options {
    std::string socket;  // where the process listens
    std::chrono::milliseconds call_max{10'000};
    std::size_t load_max = std::size_t{1} << 30;  // bytes that a space may have
  };
  // Code::unavailable if no process listens; Code::provider_failed with the plugin's own words if it refuses;
  // Code::unavailable if it gives more than load_max.
  static Result<std::unique_ptr<PluginStorage>> open(Options options, std::string space);
  static Result<void> discard(const Options& options, const std::string& space);

 private:
  PluginStorage(Options options, std::string space)
      : options_(std::move(options)), space_(std::move(space)) {}
  Result<std::vector<vfs::FileEntry>> load() const override;
  Result<void> store(const vfs::Batch& batch) override;

  Result<void> connect() const;
  // A failure closes the connection, because what would come next on it is not known.
  Result<std::vector<vfs::FileEntry>> ask(FrameKind kind, std::string_view body) const;

  Options options_;
  std::string space_;
  mutable os::Fd socket_;
};

// {kind: plugin, library, storage?, path?}: `sockets` is the directory in which the process of each storage
// listens under the storage's own directory name.
vfs::StorageKind plugin_kind(std::string sockets);

// The name of the socket of a storage whose data is in `path`.
std::string plugin_socket(const std::string& sockets, const std::string& path);

}  // namespace atl::storage
