// rename, move and copy of VirtualFileSystem.
#include <fmt/format.h>

#include <algorithm>

#include "vfs/virtual_edit.h"
#include "vfs/virtual_file_system.h"

namespace atl::vfs {

using tree::DirNode;
using tree::FileNode;
using tree::Kind;
using tree::Located;
using tree::Node;
using tree::Ref;

Result<void> VirtualFileSystem::rename_locked(const Path& from_path, const Path& to_path, Removed& replaced) {
  Located from, to;
  TRY(locate(from_path.str(), Follow::no, from));
  if (from.node == nullptr) return refuse(Code::not_found, from_path.str());
  TRY(locate(to_path.str(), Follow::no, to));
  if (from.parent == nullptr || to.parent == nullptr) return refuse(Code::invalid_argument, "/");
  if (to.file != nullptr && to.file->inode == from.file->inode) return {};
  bool directory = tree::is_directory(*from.node);
  if (directory && to.path.size() > from.path.size() && to.path.starts_with(from.path) &&
      to.path[from.path.size()] == '/')
    return fail(Code::loop, fmt::format("{}: cannot move a directory into itself", from_path.str()));
  if (to.node != nullptr) {
    bool onto_directory = tree::is_directory(*to.node);
    if (directory && !onto_directory) return refuse(Code::not_a_directory, to_path.str());
    if (!directory && onto_directory) return refuse(Code::is_a_directory, to_path.str());
    if (onto_directory && static_cast<const DirNode*>(to.node)->entries != nullptr)
      return refuse(Code::not_empty, to_path.str());
  }
  if (directory) {
    auto& tree_moved = static_cast<const DirNode&>(*from.node);
    if (to.path.size() + tree_moved.longest > kPathBytesMax &&
        to.path.size() + tree::longest_below(tree_moved) > kPathBytesMax)
      return refuse(Code::too_large, to_path.str());
  }
  if (to.node != nullptr) remove_located(to, replaced);
  Node* node = detach(from);
  if (node->name() != to.name()) {
    Node* renamed = tree::clone(*node, to.name());
    tree::release(node);
    node = renamed;
  } else {
    tree::own(node);
  }
  node->changed = now();
  attach(to.parent_path(), node);
  return {};
}

Result<void> VirtualFileSystem::rename(const Path& from, const Path& to) {
  Removed replaced;
  return change(
      Undo::unneeded, [&] { return rename_locked(from, to, replaced); },
      [&] {
        orphan(replaced);
        move_names(from.str(), to.str());
      });
}

// Where a copy or move of `from` to `to` ends up.
Result<Path> VirtualFileSystem::destination(const Path& from, const Path& to,
                                            const CopyOptions& options) const {
  if (!options.into_directory || from.is_root()) return to;
  const Node* node = tree::find(state_, to.str(), Follow::yes);
  if (node == nullptr || !tree::is_directory(*node)) return to;
  return to.child(from.name());
}

Result<Path> VirtualFileSystem::move(const Path& from, const Path& to, const CopyOptions& options) {
  Removed replaced;
  Path target;
  bool same = false;
  auto operation = [&]() -> Result<void> {
    Located source, there;
    TRY(locate(from.str(), Follow::no, source));
    if (source.node == nullptr) return refuse(Code::not_found, from.str());
    // A name moved onto itself; a directory would otherwise go into itself.
    same = from == to;
    target = same ? to : TRY(destination(from, to, options));
    TRY(locate(target.str(), Follow::no, there));
    same = same || there.path == source.path;
    if (same) return {};
    if (there.node != nullptr && options.overwrite == Overwrite::no)
      return refuse(Code::already_exists, target.str());
    return rename_locked(from, target, replaced);
  };
  auto afterwards = [&] {
    orphan(replaced);
    if (!same) move_names(from.str(), target.str());
  };
  TRY(change(Undo::unneeded, operation, afterwards));
  return target;
}

// A copy with inodes of its own; the bytes are shared. Iterative, because the depth is the guest's choice.
Node* VirtualFileSystem::copy_of(const tree::State& from, const Node& top, std::string_view name,
                                 bool keep_times) {
  auto copy_one = [&](const Node& node, std::string_view as) {
    const Node& file = *tree::through_link(from, &node);
    Node* copy = new_node(file.kind, as, file.mode);
    if (keep_times) {
      copy->modified = file.modified;
      copy->accessed = file.accessed;
    }
    if (file.kind != Kind::directory)
      static_cast<FileNode*>(copy)->content = static_cast<const FileNode&>(file).content;
    return copy;
  };
  struct Level {
    const DirNode* from;
    DirNode* to;
    std::size_t parent;
  };
  Node* result = copy_one(top, name);
  if (!tree::is_directory(*result)) return result;
  std::vector<Level> levels{{static_cast<const DirNode*>(&top), static_cast<DirNode*>(result), 0}};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    DirNode& to = *levels[i].to;
    tree::for_each_entry(*levels[i].from, [&](Node& node) {
      Node* copy = copy_one(node, node.name());
      tree::insert_entry(to, copy);
      to.longest = std::max<std::uint16_t>(to.longest, static_cast<std::uint16_t>(1 + copy->name_length));
      if (tree::is_directory(*copy)) {
        to.subdirectories += 1;
        levels.push_back({static_cast<DirNode*>(&node), static_cast<DirNode*>(copy), i});
      } else {
        to.bytes += size_of(*copy);
        to.files += 1;
      }
    });
  }
  for (std::size_t i = levels.size(); i-- > 1;) {
    const DirNode& child = *levels[i].to;
    DirNode& parent = *levels[levels[i].parent].to;
    parent.bytes += child.bytes;
    parent.files += child.files;
    parent.directories += child.directories + 1;
    parent.longest = std::max<std::uint16_t>(
        parent.longest, static_cast<std::uint16_t>(1 + child.name_length + child.longest));
  }
  return result;
}

