#pragma once

// What the source files of VirtualFileSystem share; nobody else includes this.

#include <fmt/format.h>

#include "vfs/virtual_file_system.h"

namespace atl::vfs {

inline std::uint64_t size_of(const tree::Node& node) {
  bool has_content = node.kind != tree::Kind::directory && node.kind != tree::Kind::link;
  return has_content ? static_cast<const tree::FileNode&>(node).content.size() : 0;
}

inline void stamp(tree::Node& node, std::int64_t now) {
  node.modified = node.changed = now;
}

Stat stat_of(const tree::Node& node);

// One change of the tree: `operation` works on state_ under the write lock, `afterwards` runs under it once
// the change is certain. On failure the tree is as before, if `undo` says that the operation may leave
// something half done. With a storage behind, the change is stored before anybody sees it.
template <class F, class G>
Result<void> VirtualFileSystem::change(Undo undo, F&& operation, G&& afterwards) {
  tree::State before;  // declared before the locks: what it frees, it frees outside
  // Always in this order: the storage's turn, then the tree. Readers take only the second, so a slow storage
  // does not hold them up.
  auto behind = lock_behind();
  std::unique_lock lock(lock_);
  bool keep = undo == Undo::needed || behind_ != nullptr;
  if (keep) before = state_;
  Result<void> done = operation();
  if (done && behind_ != nullptr) {
    // Readers see the old state until the storage has the new one.
    tree::State next = state_;
    std::swap(state_, before);
    // Nobody else can change the tree meanwhile: that takes the storage's turn.
    lock.unlock();
    done = persist(next);
    lock.lock();
    if (!done) {
      follow_storage(done.error());
      return done;
    }
    state_ = next;
  } else if (!done) {
    if (keep) std::swap(state_, before);
    return done;
  }
  ++version_;
  afterwards();
  return done;
}

template <class F>
Result<void> VirtualFileSystem::change(F&& operation) {
  return change(Undo::unneeded, operation, [] {});
}

// Changes one node that exists and keeps the sums of bytes right.
template <class F>
void VirtualFileSystem::edit(const tree::Located& where, F&& change_node) {
  if (where.node->kind == tree::Kind::link) {
    tree::DirNode& links = tree::own_links(state_);
    tree::Node& file = tree::own(tree::entry_slot(links, tree::link_key(where.node->inode)));
    std::uint64_t before = size_of(file);
    change_node(file);
    links.bytes += size_of(file) - before;
    return;
  }
  if (where.parent == nullptr) return change_node(tree::own_root(state_));
  tree::Spine spine(state_, where.parent_path());
  tree::Node& node = tree::own(tree::entry_slot(spine.last(), where.name()));
  std::uint64_t before = size_of(node);
  change_node(node);
  if (std::uint64_t after = size_of(node); after != before)
    spine.add(static_cast<std::int64_t>(after - before), 0, 0);
}

}  // namespace atl::vfs
