#include "vfs/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "vfs/wire.h"

namespace atl::vfs {

using tree::DirNode;
using tree::FileNode;
using tree::Kind;
using tree::Node;

namespace {

WallTime to_time(std::int64_t nanoseconds) {
  return WallTime(Duration(nanoseconds));
}
std::int64_t from_time(WallTime time) {
  return time.time_since_epoch().count();
}

Kind kind_of(Type type) {
  switch (type) {
    case Type::file: return Kind::file;
    case Type::directory: return Kind::directory;
    case Type::symlink: return Kind::symlink;
    case Type::fifo: return Kind::fifo;
  }
  std::unreachable();
}

Node* node_of(const FileEntry& entry, std::string_view name) {
  Kind kind = kind_of(entry.type);
  Node* node =
      kind == Kind::directory ? static_cast<Node*>(tree::new_directory(name)) : tree::new_file(kind, name);
  node->mode = static_cast<std::uint16_t>(entry.mode & 07777);
  node->uid = entry.uid;
  node->gid = entry.gid;
  node->inode = entry.inode;
  node->created = from_time(entry.created_at);
  node->modified = from_time(entry.modified_at);
  node->changed = from_time(entry.changed_at);
  node->accessed = from_time(entry.accessed_at);
  if (kind != Kind::directory) static_cast<FileNode*>(node)->content = entry.content;
  return node;
}

std::unexpected<Error> damaged(const Path& path, std::string_view what) {
  return fail(Code::data_loss, fmt::format("{}: {}", path.str(), what));
}

class Loader {
 public:
  explicit Loader(tree::State& state) : state_(state) {}

  void note_inode(std::uint64_t inode) {
    if (inode == 0) return;
    ++names_[inode];
    state_.next_inode = std::max(state_.next_inode, inode + 1);
  }

  Result<void> add(const FileEntry& entry) {
    if (entry.path.is_root()) return damaged(entry.path, "the root is not an entry");
    tree::Located where;
    auto found = tree::locate(state_, entry.path.str(), Follow::no, where);
    if (!found || where.path.data() != entry.path.str().data())
      return damaged(entry.path, "has no parent directory");
    // Each path once; a storage that says otherwise is damaged or lies.
    if (where.node != nullptr) return damaged(entry.path, "is there twice");
    bool directory = entry.is_directory();
    // Several names of one number: the file is kept once, beside the tree, and the names refer to it.
    if (!directory && names_.contains(entry.inode) && names_[entry.inode] > 1) return add_link(entry, where);
    Node* node = node_of(entry, entry.name());
    if (node->inode == 0) node->inode = state_.next_inode++;
    std::int64_t bytes = directory ? 0 : static_cast<std::int64_t>(entry.content.size());
    insert(where, node, bytes, directory);
    return {};
  }

 private:
  void insert(const tree::Located& where, Node* node, std::int64_t bytes, bool directory) {
    tree::Spine spine(state_, where.parent_path());
    spine.add(bytes, directory ? 0 : 1, directory ? 1 : 0);
    spine.reach(node->name_length, 0);
    if (directory) spine.last().subdirectories += 1;
    tree::insert_entry(spine.last(), node);
  }

  Result<void> add_link(const FileEntry& entry, const tree::Located& where) {
    DirNode& links = tree::own_links(state_);
    std::string key = tree::link_key(entry.inode);
    const Node* there = tree::find_entry(links, key);
    if (there == nullptr) {
      tree::insert_entry(links, node_of(entry, key));
      links.bytes += entry.content.size();
    } else {
      auto& file = static_cast<const FileNode&>(*there);
      // A number that two different files claim cannot mean a hard link.
      if (file.kind != kind_of(entry.type) || !(file.content == entry.content))
        return add_alone(entry, where);
      tree::own_linked_file(state_, entry.inode).links += 1;
    }
    insert(where, tree::new_link(entry.name(), entry.inode), 0, false);
    return {};
  }

  Result<void> add_alone(const FileEntry& entry, const tree::Located& where) {
    Node* node = node_of(entry, entry.name());
    node->inode = state_.next_inode++;
    insert(where, node, static_cast<std::int64_t>(entry.content.size()), false);
    return {};
  }

