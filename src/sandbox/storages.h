#pragma once

#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/document.h"
#include "sandbox/spec.h"
#include "vfs/storage_kinds.h"
#include "vfs/virtual_file_system.h"

namespace atl::sandbox::emulated {

// Who shares the files of a storage.
enum class Share : std::uint8_t {
  session,  // nobody: each session has a space of its own, which ends with it
  tenant,   // the sessions of one tenant
  all,      // every session that names it
};
enum class StorageAccess : std::uint8_t { read_write, read_only };

struct StorageDeclaration {
  std::string name, kind;
  Share share = Share::session;
  StorageAccess access = StorageAccess::read_write;
  std::vector<std::string> tenants;  // who may use it; empty: everybody
  vfs::StorageOptions options;
};

// The setting `storages`: {NAME: {kind, share?, access?, tenants?, ...options of the kind}}. A storage that
// names no `path` is below `directory`. Code::invalid_argument with what is wrong and where.
Result<std::vector<StorageDeclaration>> parse_storages(const config::Node& node,
                                                       const vfs::StorageKinds& kinds,
                                                       const std::string& directory);

// What sessions that share a space share: one filesystem in this process, so that each sees at once what the
// others write.
struct StoredFiles {
  std::shared_ptr<vfs::VirtualFileSystem> fs;
  StorageAccess access = StorageAccess::read_write;
  bool is_own = false;  // of one session alone
};

// The storages of a service. Opening and discarding block on the storage: they are called on the pool,
// several at once. The rest belongs to the loop thread.
class Storages {
 public:
  Storages() = default;
  Storages(vfs::StorageKinds kinds, std::vector<StorageDeclaration> declared);

  // Code::invalid_argument with the field "storage".
  Result<void> check(const StorageUse& use) const;
  // The files of the space that this use has, with this quota where it has one of its own. Code::unavailable
  // if the storage cannot be reached.
  Result<StoredFiles> open(const StorageUse& use, const vfs::Quota& quota);
  // Of a session's own space everything goes; a shared one stays.
  Result<void> discard(const StorageUse& use);
  // Every space that a tenant shares among its sessions. Those that other tenants share stay, and so do
  // storages that can only be read. Whatever still has one open is to be gone.
  Result<void> discard_tenant(const std::string& tenant);
  // Threads on which a storage is waited for. They begin with the first call, because a process with threads
  // must not be forked.
  std::shared_ptr<boost::asio::thread_pool> pool();

 private:
  Result<void> drop(const StorageDeclaration& storage, const std::string& space);
  std::string space_of(const StorageDeclaration& storage, const StorageUse& use) const;
  // The files of a space that is open already; null if it is not.
  std::shared_ptr<vfs::VirtualFileSystem> known(const std::string& key);

  vfs::StorageKinds kinds_;
  std::map<std::string, StorageDeclaration, std::less<>> declared_;
  std::mutex lock_;                                                    // of what follows
  std::map<std::string, std::weak_ptr<vfs::VirtualFileSystem>> open_;  // by storage and space
  std::shared_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace atl::sandbox::emulated