// Both are directories: what is missing is copied, what is there is replaced or, for two directories, merged.
Result<void> VirtualFileSystem::copy_merging(const tree::State& source, const Located& from,
                                             const Located& to, const CopyOptions& options,
                                             Removed& replaced) {
  std::vector<std::pair<const DirNode*, std::string>> pending{
      {static_cast<const DirNode*>(from.file), std::string(to.path == "/" ? "" : to.path)}};
  while (!pending.empty()) {
    auto [directory, path] = std::move(pending.back());
    pending.pop_back();
    Result<void> done{};
    tree::for_each_entry(*directory, [&](Node& node) {
      if (!done) return;
      done = [&]() -> Result<void> {
        std::string here = path + "/" + std::string(node.name());
        Located there;
        TRY(locate(here, Follow::no, there));
        if (there.node != nullptr) {
          bool into = tree::is_directory(*there.node);
          if (tree::is_directory(node) && into) {
            pending.emplace_back(static_cast<DirNode*>(&node), std::move(here));
            return {};
          }
          if (into) return refuse(Code::is_a_directory, here);
          if (tree::is_directory(node)) return refuse(Code::not_a_directory, here);
          Removed one;
          remove_located(there, one);
          replaced.last_links.push_back(std::move(one.top));
          for (auto& link : one.last_links) replaced.last_links.push_back(std::move(link));
        }
        Ref<Node> copy(copy_of(source, node, node.name(), options.preserve_times));
        std::uint64_t bytes = tree::is_directory(*copy) ? static_cast<DirNode&>(*copy).bytes : size_of(*copy);
        std::uint64_t nodes = tree::is_directory(*copy)
                                  ? static_cast<DirNode&>(*copy).files +
                                        std::uint64_t{static_cast<DirNode&>(*copy).directories} + 1
                                  : 1;
        TRY(check_room(bytes, nodes));
        attach(path, copy.leak());
        return {};
      }();
    });
    TRY(done);
  }
  return {};
}

Result<void> VirtualFileSystem::copy_locked(const Path& from_path, const Path& to_path,
                                            const CopyOptions& options, Removed& replaced) {
  tree::State source = state_;
  Located from, to;
  TRY(locate(from_path.str(), options.follow, from));
  if (from.file == nullptr) return refuse(Code::not_found, from_path.str());
  TRY(locate(to_path.str(), Follow::no, to));
  bool directory = tree::is_directory(*from.file);
  std::string_view from_top = from.path == "/" ? std::string_view() : from.path;
  if (directory &&
      (to.path == from.path || (to.path.starts_with(from_top) && to.path[from_top.size()] == '/')))
    return fail(Code::loop, fmt::format("{}: cannot copy a directory into itself", from_path.str()));
  if (to.node != nullptr) {
    if (to.file->inode == from.file->inode)
      return fail(Code::invalid_argument,
                  fmt::format("{}: source and destination are the same file", to_path.str()));
    if (options.overwrite == Overwrite::no) return refuse(Code::already_exists, to_path.str());
    if (directory && !tree::is_directory(*to.node)) return refuse(Code::not_a_directory, to_path.str());
    if (!directory && tree::is_directory(*to.node)) return refuse(Code::is_a_directory, to_path.str());
    if (directory) return copy_merging(source, from, to, options, replaced);
    remove_located(to, replaced);
  }
  if (directory) {
    auto& top = static_cast<const DirNode&>(*from.file);
    if (to.path.size() + top.longest > kPathBytesMax &&
        to.path.size() + tree::longest_below(top) > kPathBytesMax)
      return refuse(Code::too_large, to_path.str());
    TRY(check_room(top.bytes, std::uint64_t{top.files} + top.directories + 1));
  } else {
    TRY(check_room(size_of(*from.file), 1));
  }
  Ref<Node> copy(copy_of(source, *from.file, to.name(), options.preserve_times));
  if (directory) TRY(check_room(static_cast<DirNode&>(*copy).bytes, 0));
  attach(to.parent_path(), copy.leak());
  return {};
}

Result<Path> VirtualFileSystem::copy(const Path& from, const Path& to, const CopyOptions& options) {
  Removed replaced;
  Path target;
  auto operation = [&]() -> Result<void> {
    target = TRY(destination(from, to, options));
    return copy_locked(from, target, options, replaced);
  };
  TRY(change(Undo::needed, operation, [&] { orphan(replaced); }));
  return target;
}

}  // namespace atl::vfs
