#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "vfs/content.h"
#include "vfs/file_system.h"

// The persistent tree under VirtualFileSystem.
//
//   State ──▶ DirNode "/" ──▶ Block (inner) ──▶ Block (leaf) ──▶ FileNode "a.txt" ──▶ Content
//                                           └─▶ Block (leaf) ──▶ DirNode  "src" ──▶ ...
//
// Everything is reference-counted. A node that only one State reaches is changed in place; a node that two
// reach is copied first, together with the nodes on the way to it, so copying a State (a snapshot, a fork) is
// two counters and a change after it costs the depth of the path. A directory is a B+ tree of blocks of up to
// 64 entries in byte order of names: a change after a snapshot copies one leaf and one or two inner blocks,
// never the whole directory.
//
// A node carries its own name behind its fields, so that a file is two allocations (node, bytes). Names that
// share an inode (hard links) are LinkNodes; the file itself stands in State::links under its inode number.
//
// Each directory sums up what is below it; stats and quotas need no walk.
namespace atl::vfs::tree {

enum class Kind : std::uint8_t { file, directory, symlink, fifo, link };

// Counted references: retain() and release(), or a Ref. A node that more than one reference reaches must not
// be changed; own() and Spine give one that may be.
struct Node {
  std::atomic<std::uint32_t> refs{1};
  std::uint16_t mode = 0;
  Kind kind = Kind::file;
  std::uint8_t name_length = 0;
  std::uint32_t uid = 0, gid = 0;
  std::uint64_t inode = 0;
  std::int64_t created = 0, modified = 0, changed = 0, accessed = 0;  // nanoseconds since 1970

  std::string_view name() const;
};

// Also symlinks (the content is the target) and FIFOs (no content).
struct FileNode : Node {
  Content content;
  std::uint32_t links = 1;
};

struct Block;

struct DirNode : Node {
  Block* entries = nullptr;  // null when empty
  std::uint64_t bytes = 0;   // sums of the subtree, LinkNodes' bytes not included
  std::uint32_t files = 0;
  std::uint32_t directories = 0;
  std::uint32_t subdirectories = 0;  // direct ones
  std::uint16_t longest = 0;         // no path below is longer than this, relative to here
};

void retain(Node* node);
// Frees what nothing else reaches, without recursion over the depth of the tree.
void release(Node* node);

template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* adopted) : node_(adopted) {}
  Ref(const Ref& other) : node_(other.node_) {
    if (node_ != nullptr) retain(node_);
  }
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Ref() {
    if (node_ != nullptr) release(node_);
  }
  static Ref share(T* node) {
    retain(node);
    return Ref(node);
  }

  T* get() const { return node_; }
  T* operator->() const { return node_; }
  T& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  T* leak() { return std::exchange(node_, nullptr); }
  // For the functions below, which replace a shared node by its copy.
  T*& slot() { return node_; }

 private:
  T* node_ = nullptr;
};

struct State {
  Ref<DirNode> root;   // null: an empty filesystem that nobody touched yet
  Ref<DirNode> links;  // inode number (8 bytes, big-endian) to the FileNode of a file with several names
  std::uint64_t next_inode = 2;
  bool same_as(const State& other) const {
    return root.get() == other.root.get() && links.get() == other.links.get();
  }
};

// Fresh nodes, one reference, not in any tree. `name` has at most 255 bytes.
FileNode* new_file(Kind kind, std::string_view name);
DirNode* new_directory(std::string_view name);
Node* new_link(std::string_view name, std::uint64_t inode);
// A copy under another name with one reference: bytes and entries are shared.
Node* clone(const Node& node, std::string_view name);

inline bool is_directory(const Node& node) {
  return node.kind == Kind::directory;
}
Type type_of(Kind kind);

// ---- one directory ----
// Null if there is none. Borrowed: valid until the directory changes.
Node* find_entry(const DirNode& directory, std::string_view name);
// Takes over `node`'s reference. The name must be free.
void insert_entry(DirNode& directory, Node* node);
// The entry, taken out with its reference; null if there is none.
Node* take_entry(DirNode& directory, std::string_view name);
// The place of an entry that is there, in blocks that only this directory reaches. For replacing what it
// points to.
Node*& entry_slot(DirNode& directory, std::string_view name);
std::size_t entry_count(const DirNode& directory);
// Memory of its blocks, for measuring.
std::size_t block_bytes(const DirNode& directory);

// Calls visit(Node&) for each entry in order. The directory must not change meanwhile.
namespace detail {
using Visitor = void (*)(void*, Node&);
void for_each(const Block* block, Visitor visit, void* context);
}  // namespace detail
template <class F>
void for_each_entry(const DirNode& directory, F&& visit) {
  if (directory.entries == nullptr) return;
  detail::for_each(
      directory.entries,
      [](void* context, Node& node) { (*static_cast<std::remove_reference_t<F>*>(context))(node); }, &visit);
}
// Pairs of entries that are not the very same, in order of names; one of the two is null where a name is
// missing. Shared blocks are skipped whole.
void for_each_difference(const DirNode* before, const DirNode* after, void* context,
                         void (*visit)(void*, Node* before, Node* after));

// ---- the tree ----
// Where a path leads once links are followed.
struct Located {
  std::string storage;    // holds `path` where links had to be followed
  std::string_view path;  // physical: no links on the way, the last component per Follow
  const DirNode* parent = nullptr;
  const Node* node = nullptr;  // null: only the last component is missing. A LinkNode stands for itself
  const Node* file = nullptr;  // as `node`, with a LinkNode replaced by its file

  std::string_view name() const { return path.substr(path.rfind('/') + 1); }
  std::string_view parent_path() const { return path.substr(0, path.rfind('/')); }  // "" for the root
};

// not_found (a component before the last), not_a_directory, loop, too_large.
// The result borrows `path` and `state`. Moving a Located keeps it valid; copying is not possible.
std::expected<void, Code> locate(const State& state, std::string_view path, Follow follow, Located& out);
// The node alone, LinkNodes resolved; null for any failure.
const Node* find(const State& state, std::string_view path, Follow follow);
const Node* through_link(const State& state, const Node* node);

// The directories from the root to `physical` (a directory that exists), all of them only `state`'s own: what
// may be changed.
class Spine {
 public:
  Spine(State& state, std::string_view physical);
  DirNode& last() { return *directories_.back(); }
  // Adds to the sums of every directory on the spine.
  void add(std::int64_t bytes, std::int64_t files, std::int64_t directories);
  // After an entry was put into last(): keeps `longest` right. `below` is the longest path below that entry.
  void reach(std::size_t name_length, std::size_t below);

 private:
  std::vector<DirNode*> directories_;
};

// Each gives a node that only this state reaches, copying it first if it is shared; references to the old one
// are no longer part of the state.
DirNode& own_root(State& state);
DirNode& own_links(State& state);
// Makes the node in `slot` only ours.
Node& own(Node*& slot);
FileNode& own_linked_file(State& state, std::uint64_t inode);

std::string link_key(std::uint64_t inode);
// The exact length of the longest path below, where `longest` is a bound that removals leave too high.
std::size_t longest_below(const DirNode& directory);

}  // namespace atl::vfs::tree
