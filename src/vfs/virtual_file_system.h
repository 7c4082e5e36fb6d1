#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "vfs/file_system.h"
#include "vfs/rw_lock.h"
#include "vfs/snapshot.h"
#include "vfs/tree.h"

namespace atl::vfs {

class FileStorage;

struct Quota {
  std::uint64_t bytes_max = UINT64_MAX;
  std::uint64_t nodes_max = UINT64_MAX;  // files and directories, without the root
};

struct VirtualOptions {
  Quota quota;
  std::uint32_t uid = 1000, gid = 1000;  // owner of what is created
  std::uint32_t root_mode = 0755;
  const Clock* clock = nullptr;  // null: the machine's
};

// The filesystem of the virtual provider: a persistent tree in memory (tree.h), and, where a storage stands
// behind it, a copy of every change there.
//
// Threads: readers share a lock and do not wait for each other; a writer holds it while it changes the tree,
// which is microseconds, and not while it waits for a storage. Who needs several reads of one state takes a
// snapshot.
//
// With a storage every call writes through before it answers, in one atomic batch; if the storage refuses,
// the call fails and nothing changed. Writes through an open File reach it at flush(), close() or sync(). The
// storage belongs to this filesystem alone while it lives; changes made behind its back appear after
// reload(). A storage with several writers says Code::conflict when another was first: the call fails, and
// the other's state is loaded at once.
class VirtualFileSystem final : public FileSystem {
 public:
  explicit VirtualFileSystem(const VirtualOptions& options = {});
  // The state of a snapshot. O(1).
  explicit VirtualFileSystem(Snapshot from, const VirtualOptions& options = {});
  // On a storage: loads what it holds. data_loss if that is not a tree.
  static Result<std::unique_ptr<VirtualFileSystem>> open(std::shared_ptr<FileStorage> storage,
                                                         const VirtualOptions& options = {});
  ~VirtualFileSystem() override;
  VirtualFileSystem(const VirtualFileSystem&) = delete;
  VirtualFileSystem& operator=(const VirtualFileSystem&) = delete;

  Result<Stat> stat(const Path& path, Follow follow = Follow::yes) const override;
  std::optional<Stat> find(const Path& path, Follow follow = Follow::yes) const override;
  Result<Listing> list(const Path& directory) const override;
  Result<Content> read(const Path& path) const override;
  Result<std::unique_ptr<File>> open(const Path& path, const OpenOptions& options) override;
  Result<void> write(const Path& path, Content content, const WriteOptions& options = {}) override;
  using FileSystem::write;
  Result<void> make_directory(const Path& path, std::uint32_t mode = 0755,
                              Parents parents = Parents::must_exist) override;
  Result<void> make_fifo(const Path& path, std::uint32_t mode = 0644) override;
  Result<void> make_symlink(const Path& path, std::string_view target) override;
  Result<void> make_link(const Path& existing, const Path& path) override;
  Result<std::string> read_link(const Path& path) const override;
  Result<Path> real_path(const Path& path) const override;
  Result<void> remove_file(const Path& path) override;
  Result<void> remove_directory(const Path& path) override;
  Result<void> remove_all(const Path& path) override;
  Result<void> rename(const Path& from, const Path& to) override;
  Result<void> set_mode(const Path& path, std::uint32_t mode, Follow follow = Follow::yes) override;
  Result<void> set_owner(const Path& path, std::optional<std::uint32_t> uid, std::optional<std::uint32_t> gid,
                         Follow follow = Follow::yes) override;
  Result<void> set_times(const Path& path, const Times& times, Follow follow = Follow::yes) override;
  Result<Path> copy(const Path& from, const Path& to, const CopyOptions& options = {}) override;
  Result<Path> move(const Path& from, const Path& to, const CopyOptions& options = {}) override;
  Result<Stats> stats() const override;

  // O(1) whatever the size. The snapshot stays as it is whatever happens here, and outlives this filesystem.
  Snapshot snapshot() const;
  // O(1) in memory; with a storage, what differs is written. Open files keep the bytes they had.
  Result<void> restore(const Snapshot& snapshot);
  // An independent filesystem in memory with the same contents. O(1).
  std::unique_ptr<VirtualFileSystem> fork() const;

  Quota quota() const;
  // Below what is used now is allowed: then nothing may grow.
  void set_quota(const Quota& quota);
  // Counts changes; equal numbers mean that nothing happened in between.
  std::uint64_t version() const;

  // Everything acknowledged is in the storage. Without one: nothing to do.
  Result<void> sync();
  // Forgets what is in memory and loads the storage again. Open files keep the bytes they had.
  Result<void> reload();

