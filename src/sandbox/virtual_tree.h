#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/spec.h"
#include "sandbox/storages.h"
#include "vfs/virtual_file_system.h"

namespace atl::sandbox::emulated {

// The files of a virtual sandbox: a filesystem in memory, and, hung into it, the working directory on a
// storage and directories of the host, read-only. A value: copies share the same files.
struct VirtualTree {
  std::shared_ptr<vfs::VirtualFileSystem> memory;
  std::shared_ptr<vfs::VirtualFileSystem> stored;  // null: no storage
  vfs::Path stored_at;
  std::shared_ptr<boost::asio::thread_pool> pool;  // where the storage is waited for; null: no storage
  std::shared_ptr<vfs::FileSystem> view;  // all of it together; `memory` itself where nothing hangs in it

  // A part that changes, seen from a directory of the view: `inside` is the directory within the part, or the
  // part's root, and `prefix` is how names in it begin as seen from that directory ("" or "user/").
  struct Part {
    std::shared_ptr<vfs::VirtualFileSystem> fs;
    vfs::Path inside;
    std::string prefix;
  };
  std::vector<Part> parts_below(const vfs::Path& directory) const;

  // Everything in memory and on the storage as one snapshot; directories of the host are not part of it.
  Result<vfs::Snapshot> snapshot() const;
};

// Puts the files of a sandbox together. `start` is what the memory begins with: where the storage is this
// session's own and `start` is a stored snapshot, the snapshot's working directory replaces what the storage
// holds.
enum class Beginning : std::uint8_t { fresh, from_snapshot };
Result<VirtualTree> make_tree(const Spec& spec, vfs::Snapshot start, Beginning beginning, Storages& storages);

}  // namespace atl::sandbox::emulated
