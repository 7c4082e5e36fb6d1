#include "vfs/tree.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>

#include "vfs/block.h"

namespace atl::vfs::tree {
namespace {

std::size_t header_bytes(Kind kind) {
  switch (kind) {
    case Kind::directory: return sizeof(DirNode);
    case Kind::link: return sizeof(Node);
    default: return sizeof(FileNode);
  }
}

template <class T>
T* allocate(Kind kind, std::string_view name) {
  // The name stands behind the node: one allocation for both.
  void* memory = std::malloc(sizeof(T) + name.size());
  if (memory == nullptr) throw std::bad_alloc();
  auto* node = new (memory) T;
  node->kind = kind;
  node->name_length = static_cast<std::uint8_t>(name.size());
  std::memcpy(reinterpret_cast<char*>(node) + sizeof(T), name.data(), name.size());
  return node;
}

// Nodes that nothing reaches any more, chained through a field they no longer need. Freeing a directory adds
// what it held, so the depth of the tree costs no stack.
class DeadNodes {
 public:
  void add(Node* node) {
    // JUSTIFICATION: a node that is being freed needs no inode, so the field holds the next one.
    node->inode = reinterpret_cast<std::uintptr_t>(top_);
    top_ = node;
  }
  void free_all() {
    while (top_ != nullptr) {
      Node* node = top_;
      // JUSTIFICATION: a node that is being freed needs no inode, so the field holds the next one.
      top_ = reinterpret_cast<Node*>(node->inode);
      if (node->kind == Kind::directory) {
        drop(static_cast<DirNode*>(node)->entries);
      } else if (node->kind != Kind::link) {
        static_cast<FileNode*>(node)->~FileNode();
      }
      std::free(node);
    }
  }
  void drop(Block* block) {
    if (block == nullptr || !drop_block(block)) return;
    for (std::size_t i = 0; i < block->count; ++i) {
      if (block->level > 0) {
        drop(block->block(i));
        // acq_rel: who frees must see every write of those who had it before.
      } else if (block->node(i)->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        add(block->node(i));
      }
    }
    free_block(block);
  }

