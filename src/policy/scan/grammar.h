#pragma once

#include <tree_sitter/api.h>

#include <memory>
#include <string_view>
#include <vector>

#include "policy/scan/tree.h"

namespace atl::policy {

struct TreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
// Owned by the caller that parsed; nodes of it must not outlive it.
using SyntaxTree = std::unique_ptr<TSTree, TreeDeleter>;

// Constant for the life of the process.
const TSLanguage* grammar_of(Language language);

// Null when the parser ran out of its time, which is in proportion to the size of the text. Each thread keeps
// one parser.
// The tree borrows nothing: the text may go away, but offsets in it are of that text. A text with errors has
// a tree, too, with error nodes in it.
SyntaxTree parse(std::string_view text, Language language);

// A small number for every node type that a scanner names, by symbol; 0 for all others.
// Made once for a grammar; immutable, so any thread may ask.
class NodeTypes {
 public:
  struct Row {
    std::string_view name;
    std::uint8_t type;
  };
  NodeTypes(const TSLanguage* grammar, std::span<const Row> rows);
  std::uint8_t of(TSNode node) const {
    TSSymbol symbol = ts_node_symbol(node);
    return symbol < types_.size() ? types_[symbol] : 0;
  }

 private:
  std::vector<std::uint8_t> types_;
};

inline constexpr TSSymbol error_symbol = 0xFFFF;

// Turns tree-sitter's tree into ours without recursion. A language says what to do with each named node.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, Names& names, Tree& tree, const TSLanguage* grammar,
              const NodeTypes& types);
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;
  virtual ~TreeBuilder() = default;
  // Appends to the tree, and Tree::depth says how deep the code is nested. Call it once.
  void build(const TSTree& syntax);

 protected:
  struct Frame {
    NodeIndex node = no_node;
    NodeIndex last = no_node;
    std::size_t owner = 0;      // frame whose node takes the children (itself unless transparent)
    NodeIndex inner = no_node;  // takes the children of the fields left and right
    NodeIndex inner_last = no_node;
    std::uint16_t depth = 0;
    std::uint8_t type = 0;
    bool store = false;  // names below are bound
  };
  enum class Way { skip, descend, through };  // through: children become children of the parent

  // Makes nodes for `node` with add(), and says how to go on; `descend` needs `opened` set to the node made.
  virtual Way enter(TSNode node, std::uint8_t type, TSFieldId field, NodeIndex& opened, bool& store) = 0;
  // Called when all children of a node that was opened have been visited.
  virtual void leave(const Frame& frame) { (void)frame; }

  // A node for `node` under the current parent.
  NodeIndex add(Kind kind, TSNode node);
  // The same for enter(): the children of `node` become its children.
  Way open(Kind kind, TSNode node, NodeIndex& opened) {
    opened = add(kind, node);
    return Way::descend;
  }
  const Frame& parent() const { return frames_.back(); }
  Node& at(NodeIndex index) { return tree_.nodes[index]; }
  Node& parent_node() { return tree_.nodes[frames_[frames_.back().owner].node]; }
  std::string_view slice(TSNode node) const;
  // The identifier, in plain letters; one that was written otherwise is noted in Tree::disguised.
  NameIndex intern(TSNode node);
  TSFieldId field(std::string_view name) const;
  // Children of the fields left and right go under `inner` from now on.
  void set_inner(NodeIndex opened_frame_inner) { pending_inner_ = opened_frame_inner; }
  void error(TSNode node, std::string message);
  // How the language reads an identifier: Python's NFKC, JavaScript's escapes.
  virtual std::string plain_name(std::string_view written) const = 0;

  std::string_view text_;
  Names& names_;
  Tree& tree_;
  const TSLanguage* grammar_;
  const NodeTypes& types_;
  TSFieldId field_left_ = 0;
  TSFieldId field_right_ = 0;

 private:
  void visit(TSTreeCursor& cursor, bool& descend);
  std::uint16_t depth_of(NodeIndex node) const;
  std::vector<Frame> frames_;
  NodeIndex pending_inner_ = no_node;
  bool current_is_inner_ = false;
};

// The same shape of tree from each language's grammar.
// Appends to `tree`, which must be empty. `text` must outlive `names` and `tree`.
void build_python_tree(std::string_view text, const TSTree& syntax, Names& names, Tree& tree);
void build_javascript_tree(std::string_view text, const TSTree& syntax, Names& names, Tree& tree);

}  // namespace atl::policy
