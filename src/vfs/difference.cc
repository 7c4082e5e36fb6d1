// Comparing two versions of a directory without looking at what they share.
#include <algorithm>
#include <vector>

#include "vfs/block.h"
#include "vfs/snapshot.h"
#include "vfs/tree.h"

namespace atl::vfs {
namespace tree {
namespace {

// Walks the leaves' entries in order and can step over a whole block.
class Cursor {
 public:
  explicit Cursor(const Block* root) {
    if (root != nullptr && root->count > 0) stack_.push_back({root, 0});
    settle_at_block();
  }
  bool done() const { return stack_.empty(); }
  // The block or node the cursor stands before, from the outermost block that begins here to the node itself.
  const void* shared_with(const Cursor& other) const {
    for (const auto& mine : starts_)
      for (const auto& theirs : other.starts_)
        if (mine == theirs) return mine;
    return nullptr;
  }
  Node* node() const { return stack_.back().block->node(stack_.back().index); }
  void next() {
    ++stack_.back().index;
    climb();
  }
  // `block` is one of those that begin here.
  void skip(const void* block) {
    while (stack_.back().block != block) stack_.pop_back();
    stack_.pop_back();
    if (!stack_.empty()) {
      ++stack_.back().index;
      climb();
    }
  }

 private:
  struct Place {
    const Block* block;
    std::size_t index;
  };
  void climb() {
    while (!stack_.empty() && stack_.back().index == stack_.back().block->count) {
      stack_.pop_back();
      if (!stack_.empty()) ++stack_.back().index;
    }
    settle_at_block();
  }
  void settle_at_block() {
    while (!stack_.empty() && stack_.back().block->level > 0)
      stack_.push_back({stack_.back().block->block(stack_.back().index), 0});
    starts_.clear();
    for (std::size_t i = stack_.size(); i-- > 0 && stack_[i].index == 0;) starts_.push_back(stack_[i].block);
    std::reverse(starts_.begin(), starts_.end());
  }

  std::vector<Place> stack_;
  std::vector<const void*> starts_;  // blocks whose first entry is the current one, outermost first
};

}  // namespace

void for_each_difference(const DirNode* before, const DirNode* after, void* context,
                         void (*visit)(void*, Node*, Node*)) {
  Cursor a(before == nullptr ? nullptr : before->entries);
  Cursor b(after == nullptr ? nullptr : after->entries);
  while (!a.done() || !b.done()) {
    if (a.done()) {
      visit(context, nullptr, b.node());
      b.next();
      continue;
    }
    if (b.done()) {
      visit(context, a.node(), nullptr);
      a.next();
      continue;
    }
    if (const void* shared = a.shared_with(b)) {
      a.skip(shared);
      b.skip(shared);
      continue;
    }
    int order = a.node()->name().compare(b.node()->name());
    if (order < 0) {
      visit(context, a.node(), nullptr);
      a.next();
    } else if (order > 0) {
      visit(context, nullptr, b.node());
      b.next();
    } else {
      if (a.node() != b.node()) visit(context, a.node(), b.node());
      a.next();
      b.next();
    }
  }
}

}  // namespace tree

namespace {

using tree::DirNode;
using tree::FileNode;
using tree::Node;

class Differ {
 public:
  Differ(const tree::State& before, const tree::State& after, bool exact)
      : before_(before), after_(after), exact_(exact) {}

  std::vector<Change> run() {
    compare_links();
    if (before_.root.get() != after_.root.get()) {
      if (before_.root && after_.root && metadata_differs(*before_.root, *after_.root))
        changes_.push_back({ChangeKind::changed, Path(), Type::directory});
      compare(before_.root.get(), after_.root.get());
    }
    if (!changed_inodes_.empty()) find_link_names();
    std::ranges::stable_sort(changes_, {}, &Change::path);
    auto [first, last] = std::ranges::unique(changes_);
    changes_.erase(first, last);
    return std::move(changes_);
  }

 private:
  bool metadata_differs(const Node& a, const Node& b) const {
    if (exact_ &&
        (a.inode != b.inode || a.created != b.created || a.changed != b.changed || a.accessed != b.accessed))
      return true;
    return a.kind != b.kind || a.mode != b.mode || a.uid != b.uid || a.gid != b.gid ||
           a.modified != b.modified;
  }
  bool file_differs(const Node& a, const Node& b) const {
    if (metadata_differs(a, b)) return true;
    if (tree::is_directory(a)) return false;
    return !(static_cast<const FileNode&>(a).content == static_cast<const FileNode&>(b).content);
  }