  tree::State& state_;
  std::unordered_map<std::uint64_t, std::uint32_t> names_;
};

}  // namespace

FileEntry entry_of(const Node& node, const Path& path) {
  FileEntry entry;
  entry.path = path;
  entry.type = tree::type_of(node.kind);
  entry.mode = node.mode;
  entry.uid = node.uid;
  entry.gid = node.gid;
  entry.inode = node.inode;
  entry.created_at = to_time(node.created);
  entry.modified_at = to_time(node.modified);
  entry.changed_at = to_time(node.changed);
  entry.accessed_at = to_time(node.accessed);
  if (!tree::is_directory(node)) {
    entry.content = static_cast<const FileNode&>(node).content;
    entry.links = static_cast<const FileNode&>(node).links;
  }
  return entry;
}

std::vector<FileEntry> all_entries(const tree::State& state) {
  std::vector<FileEntry> entries;
  if (!state.root) return entries;
  entries.reserve(state.root->files + std::size_t{state.root->directories});
  std::vector<std::pair<const DirNode*, Path>> pending{{state.root.get(), Path()}};
  while (!pending.empty()) {
    auto [directory, path] = std::move(pending.back());
    pending.pop_back();
    tree::for_each_entry(*directory, [&](Node& node) {
      auto here = path.child(node.name());
      if (!here) return;  // only in a tree deeper than any path, which cannot be made
      if (tree::is_directory(node)) pending.emplace_back(static_cast<DirNode*>(&node), *here);
      entries.push_back(entry_of(*tree::through_link(state, &node), *here));
    });
  }
  std::ranges::sort(entries, {}, [](const FileEntry& entry) -> const Path& { return entry.path; });
  return entries;
}

Result<void> add_entries(tree::State& state, std::span<const FileEntry> entries) {
  Loader loader(state);
  std::vector<const FileEntry*> sorted;
  sorted.reserve(entries.size());
  for (const FileEntry& entry : entries) {
    sorted.push_back(&entry);
    // All numbers before the first entry: whether a file has further names must be known when it is added.
    if (!entry.is_directory()) loader.note_inode(entry.inode);
    state.next_inode = std::max(state.next_inode, entry.inode + 1);
  }
  // Parents come before what is in them.
  std::ranges::sort(sorted, {}, [](const FileEntry* entry) -> const Path& { return entry->path; });
  for (const FileEntry* entry : sorted) TRY(loader.add(*entry));
  return {};
}

void drop_entry(tree::State& state, const Path& path) {
  tree::Located where;
  if (!tree::locate(state, path.str(), Follow::no, where) || where.node == nullptr || where.parent == nullptr)
    return;
  tree::Spine spine(state, where.parent_path());
  tree::Ref<Node> node(tree::take_entry(spine.last(), where.name()));
  if (tree::is_directory(*node)) {
    auto& directory = static_cast<DirNode&>(*node);
    spine.add(-static_cast<std::int64_t>(directory.bytes), -std::int64_t{directory.files},
              -std::int64_t{directory.directories} - 1);
    spine.last().subdirectories -= 1;
  } else {
    spine.add(-static_cast<std::int64_t>(static_cast<FileNode&>(*node).content.size()), -1, 0);
  }
}

Result<void> put_entry(tree::State& state, const FileEntry& entry) {
  if (entry.path.is_root()) return fail(Code::invalid_argument, "the root is not an entry");
  tree::Located where;
  auto found = tree::locate(state, entry.path.str(), Follow::no, where);
  // A symlink on the way is not a directory for a storage.
  if (!found || where.path.data() != entry.path.str().data())
    return fail(Code::not_found, fmt::format("{}: has no parent directory", entry.path.str()));
  bool directory = entry.is_directory();
  bool was_there = where.node != nullptr;
  if (was_there && directory && tree::is_directory(*where.node)) {
    tree::Spine spine(state, where.parent_path());
    Node& node = tree::own(tree::entry_slot(spine.last(), where.name()));
    tree::Ref<Node> fields(node_of(entry, ""));
    node.mode = fields->mode;
    node.uid = fields->uid;
    node.gid = fields->gid;
    node.inode = fields->inode;
    node.created = fields->created;
    node.modified = fields->modified;
    node.changed = fields->changed;
    node.accessed = fields->accessed;
    return {};
  }
  if (was_there) drop_entry(state, entry.path);
  Node* node = node_of(entry, entry.name());
  if (!directory) static_cast<FileNode*>(node)->links = entry.links;
  tree::Spine spine(state, entry.path.parent().str());
  spine.add(directory ? 0 : static_cast<std::int64_t>(entry.content.size()), directory ? 0 : 1,
            directory ? 1 : 0);
  spine.reach(node->name_length, 0);
  if (directory) spine.last().subdirectories += 1;
  tree::insert_entry(spine.last(), node);
  return {};
}

tree::State empty_state() {
  tree::State state;
  state.root = tree::Ref<DirNode>(tree::new_directory(""));
  state.root->mode = 0755;
  state.root->inode = 1;
  return state;
}

std::string encode_attributes(const FileEntry& entry) {
  std::string out;
  out += static_cast<char>(entry.type);
  put_varint(out, entry.mode);
  put_varint(out, entry.uid);
  put_varint(out, entry.gid);
  put_varint(out, entry.inode);
  put_varint(out, entry.links);
  for (WallTime time : {entry.created_at, entry.modified_at, entry.changed_at, entry.accessed_at})
    put_fixed64(out, static_cast<std::uint64_t>(from_time(time)));
  return out;
}

Result<void> decode_attributes(std::string_view bytes, FileEntry& out) {
  WireReader reader(bytes);
  auto type = static_cast<unsigned char>(TRY(reader.take(1)).front());
  if (type > static_cast<unsigned char>(Type::fifo)) return fail(Code::data_loss, "unknown type of entry");
  out.type = static_cast<Type>(type);
  for (std::uint32_t* field : {&out.mode, &out.uid, &out.gid}) {
    auto value = TRY(reader.varint());
    if (value > UINT32_MAX) return fail(Code::data_loss, "number out of range");
    *field = static_cast<std::uint32_t>(value);
  }
  if (out.mode > 07777) return fail(Code::data_loss, "mode out of range");
  out.inode = TRY(reader.varint());
  auto links = TRY(reader.varint());
  // No name at all: such an entry could not have been written by us.
  if (links == 0 || links > UINT32_MAX) return fail(Code::data_loss, "number of links out of range");
  out.links = static_cast<std::uint32_t>(links);
  for (WallTime* time : {&out.created_at, &out.modified_at, &out.changed_at, &out.accessed_at})
    *time = to_time(static_cast<std::int64_t>(TRY(reader.fixed64())));
  if (!reader.done()) return fail(Code::data_loss, "trailing bytes");
  return {};
}

}  // namespace atl::vfs
