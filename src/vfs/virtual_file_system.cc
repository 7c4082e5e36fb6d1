#include "vfs/virtual_file_system.h"

#include <fmt/format.h>

#include <algorithm>

#include "vfs/virtual_edit.h"

namespace atl::vfs {

using tree::DirNode;
using tree::FileNode;
using tree::Kind;
using tree::Located;
using tree::Node;
using tree::Ref;
using tree::Spine;

namespace {

WallTime to_time(std::int64_t nanoseconds) {
  return WallTime(Duration(nanoseconds));
}

void append_all(Content& to, const Content& from) {
  // Contents share their bytes: taking over is free, appending copies.
  if (to.empty()) {
    to = from;
    return;
  }
  for (std::uint64_t at = 0; at < from.size();) {
    auto run = from.run(at);
    to.append(run);
    at += run.size();
  }
}

}  // namespace

Stat stat_of(const Node& node) {
  Stat out;
  out.inode = node.inode;
  out.type = tree::type_of(node.kind);
  out.mode = node.mode;
  out.uid = node.uid;
  out.gid = node.gid;
  out.created = to_time(node.created);
  out.modified = to_time(node.modified);
  out.changed = to_time(node.changed);
  out.accessed = to_time(node.accessed);
  if (tree::is_directory(node)) {
    // As on Unix: its name, its own ".", and the ".." of each subdirectory.
    out.links = 2 + static_cast<const DirNode&>(node).subdirectories;
  } else {
    out.links = static_cast<const FileNode&>(node).links;
    out.size = static_cast<const FileNode&>(node).content.size();
  }
  return out;
}

VirtualFileSystem::VirtualFileSystem(const VirtualOptions& options)
    : VirtualFileSystem(Snapshot(), options) {}

VirtualFileSystem::VirtualFileSystem(Snapshot from, const VirtualOptions& options)
    : state_(from.state()),
      quota_(options.quota),
      uid_(options.uid),
      gid_(options.gid),
      clock_(options.clock != nullptr ? options.clock : &Clock::machine()) {
  if (state_.root) return;
  DirNode* root = tree::new_directory("");
  root->mode = static_cast<std::uint16_t>(options.root_mode & 07777);
  root->uid = uid_;
  root->gid = gid_;
  root->inode = 1;
  root->created = root->modified = root->changed = root->accessed = now();
  state_.root = Ref<DirNode>(root);
}

VirtualFileSystem::~VirtualFileSystem() = default;

std::int64_t VirtualFileSystem::now() const {
  return clock_->now().time_since_epoch().count();
}

Result<void> VirtualFileSystem::locate(std::string_view path, Follow follow, Located& out) const {
  auto found = tree::locate(state_, path, follow, out);
  if (!found) return refuse(found.error(), path);
  return {};
}

Result<void> VirtualFileSystem::check_room(std::uint64_t more_bytes, std::uint64_t more_nodes) const {
  const DirNode& root = *state_.root;
  // Files that were removed and are still open count as long as somebody has them, as on a disk.
  std::uint64_t used = root.bytes + orphan_bytes_ + (state_.links ? state_.links->bytes : 0);
  // The quota may have been lowered below what is used: then nothing may grow, and everything may shrink.
  if (more_bytes > 0 && (used > quota_.bytes_max || more_bytes > quota_.bytes_max - used))
    return fail(Code::no_space,
                fmt::format("No space left on device: {} of {} bytes are used", used, quota_.bytes_max));
  std::uint64_t nodes = std::uint64_t{root.files} + root.directories;
  if (more_nodes > 0 && (nodes > quota_.nodes_max || more_nodes > quota_.nodes_max - nodes))
    return fail(Code::no_space,
                fmt::format("No space left on device: {} of {} files are used", nodes, quota_.nodes_max));
  return {};
}

// ---- the tree's edges ----

void VirtualFileSystem::attach(std::string_view parent, Node* node) {
  // The nodes from the root to the parent, made our own: they may be shared with snapshots and forks.
  Spine spine(state_, parent);
  std::size_t below = 0;
  if (tree::is_directory(*node)) {
    auto& directory = static_cast<DirNode&>(*node);
    spine.add(static_cast<std::int64_t>(directory.bytes), directory.files,
              std::int64_t{directory.directories} + 1);
    spine.last().subdirectories += 1;
    // A directory that moves deeper takes its longest path with it: no path may become too long by that.
    below = directory.longest;
  } else {
    spine.add(static_cast<std::int64_t>(size_of(*node)), 1, 0);
  }
  spine.reach(node->name_length, below);
  stamp(spine.last(), now());
  tree::insert_entry(spine.last(), node);
}

Node* VirtualFileSystem::detach(const Located& where) {
  Spine spine(state_, where.parent_path());
  Node* node = tree::take_entry(spine.last(), where.name());
  if (tree::is_directory(*node)) {
    auto& directory = static_cast<DirNode&>(*node);
    spine.add(-static_cast<std::int64_t>(directory.bytes), -std::int64_t{directory.files},
              -std::int64_t{directory.directories} - 1);
    spine.last().subdirectories -= 1;
  } else {
    spine.add(-static_cast<std::int64_t>(size_of(*node)), -1, 0);
  }
  stamp(spine.last(), now());
  return node;
}

void VirtualFileSystem::unlink_one(std::uint64_t inode, Removed& removed) {
  FileNode& file = tree::own_linked_file(state_, inode);
  file.changed = now();
  // Another name still leads to it.
  if (--file.links > 0) return;
  DirNode& links = tree::own_links(state_);
  links.bytes -= file.content.size();
  removed.last_links.emplace_back(tree::take_entry(links, tree::link_key(inode)));
}

void VirtualFileSystem::unlink_below(Node& top, Removed& removed) {
  if (top.kind == Kind::link) return unlink_one(top.inode, removed);
  // Without hard links anywhere, and that is nearly always, nothing below need be looked at.
  if (!tree::is_directory(top) || !state_.links || state_.links->entries == nullptr) return;
  std::vector<DirNode*> pending{static_cast<DirNode*>(&top)};
  while (!pending.empty()) {
    DirNode* directory = pending.back();
    pending.pop_back();
    tree::for_each_entry(*directory, [&](Node& node) {
      if (tree::is_directory(node)) pending.push_back(static_cast<DirNode*>(&node));
      if (node.kind == Kind::link) unlink_one(node.inode, removed);
    });
  }
}

void VirtualFileSystem::remove_located(const Located& where, Removed& removed) {
  removed.path = where.path;
  removed.top = Ref<Node>(detach(where));
  unlink_below(*removed.top, removed);
}

Node* VirtualFileSystem::new_node(Kind kind, std::string_view name, std::uint32_t mode) {
  Node* node =
      kind == Kind::directory ? static_cast<Node*>(tree::new_directory(name)) : tree::new_file(kind, name);
  node->mode = static_cast<std::uint16_t>(mode & 07777);
  node->uid = uid_;
  node->gid = gid_;
  node->inode = state_.next_inode++;
  node->created = node->modified = node->changed = node->accessed = now();
  return node;
}

// ---- reading ----

std::optional<Stat> VirtualFileSystem::find(const Path& path, Follow follow) const {
  std::shared_lock lock(lock_);
  const Node* node = tree::find(state_, path.str(), follow);
  if (node == nullptr) return std::nullopt;
  return stat_of(*node);
}

Result<Stat> VirtualFileSystem::stat(const Path& path, Follow follow) const {
  std::shared_lock lock(lock_);
  Located where;
  TRY(locate(path.str(), follow, where));
  if (where.file == nullptr) return refuse(Code::not_found, path.str());
  return stat_of(*where.file);
}

Result<Listing> VirtualFileSystem::list(const Path& directory) const {
  std::shared_lock lock(lock_);
  Located where;
  TRY(locate(directory.str(), Follow::yes, where));
  if (where.file == nullptr) return refuse(Code::not_found, directory.str());
  if (!tree::is_directory(*where.file)) return refuse(Code::not_a_directory, directory.str());
  auto& node = static_cast<const DirNode&>(*where.file);
  Listing out;
  std::size_t count = tree::entry_count(node);
  out.reserve(count, count * 12);
  tree::for_each_entry(node, [&](Node& entry) {
    const Node* file = tree::through_link(state_, &entry);
    out.add(entry.name(), tree::type_of(file->kind), file->inode);
  });
  return out;
}

Result<Content> VirtualFileSystem::read(const Path& path) const {
  std::shared_lock lock(lock_);
  Located where;
  TRY(locate(path.str(), Follow::yes, where));
  if (where.file == nullptr) return refuse(Code::not_found, path.str());
  if (tree::is_directory(*where.file)) return refuse(Code::is_a_directory, path.str());
  if (where.file->kind == Kind::fifo)
    return fail(Code::invalid_argument, fmt::format("{}: is not a regular file", path.str()));
  // Shares the bytes: a file of any size is read in constant time, and later changes do not touch what was
  // given out.
  return static_cast<const FileNode*>(where.file)->content;
}

Result<std::string> VirtualFileSystem::read_link(const Path& path) const {
  std::shared_lock lock(lock_);
  Located where;
  TRY(locate(path.str(), Follow::no, where));
  if (where.file == nullptr) return refuse(Code::not_found, path.str());
  if (where.file->kind != Kind::symlink) return refuse(Code::invalid_argument, path.str());
  return static_cast<const FileNode*>(where.file)->content.str();
}

Result<Path> VirtualFileSystem::real_path(const Path& path) const {
  std::shared_lock lock(lock_);
  Located where;
  TRY(locate(path.str(), Follow::yes, where));
  if (where.file == nullptr) return refuse(Code::not_found, path.str());
  return Path::posix(where.path);
}

Result<Stats> VirtualFileSystem::stats() const {
  return snapshot().stats();
}

// ---- making and writing ----

// Creates what is missing of `path`, which is to be a directory. Checks first that all of it, and
// `more_bytes` and one more node, will fit. What is there is found by halving and what is missing is attached
// as one piece, because the depth is the guest's choice.
Result<void> VirtualFileSystem::make_parents(const Path& path, std::uint64_t more_bytes) {
  if (path.is_root()) return check_room(more_bytes, 1);
  const std::string_view text = path.str();
  std::vector<std::size_t> ends;  // of every prefix
  for (std::size_t end = text.find('/', 1); end != std::string_view::npos; end = text.find('/', end + 1))
    ends.push_back(end);
  ends.push_back(text.size());
  auto there = [&](std::size_t end) {
    return tree::find(state_, text.substr(0, end), Follow::yes) != nullptr;
  };
  // If a prefix is there, so is every shorter one: that is what makes halving right.
  auto missing = std::ranges::partition_point(ends, there);
  if (missing != ends.begin()) {
    const Node* last = tree::find(state_, text.substr(0, *std::prev(missing)), Follow::yes);
    if (!tree::is_directory(*last)) return refuse(Code::not_a_directory, text.substr(0, *std::prev(missing)));
  }
  TRY(check_room(more_bytes, static_cast<std::uint64_t>(ends.end() - missing) + 1));
  if (missing == ends.end()) return {};
  std::string_view first = text.substr(0, *missing);
  Located where;
  TRY(locate(first, Follow::no, where));
  // Something is there that leads nowhere: a dangling link, or a loop.
  if (where.node != nullptr) {
    auto found = tree::locate(state_, first, Follow::yes, where);
    return refuse(found ? Code::not_found : found.error(), first);
  }
  DirNode* below = nullptr;
  for (auto end = ends.end(); end != missing;) {
    --end;
    // From the deepest upwards, each put into the next; only the topmost is attached to the tree.
    std::size_t begin = end == ends.begin() ? 1 : *std::prev(end) + 1;
    auto* directory =
        static_cast<DirNode*>(new_node(Kind::directory, text.substr(begin, *end - begin), 0755));
    if (below != nullptr) {
      directory->subdirectories = 1;
      directory->directories = below->directories + 1;
      directory->longest = static_cast<std::uint16_t>(1 + below->name_length + below->longest);
      tree::insert_entry(*directory, below);
    }
    below = directory;
  }
  attach(where.parent_path(), below);
  return {};
}

Result<void> VirtualFileSystem::write_existing(const Located& where, Content content, bool append) {
  if (tree::is_directory(*where.file)) return refuse(Code::is_a_directory, where.path);
  if (where.file->kind == Kind::fifo)
    return fail(Code::invalid_argument, fmt::format("{}: is not a regular file", where.path));
  std::uint64_t old_size = size_of(*where.file);
  std::uint64_t new_size = content.size() + (append ? old_size : 0);
  TRY(check_room(new_size > old_size ? new_size - old_size : 0, 0));
  std::int64_t time = now();
  edit(where, [&](Node& node) {
    auto& file = static_cast<FileNode&>(node);
    if (append) {
      append_all(file.content, content);
    } else {
      file.content = std::move(content);
    }
    stamp(file, time);
  });
  return {};
}

Result<void> VirtualFileSystem::write_locked(const Path& path, Content content, const WriteOptions& options) {
  Located where;
  auto found = tree::locate(state_, path.str(), Follow::yes, where);
  if (!found) {
    if (found.error() != Code::not_found || options.parents == Parents::must_exist)
      return refuse(found.error(), path.str());
    TRY(make_parents(path.parent(), content.size()));
    TRY(locate(path.str(), Follow::yes, where));
  }
  if (where.file != nullptr) {
    if (options.overwrite == Overwrite::no) return refuse(Code::already_exists, path.str());
    return write_existing(where, std::move(content), options.append);
  }
  TRY(check_room(content.size(), 1));
  Node* node = new_node(Kind::file, where.name(), options.mode);
  static_cast<FileNode*>(node)->content = std::move(content);
  attach(where.parent_path(), node);
  return {};
}

Result<void> VirtualFileSystem::write(const Path& path, Content content, const WriteOptions& options) {
  return change([&] { return write_locked(path, std::move(content), options); });
}

Result<void> VirtualFileSystem::make_leaf(const Path& path, Kind kind, std::uint32_t mode, Content content) {
  return change([&]() -> Result<void> {
    Located where;
    TRY(locate(path.str(), Follow::no, where));
    if (where.node != nullptr) return refuse(Code::already_exists, path.str());
    TRY(check_room(content.size(), 1));
    Node* node = new_node(kind, where.name(), mode);
    if (kind != Kind::directory) static_cast<FileNode*>(node)->content = std::move(content);
    attach(where.parent_path(), node);
    return {};
  });
}

Result<void> VirtualFileSystem::make_directory(const Path& path, std::uint32_t mode, Parents parents) {
  if (parents == Parents::must_exist) return make_leaf(path, Kind::directory, mode, {});
  return change([&]() -> Result<void> {
    Located where;
    auto found = tree::locate(state_, path.str(), Follow::yes, where);
    if (found && where.file != nullptr) {
      if (tree::is_directory(*where.file)) return {};
      return refuse(Code::already_exists, path.str());
    }
    TRY(make_parents(path.parent(), 0));
    Located last;
    TRY(locate(path.str(), Follow::no, last));
    if (last.node != nullptr) return refuse(Code::already_exists, path.str());
    attach(last.parent_path(), new_node(Kind::directory, last.name(), mode));
    return {};
  });
}

Result<void> VirtualFileSystem::make_fifo(const Path& path, std::uint32_t mode) {
  return make_leaf(path, Kind::fifo, mode, {});
}

Result<void> VirtualFileSystem::make_symlink(const Path& path, std::string_view target) {
  if (target.empty()) return refuse(Code::not_found, path.str());
  if (target.size() > kPathBytesMax) return refuse(Code::too_large, path.str());
  if (target.find('\0') != std::string_view::npos) return refuse(Code::invalid_argument, path.str());
  return make_leaf(path, Kind::symlink, 0777, Content(target));
}

Result<void> VirtualFileSystem::make_link(const Path& existing, const Path& path) {
  return change([&]() -> Result<void> {
    Located source, where;
    TRY(locate(existing.str(), Follow::no, source));
    if (source.file == nullptr) return refuse(Code::not_found, existing.str());
    // EPERM, as Linux says: with hard links to directories the tree would be none.
    if (tree::is_directory(*source.file)) return refuse(Code::permission_denied, existing.str());
    TRY(locate(path.str(), Follow::no, where));
    if (where.node != nullptr) return refuse(Code::already_exists, path.str());
    TRY(check_room(0, 1));
    std::uint64_t inode = source.file->inode;
    // Its first further name. Files with one name live in the tree itself, which is the common case and needs
    // no table.
    if (source.node->kind != Kind::link) {
      // The file moves to the table of links, and a name takes its place.
      Node* node = detach(source);
      Node* file = tree::clone(*node, tree::link_key(inode));
      tree::release(node);
      DirNode& links = tree::own_links(state_);
      links.bytes += size_of(*file);
      tree::insert_entry(links, file);
      attach(source.parent_path(), tree::new_link(source.name(), inode));
    }
    FileNode& file = tree::own_linked_file(state_, inode);
    file.links += 1;
    file.changed = now();
    attach(where.parent_path(), tree::new_link(where.name(), inode));
    return {};
  });
}

// ---- removing ----

Result<void> VirtualFileSystem::remove_file(const Path& path) {
  Removed removed;
  return change(
      // Removing frees space and cannot fail half way.
      Undo::unneeded,
      [&]() -> Result<void> {
        Located where;
        TRY(locate(path.str(), Follow::no, where));
        if (where.node == nullptr) return refuse(Code::not_found, path.str());
        if (tree::is_directory(*where.node)) return refuse(Code::is_a_directory, path.str());
        remove_located(where, removed);
        return {};
      },
      [&] { orphan(removed); });
}

Result<void> VirtualFileSystem::remove_directory(const Path& path) {
  if (path.is_root()) return refuse(Code::invalid_argument, path.str());
  Removed removed;
  return change([&]() -> Result<void> {
    Located where;
    TRY(locate(path.str(), Follow::no, where));
    if (where.node == nullptr) return refuse(Code::not_found, path.str());
    if (!tree::is_directory(*where.node)) return refuse(Code::not_a_directory, path.str());
    if (static_cast<const DirNode*>(where.node)->entries != nullptr)
      return refuse(Code::not_empty, path.str());
    remove_located(where, removed);
    return {};
  });
}

Result<void> VirtualFileSystem::remove_all(const Path& path) {
  Removed removed;
  auto operation = [&]() -> Result<void> {
    if (path.is_root()) {
      removed.path = "";
      removed.top = Ref<Node>::share(state_.root.get());
      const DirNode& root = *state_.root;
      // The root itself cannot go: a new one with the same attributes takes its place.
      Ref<DirNode> empty(tree::new_directory(""));
      empty->mode = root.mode;
      empty->uid = root.uid;
      empty->gid = root.gid;
      empty->inode = root.inode;
      empty->created = root.created;
      empty->accessed = root.accessed;
      stamp(*empty, now());
      unlink_below(*removed.top, removed);
      state_.root = empty;
      return {};
    }
    Located where;
    TRY(locate(path.str(), Follow::no, where));
    if (where.node == nullptr) return refuse(Code::not_found, path.str());
    remove_located(where, removed);
    return {};
  };
  return change(Undo::unneeded, operation, [&] { orphan(removed); });
}

// ---- attributes ----

Result<void> VirtualFileSystem::set_mode(const Path& path, std::uint32_t mode, Follow follow) {
  return change([&]() -> Result<void> {
    Located where;
    TRY(locate(path.str(), follow, where));
    if (where.file == nullptr) return refuse(Code::not_found, path.str());
    edit(where, [&](Node& node) {
      node.mode = static_cast<std::uint16_t>(mode & 07777);
      node.changed = now();
    });
    return {};
  });
}

Result<void> VirtualFileSystem::set_owner(const Path& path, std::optional<std::uint32_t> uid,
                                          std::optional<std::uint32_t> gid, Follow follow) {
  return change([&]() -> Result<void> {
    Located where;
    TRY(locate(path.str(), follow, where));
    if (where.file == nullptr) return refuse(Code::not_found, path.str());
    edit(where, [&](Node& node) {
      node.uid = uid.value_or(node.uid);
      node.gid = gid.value_or(node.gid);
      node.changed = now();
    });
    return {};
  });
}

Result<void> VirtualFileSystem::set_times(const Path& path, const Times& times, Follow follow) {
  return change([&]() -> Result<void> {
    Located where;
    TRY(locate(path.str(), follow, where));
    if (where.file == nullptr) return refuse(Code::not_found, path.str());
    edit(where, [&](Node& node) {
      if (times.accessed) node.accessed = times.accessed->time_since_epoch().count();
      if (times.modified) node.modified = times.modified->time_since_epoch().count();
      node.changed = now();
    });
    return {};
  });
}

// ---- snapshots ----

Snapshot VirtualFileSystem::snapshot() const {
  std::shared_lock lock(lock_);
  return Snapshot(state_);
}

Result<void> VirtualFileSystem::restore(const Snapshot& snapshot) {
  VirtualFileSystem fresh(snapshot);  // gives an empty snapshot its root
  // Freed after the locks: a large tree takes its time.
  tree::State old;
  auto operation = [&]() -> Result<void> {
    old = state_;
    state_ = fresh.state_;
    // A number that was given out is not given to another file: somebody may still have the old one open.
    state_.next_inode = std::max(state_.next_inode, old.next_inode);
    return {};
  };
  return change(Undo::unneeded, operation, [&] { orphan_everything(old); });
}

std::unique_ptr<VirtualFileSystem> VirtualFileSystem::fork() const {
  VirtualOptions options{.quota = {}, .uid = uid_, .gid = gid_, .root_mode = 0755, .clock = clock_};
  std::shared_lock lock(lock_);
  options.quota = quota_;
  return std::make_unique<VirtualFileSystem>(Snapshot(state_), options);
}

Quota VirtualFileSystem::quota() const {
  std::shared_lock lock(lock_);
  return quota_;
}

void VirtualFileSystem::set_quota(const Quota& quota) {
  std::unique_lock lock(lock_);
  quota_ = quota;
}

std::uint64_t VirtualFileSystem::version() const {
  std::shared_lock lock(lock_);
  return version_;
}

}  // namespace atl::vfs
