#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/scan/compiled.h"

namespace atl::policy {

// The little that the rules need to know of Python and JavaScript, in one form for both: names, where they
// are bound, how they are reached, and text. What matters to no rule is `other` with its children.
enum class Kind : std::uint8_t {
  other,        // children
  group,        // children; its value is that of the last: brackets, `await x`, `a, b` of JavaScript
  branch,       // children that may not run, or not once: if, for, while, try
  name,         // name
  attribute,    // name; [object]
  subscript,    // [object, index...]
  slice,        // [start, stop, step], `missing` where absent
  missing,      //
  call,         // [callee, argument...]
  create,       // the same with `new`
  keyword,      // name; [value]
  splat,        // [value]
  string,       // its span is the literal, quotes and prefix included
  string_part,  // its span is text with escapes and without quotes
  format,       // f-string, template: [string_part | expression ...]
  concat,       // adjacent strings: [string | format ...]
  number,       // its span is the literal, with a minus sign where it has one
  list,         // list, tuple, set, array
  dict,         // [pair | other ...]
  pair,         // [key, value]
  binary,       // op; [left, right]
  choice,    // its value is that of any child: `a or b`, `a if c else b`, `a ? b : c` (without the condition)
  function,  // name or 0; a scope
  klass,     // name or 0; a scope that functions inside it do not see
  lambda,    // a scope
  comprehension,  // a scope; iterations first, then what it makes
  parameter,      // name; [default] or nothing
  assign,         // [target, value]
  augmented,      // op; [target, value]
  iterate,        // [target, iterable]
  bind,           // [target...]: bound to something unknown
  import_module,  // span: dotted name or literal; name: what is bound, or 0; flag_whole: bound to the whole
                  // path
  import_from,    // span: dotted name or literal; [import_item...]
  import_item,    // span: imported name; name: what is bound; flag_star
  global_names,   // [name...]
};

// Bits of Node::flags.
inline constexpr std::uint8_t flag_store = 1;      // a name that is bound here, not read
inline constexpr std::uint8_t flag_relative = 2;   // import from the code's own package
inline constexpr std::uint8_t flag_whole = 4;      // import a.b as c
inline constexpr std::uint8_t flag_star = 8;       // from a import *
inline constexpr std::uint8_t flag_quoted = 16;    // the module is a string literal (JavaScript)
inline constexpr std::uint8_t flag_property = 32;  // a pair whose key is a plain name (JavaScript)

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex no_node = 0;  // index 0 is never used
using NameIndex = std::uint32_t;         // index 0: no name

// A node is found by its index in Tree::nodes, and its children form a list through `next`. Offsets are bytes
// of the source. Nodes hold no pointers, so growing the tree moves nothing that anybody refers to, except
// references to nodes: take them anew after make().
struct Node {
  std::uint32_t start = 0;
  std::uint32_t end = 0;
  NodeIndex parent = no_node;
  NodeIndex first_child = no_node;
  NodeIndex next = no_node;
  NameIndex name = 0;
  std::uint32_t value = 0;  // for the evaluator
  Kind kind = Kind::other;
  std::uint8_t flags = 0;
  char op = 0;
};

// Identifiers of one piece of code, each once.
class Names {
 public:
  struct Entry {
    std::string_view text;
    std::uint32_t word = 0;  // of the language's PathTrie; 0 if it means nothing there
    bool bound = false;      // somewhere in the code
    bool declared_global = false;
    std::uint8_t attribute = 0;  // what the language's scanner thinks of it as an attribute
  };

  // `paths` must outlive this. `expected`: how many names to make room for; more are fine.
  Names(const PathTrie& paths, std::size_t expected);
  // The index of this name, new or known. `text` is not copied: it must outlive this, as the source does; use
  // keep() for text that does not.
  NameIndex intern(std::string_view text);
  Entry& operator[](NameIndex index) { return entries_[index]; }
  const Entry& operator[](NameIndex index) const { return entries_[index]; }
  std::size_t size() const { return entries_.size(); }
  // A copy of `text` that lives as long as this.
  std::string_view keep(std::string text);

 private:
  void grow();
  const PathTrie& paths_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> hashes_;
  std::vector<NameIndex> slots_;
  std::vector<std::unique_ptr<std::string>> kept_;
};

// A place that the grammar could not read. The rest of the tree is still usable.
struct SyntaxError {
  std::uint32_t offset = 0;
  std::string message;
};

// The code in the form that the evaluator reads. Made by one parser on one thread, then only its values
// change.
struct Tree {
  std::vector<Node> nodes;
  NodeIndex root = no_node;
  std::vector<SyntaxError> errors;
  std::size_t depth = 0;
  // Identifiers that were not written in plain letters: offset and what they mean.
  std::vector<std::pair<std::uint32_t, NameIndex>> disguised;

  Tree() : nodes(1) {}
  // A node without parent and children. References to other nodes are no longer valid.
  NodeIndex make(Kind kind, std::uint32_t start, std::uint32_t end) {
    nodes.push_back({.start = start, .end = end, .kind = kind});
    return static_cast<NodeIndex>(nodes.size() - 1);
  }
  // Adds a child behind `last`, which begins as no_node and is kept by the caller.
  void append(NodeIndex parent, NodeIndex& last, NodeIndex child) {
    nodes[child].parent = parent;
    (last == no_node ? nodes[parent].first_child : nodes[last].next) = child;
    last = child;
  }
};

}  // namespace atl::policy