 private:
  Node* top_ = nullptr;
};

void copy_fields(const Node& from, Node& to) {
  to.mode = from.mode;
  to.uid = from.uid;
  to.gid = from.gid;
  to.inode = from.inode;
  to.created = from.created;
  to.modified = from.modified;
  to.changed = from.changed;
  to.accessed = from.accessed;
}

}  // namespace

std::string_view Node::name() const {
  return {reinterpret_cast<const char*>(this) + header_bytes(kind), name_length};
}

void retain(Node* node) {
  // Relaxed is enough: the caller has a reference, so the node cannot go meanwhile.
  node->refs.fetch_add(1, std::memory_order_relaxed);
}

void release(Node* node) {
  if (node->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  DeadNodes dead_nodes;
  dead_nodes.add(node);
  dead_nodes.free_all();
}

FileNode* new_file(Kind kind, std::string_view name) {
  return allocate<FileNode>(kind, name);
}
DirNode* new_directory(std::string_view name) {
  return allocate<DirNode>(Kind::directory, name);
}

Node* new_link(std::string_view name, std::uint64_t inode) {
  Node* node = allocate<Node>(Kind::link, name);
  node->inode = inode;
  return node;
}

Node* clone(const Node& node, std::string_view name) {
  if (node.kind == Kind::link) return new_link(name, node.inode);
  if (node.kind == Kind::directory) {
    auto& from = static_cast<const DirNode&>(node);
    DirNode* to = new_directory(name);
    copy_fields(from, *to);
    // Copying a directory shares its entries; whoever changes one of them first makes the block its own.
    to->entries = from.entries;
    if (to->entries != nullptr) retain_block(to->entries);
    to->bytes = from.bytes;
    to->files = from.files;
    to->directories = from.directories;
    to->subdirectories = from.subdirectories;
    to->longest = from.longest;
    return to;
  }
  auto& from = static_cast<const FileNode&>(node);
  FileNode* to = new_file(node.kind, name);
  copy_fields(from, *to);
  to->content = from.content;
  to->links = from.links;
  return to;
}

Type type_of(Kind kind) {
  switch (kind) {
    case Kind::directory: return Type::directory;
    case Kind::symlink: return Type::symlink;
    case Kind::fifo: return Type::fifo;
    default: return Type::file;
  }
}

Node* find_entry(const DirNode& directory, std::string_view name) {
  return find_in(directory.entries, name);
}
void insert_entry(DirNode& directory, Node* node) {
  insert_into(directory.entries, node);
}
Node* take_entry(DirNode& directory, std::string_view name) {
  return take_from(directory.entries, name);
}
Node*& entry_slot(DirNode& directory, std::string_view name) {
  return slot_in(directory.entries, name);
}
std::size_t entry_count(const DirNode& directory) {
  return count_in(directory.entries);
}

namespace detail {

void for_each(const Block* block, Visitor visit, void* context) {
  for (std::size_t i = 0; i < block->count; ++i) {
    if (block->level == 0) {
      visit(context, *block->node(i));
    } else {
      for_each(block->block(i), visit, context);
    }
  }
}

}  // namespace detail

const Node* through_link(const State& state, const Node* node) {
  if (node == nullptr || node->kind != Kind::link) return node;
  return find_entry(*state.links, link_key(node->inode));
}

namespace {

std::string_view link_target(const Node& node) {
  return static_cast<const FileNode&>(node).content.flat();
}

// The slow way, once a symbolic link was met: a stack of directories and the text still to go.
class Follower {
 public:
  Follower(const State& state, std::string_view prefix, std::string rest)
      : state_(state), rest_(std::move(rest)) {
    stack_.push_back(state.root.get());
    for (auto name = next_component(prefix); !name.empty(); name = next_component(prefix)) {
      stack_.push_back(static_cast<const DirNode*>(find_entry(*stack_.back(), name)));
      physical_.append("/").append(name);
    }
  }

  std::expected<void, Code> run(Follow follow, Located& out) {
    int links = 1;  // the one that brought us here
    while (true) {
      std::string_view view = rest_;
      auto name = next_component(view);
      if (name.empty()) return finish(out);
      bool last = view.find_first_not_of('/') == std::string_view::npos;
      if (name == "." || name == "..") {
        if (name == ".." && stack_.size() > 1) up();
        rest_.assign(std::string(view));
        continue;
      }
      const Node* node = find_entry(*stack_.back(), name);
      const Node* file = through_link(state_, node);
      if (file != nullptr && file->kind == Kind::symlink && (!last || follow == Follow::yes)) {
        if (++links > kLinksFollowedMax) return std::unexpected(Code::loop);
        take_link(*file, view);
        continue;
      }
      if (last) return finish(out, name, node, file);
      if (file == nullptr) return std::unexpected(Code::not_found);
      if (!is_directory(*file)) return std::unexpected(Code::not_a_directory);
      stack_.push_back(static_cast<const DirNode*>(file));
      physical_.append("/").append(name);
      rest_.assign(std::string(view));
    }
  }

 private:
  void up() {
    stack_.pop_back();
    physical_.resize(physical_.rfind('/'));
  }
  void take_link(const Node& link, std::string_view behind) {
    std::string target(link_target(link));
    if (target.starts_with('/')) {
      stack_.resize(1);
      physical_.clear();
    }
    rest_ = target + "/" + std::string(behind);
  }
  std::expected<void, Code> finish(Located& out, std::string_view name, const Node* node, const Node* file) {
    out.storage = physical_ + "/" + std::string(name);
    out.path = out.storage;
    out.parent = stack_.back();
    out.node = node;
    out.file = file;
    return check(out);
  }
  // The way ended in a directory we stand in ("..", "/", a trailing slash).
  std::expected<void, Code> finish(Located& out) {
    out.storage = physical_.empty() ? "/" : physical_;
    out.path = out.storage;
    out.node = out.file = stack_.back();
    out.parent = stack_.size() > 1 ? stack_[stack_.size() - 2] : nullptr;
    return check(out);
  }
  static std::expected<void, Code> check(const Located& out) {
    if (out.path.size() > kPathBytesMax || out.name().size() > kNameBytesMax)
      return std::unexpected(Code::too_large);
    return {};
  }

  const State& state_;
  std::string rest_;
  std::string physical_;
  std::vector<const DirNode*> stack_;
};

std::expected<void, Code> follow_link(const State& state, std::string_view before, const Node& link,
                                      std::string_view behind, Follow follow, Located& out) {
  std::string_view target = link_target(link);
  std::string rest(target);
  rest.append("/").append(behind);
  Follower follower(state, target.starts_with('/') ? std::string_view() : before, std::move(rest));
  return follower.run(follow, out);
}

}  // namespace

std::expected<void, Code> locate(const State& state, std::string_view path, Follow follow, Located& out) {
  const DirNode* directory = state.root.get();
  out.path = path;
  out.node = out.file = directory;
  out.parent = nullptr;
  if (path.size() == 1) return {};
  std::size_t begin = 1;
  while (true) {
    std::size_t end = path.find('/', begin);
    bool last = end == std::string_view::npos;
    if (last) end = path.size();
    const Node* node = find_entry(*directory, path.substr(begin, end - begin));
    const Node* file = node != nullptr && node->kind == Kind::link ? through_link(state, node) : node;
    if (file != nullptr && file->kind == Kind::symlink && (!last || follow == Follow::yes))
      return follow_link(state, path.substr(0, begin - 1), *file, path.substr(end), follow, out);
    if (last) {
      out.parent = directory;
      out.node = node;
      out.file = file;
      return {};
    }
    if (file == nullptr) return std::unexpected(Code::not_found);
    if (!is_directory(*file)) return std::unexpected(Code::not_a_directory);
    directory = static_cast<const DirNode*>(file);
    begin = end + 1;
  }
}

const Node* find(const State& state, std::string_view path, Follow follow) {
  if (!state.root) return nullptr;
  Located where;
  return locate(state, path, follow, where) ? where.file : nullptr;
}

Node& own(Node*& slot) {
  // Somebody else sees this node (a snapshot, a fork): change a copy. With one reference nobody else can get
  // a second one but through this tree.
  if (slot->refs.load(std::memory_order_acquire) > 1) {
    Node* copy = clone(*slot, slot->name());
    release(slot);
    slot = copy;
  }
  return *slot;
}

DirNode& own_root(State& state) {
  // Taken out of the reference first: counted twice, it would look shared and be copied for nothing.
  Node* slot = state.root.leak();
  own(slot);
  state.root = Ref<DirNode>(static_cast<DirNode*>(slot));
  return *state.root;
}

DirNode& own_links(State& state) {
  if (!state.links) {
    state.links = Ref<DirNode>(new_directory(""));
    return *state.links;
  }
  Node* slot = state.links.leak();
  own(slot);
  state.links = Ref<DirNode>(static_cast<DirNode*>(slot));
  return *state.links;
}

FileNode& own_linked_file(State& state, std::uint64_t inode) {
  return static_cast<FileNode&>(own(entry_slot(own_links(state), link_key(inode))));
}

Spine::Spine(State& state, std::string_view physical) {
  directories_.reserve(8);
  directories_.push_back(&own_root(state));
  for (auto name = next_component(physical); !name.empty(); name = next_component(physical))
    directories_.push_back(static_cast<DirNode*>(&own(entry_slot(*directories_.back(), name))));
}

void Spine::add(std::int64_t bytes, std::int64_t files, std::int64_t directories) {
  for (DirNode* directory : directories_) {
    directory->bytes += static_cast<std::uint64_t>(bytes);
    directory->files += static_cast<std::uint32_t>(files);
    directory->directories += static_cast<std::uint32_t>(directories);
  }
}

void Spine::reach(std::size_t name_length, std::size_t below) {
  std::size_t length = 1 + name_length + below;
  for (std::size_t i = directories_.size(); i-- > 0;) {
    DirNode& directory = *directories_[i];
    if (directory.longest < length)
      directory.longest = static_cast<std::uint16_t>(std::min<std::size_t>(length, 65535));
    length += 1 + directory.name_length;
  }
}

std::string link_key(std::uint64_t inode) {
  // Big-endian, so that keys sort as numbers do.
  std::uint64_t big = __builtin_bswap64(inode);
  return {reinterpret_cast<const char*>(&big), sizeof big};
}

std::size_t longest_below(const DirNode& top) {
  std::size_t longest = 0;
  // A list and no recursion: how deep a tree is, its user decides.
  std::vector<std::pair<const DirNode*, std::size_t>> pending{{&top, 0}};
  while (!pending.empty()) {
    auto [directory, length] = pending.back();
    pending.pop_back();
    for_each_entry(*directory, [&](Node& node) {
      std::size_t here = length + 1 + node.name_length;
      longest = std::max(longest, here);
      if (is_directory(node)) pending.emplace_back(static_cast<DirNode*>(&node), here);
    });
  }
  return longest;
}

}  // namespace atl::vfs::tree