 private:
  friend class VirtualFile;
  // What an open file is, shared by its handles. While the file has a name, its node is in the tree.
  struct OpenInode {
    std::uint64_t inode = 0;
    std::string path;              // where it was seen last; right as long as `orphan` is null
    tree::Ref<tree::Node> orphan;  // the file itself once it has no name
    std::uint32_t handles = 0;
  };
  using OpenInodes = std::unordered_map<std::uint64_t, std::unique_ptr<OpenInode>>;

  // What an operation took out of the tree, for the files that somebody still has open.
  struct Removed {
    std::string path;
    tree::Ref<tree::Node> top;
    std::vector<tree::Ref<tree::Node>> last_links;  // files that lost the last of several names
  };
  enum class Undo : std::uint8_t { unneeded, needed };

  // Runs `operation` under the lock; on failure, its own or the storage's, the state is what it was. An
  // operation that can fail after its first change says Undo::needed; others check everything first, which is
  // faster.
  template <class F, class G>
  Result<void> change(Undo undo, F&& operation, G&& afterwards);
  template <class F>
  Result<void> change(F&& operation);

  // Unless it says otherwise, what follows is called with lock_ held.
  std::int64_t now() const;
  Result<void> locate(std::string_view path, Follow follow, tree::Located& out) const;
  // Code::no_space if that much more would go over the quota. Bytes of files that are open and have no name
  // count.
  Result<void> check_room(std::uint64_t more_bytes, std::uint64_t more_nodes) const;
  template <class F>
  void edit(const tree::Located& where, F&& change_node);
  // Puts a node into a directory that exists; takes over its reference and keeps the sums right. The name
  // must be free.
  void attach(std::string_view parent, tree::Node* node);
  // Takes the node out of its directory; the caller has its reference.
  tree::Node* detach(const tree::Located& where);
  // Takes out a node with all below it, and notes in `removed` what open files still need.
  void remove_located(const tree::Located& where, Removed& removed);
  void unlink_below(tree::Node& node, Removed& removed);
  void unlink_one(std::uint64_t inode, Removed& removed);
  tree::Node* new_node(tree::Kind kind, std::string_view name, std::uint32_t mode);
  // A copy under another name that shares contents.
  tree::Node* copy_of(const tree::State& from, const tree::Node& node, std::string_view name,
                      bool keep_times);

  // The missing directories on the way. `more_bytes`: what the caller will add, for the quota.
  Result<void> make_parents(const Path& path, std::uint64_t more_bytes);
  Result<void> write_locked(const Path& path, Content content, const WriteOptions& options);
  Result<void> write_existing(const tree::Located& where, Content content, bool append);
  Result<void> make_leaf(const Path& path, tree::Kind kind, std::uint32_t mode, Content content);
  Result<void> rename_locked(const Path& from, const Path& to, Removed& replaced);
  Result<void> copy_locked(const Path& from, const Path& to, const CopyOptions& options, Removed& replaced);
  Result<void> copy_merging(const tree::State& source, const tree::Located& from, const tree::Located& to,
                            const CopyOptions& options, Removed& replaced);
  // Where copy() and move() lead: `to`, or below it under the source's name.
  Result<Path> destination(const Path& from, const Path& to, const CopyOptions& options) const;

  // Gives the storage what differs from what it holds. Called without lock_.
  Result<void> persist(const tree::State& next);
  // After `failure` of the storage, with both locks held: if it was a conflict, what the storage holds now
  // becomes the state.
  void follow_storage(const Error& failure);
  Result<tree::State> load() const;
  // Empty where no storage stands behind.
  std::unique_lock<std::mutex> lock_behind() const;
  Result<OpenInode*> open_locked(const Path& path, const OpenOptions& options);
  // Files that were removed and are open keep their bytes here until they are closed.
  void orphan(const Removed& removed);
  void orphan_everything(const tree::State& old);
  void move_names(std::string_view from, std::string_view to);
  void close_inode(OpenInode& open);
  // The open file itself, wherever it is now. Null would be a defect of ours.
  const tree::Node* node_of(const OpenInode& open) const;
  template <class F>
  Result<void> edit_open(OpenInode& open, std::uint64_t new_size, F&& change_content);

  mutable RwLock lock_;
  tree::State state_;
  std::uint64_t version_ = 0;
  std::uint64_t orphan_bytes_ = 0;
  Quota quota_;
  std::uint32_t uid_, gid_;
  const Clock* clock_;
  // Where a storage stands behind: held by a writer from its first look to the storage's answer, taken before
  // lock_, and guards synced_.
  struct Behind {
    std::mutex writer;
    std::shared_ptr<FileStorage> storage;
    tree::State synced;  // what the storage holds
  };
  std::unique_ptr<Behind> behind_;    // null: memory only
  std::unique_ptr<OpenInodes> open_;  // null while nothing was ever opened
};

}  // namespace atl::vfs