  struct Frame {
    const DirNode* before;
    const DirNode* after;
    std::string path;
  };

  // Iterative, because the depth is the guest's choice.
  void compare(const DirNode* before, const DirNode* after) {
    pending_.push_back({before, after, ""});
    while (!pending_.empty()) {
      frame_ = std::move(pending_.back());
      pending_.pop_back();
      tree::for_each_difference(frame_.before, frame_.after, this, [](void* self, Node* a, Node* b) {
        static_cast<Differ*>(self)->entry(a, b);
      });
    }
  }

  void entry(Node* a, Node* b) {
    std::string path = frame_.path + "/" + std::string((a != nullptr ? a : b)->name());
    const Node* before = tree::through_link(before_, a);
    const Node* after = tree::through_link(after_, b);
    const DirNode* before_dir =
        before != nullptr && tree::is_directory(*before) ? static_cast<const DirNode*>(before) : nullptr;
    const DirNode* after_dir =
        after != nullptr && tree::is_directory(*after) ? static_cast<const DirNode*>(after) : nullptr;
    if (before == nullptr) {
      note(ChangeKind::added, path, *after);
    } else if (after == nullptr) {
      note(ChangeKind::removed, path, *before);
    } else if (file_differs(*before, *after)) {
      note(ChangeKind::changed, path, *after);
    }
    if (before_dir != nullptr || after_dir != nullptr)
      pending_.push_back({before_dir, after_dir, std::move(path)});
  }

  void note(ChangeKind kind, const std::string& path, const Node& node) {
    // Names in a tree are valid; only a tree deeper than any path can fail here, and such a tree cannot be
    // made.
    if (auto valid = Path::posix(path))
      changes_.push_back({kind, std::move(*valid), tree::type_of(node.kind)});
  }

  void compare_links() {
    if (before_.links.get() == after_.links.get() || !before_.links || !after_.links) return;
    tree::for_each_difference(before_.links.get(), after_.links.get(), this,
                              [](void* self, Node* a, Node* b) {
                                auto* differ = static_cast<Differ*>(self);
                                if (a != nullptr && b != nullptr && differ->file_differs(*a, *b))
                                  differ->changed_inodes_.push_back(b->inode);
                              });
    std::ranges::sort(changed_inodes_);
  }

  // A file with several names changed; its names may lie in directories that did not. This is the one case
  // that walks everything.
  void find_link_names() {
    std::vector<std::pair<const DirNode*, std::string>> pending{{after_.root.get(), ""}};
    while (!pending.empty()) {
      auto [directory, path] = std::move(pending.back());
      pending.pop_back();
      tree::for_each_entry(*directory, [&](Node& node) {
        std::string here = path + "/" + std::string(node.name());
        if (tree::is_directory(node)) {
          pending.emplace_back(static_cast<DirNode*>(&node), std::move(here));
        } else if (node.kind == tree::Kind::link && std::ranges::binary_search(changed_inodes_, node.inode) &&
                   already_there(here)) {
          note(ChangeKind::changed, here, *tree::through_link(after_, &node));
        }
      });
    }
  }
  bool already_there(const std::string& path) const {
    return tree::find(before_, path, Follow::no) != nullptr;
  }

  const tree::State& before_;
  const tree::State& after_;
  bool exact_;
  Frame frame_;
  std::vector<Frame> pending_;
  std::vector<Change> changes_;
  std::vector<std::uint64_t> changed_inodes_;
};

}  // namespace

std::vector<Change> diff(const Snapshot& before, const Snapshot& after) {
  if (before.same_as(after)) return {};
  return Differ(before.state(), after.state(), false).run();
}

std::vector<Change> diff_exactly(const Snapshot& before, const Snapshot& after) {
  if (before.same_as(after)) return {};
  return Differ(before.state(), after.state(), true).run();
}

Stats Snapshot::stats() const {
  if (!state_.root) return {};
  std::uint64_t linked = state_.links ? state_.links->bytes : 0;
  return {state_.root->bytes + linked, state_.root->files, state_.root->directories};
}

}  // namespace atl::vfs
