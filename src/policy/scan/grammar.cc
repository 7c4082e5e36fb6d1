#include "policy/scan/grammar.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/scan/nfkc.h"

extern "C" {
const TSLanguage* tree_sitter_python(void);
const TSLanguage* tree_sitter_javascript(void);
const TSLanguage* tree_sitter_bash(void);
}

namespace atl::policy {

namespace {

struct ParserDeleter {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};

// Real code parses at several megabytes a second; only error recovery over garbage needs longer.
std::uint64_t time_for(std::size_t bytes) {
  return 1'000'000 + bytes * 3;
}

bool counts_as_nesting(Kind kind) {
  switch (kind) {
    case Kind::branch:
    case Kind::group:
    case Kind::subscript:
    case Kind::call:
    case Kind::create:
    case Kind::list:
    case Kind::dict:
    case Kind::binary:
    case Kind::choice:
    case Kind::function:
    case Kind::klass:
    case Kind::lambda:
    case Kind::comprehension: return true;
    default: return false;
  }
}

bool chains(Kind kind) {
  return kind == Kind::binary || kind == Kind::attribute || kind == Kind::call || kind == Kind::subscript ||
         kind == Kind::choice || kind == Kind::assign;
}

// tree-sitter 0.20 corrupts its memory when more than 65,535 entries wait on its stack, and text that is not
// code can make every token wait. A token has at least one character that counts here and at most one empty
// token beside it, so below half of that nothing can go wrong. Words inside strings and comments count as
// well: whether a quote opens a string is for the grammar to say, and an attacker would make us disagree.
bool overloads_parser(std::string_view text) {
  constexpr int tokens_max = 32'000;
  int tokens = 0;
  bool in_word = false;
  for (const char c : text) {
    const bool word = c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                      (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
    if (!(word && in_word) && c != ' ' && c != '\t') ++tokens;
    in_word = word;
    if (tokens > tokens_max) return true;
  }
  return false;
}

}  // namespace

const TSLanguage* grammar_of(Language language) {
  switch (language) {
    case Language::python: return tree_sitter_python();
    case Language::javascript: return tree_sitter_javascript();
    case Language::shell: return tree_sitter_bash();
    case Language::r:
    case Language::java: break;
  }
  return nullptr;
}

SyntaxTree parse(std::string_view text, Language language) {
  if (overloads_parser(text)) return nullptr;
  thread_local std::unique_ptr<TSParser, ParserDeleter> parser(ts_parser_new());
  ts_parser_reset(parser.get());
  ts_parser_set_language(parser.get(), grammar_of(language));
  ts_parser_set_timeout_micros(parser.get(), time_for(text.size()));
  return SyntaxTree(
      ts_parser_parse_string(parser.get(), nullptr, text.data(), static_cast<std::uint32_t>(text.size())));
}

NodeTypes::NodeTypes(const TSLanguage* grammar, std::span<const Row> rows)
    : types_(ts_language_symbol_count(grammar)) {
  for (std::size_t symbol = 0; symbol < types_.size(); ++symbol) {
    if (ts_language_symbol_type(grammar, static_cast<TSSymbol>(symbol)) != TSSymbolTypeRegular) continue;
    std::string_view name = ts_language_symbol_name(grammar, static_cast<TSSymbol>(symbol));
    auto row = std::ranges::find(rows, name, &Row::name);
    if (row != rows.end()) types_[symbol] = row->type;
  }
}

TreeBuilder::TreeBuilder(std::string_view text, Names& names, Tree& tree, const TSLanguage* grammar,
                         const NodeTypes& types)
    : text_(text), names_(names), tree_(tree), grammar_(grammar), types_(types) {
  field_left_ = field("left");
  field_right_ = field("right");
}

std::string_view TreeBuilder::slice(TSNode node) const {
  std::uint32_t start = ts_node_start_byte(node);
  return text_.substr(start, ts_node_end_byte(node) - start);
}

TSFieldId TreeBuilder::field(std::string_view name) const {
  return ts_language_field_id_for_name(grammar_, name.data(), static_cast<std::uint32_t>(name.size()));
}

NameIndex TreeBuilder::intern(TSNode node) {
  std::string_view written = slice(node);
  bool plain =
      std::ranges::all_of(written, [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '\\'; });
  if (plain) return names_.intern(written);
  std::string meant = plain_name(written);
  bool ascii = std::ranges::all_of(meant, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  NameIndex index = names_.intern(meant == written ? written : names_.keep(meant));
  if (ascii && meant != written) tree_.disguised.emplace_back(ts_node_start_byte(node), index);
  return index;
}

void TreeBuilder::error(TSNode node, std::string message) {
  constexpr std::size_t errors_max = 20;
  if (tree_.errors.size() < errors_max)
    tree_.errors.push_back({ts_node_start_byte(node), std::move(message)});
}

NodeIndex TreeBuilder::add(Kind kind, TSNode node) {
  NodeIndex made = tree_.make(kind, ts_node_start_byte(node), ts_node_end_byte(node));
  Frame& owner = frames_[frames_.back().owner];
  if (current_is_inner_ && owner.inner != no_node) {
    tree_.append(owner.inner, owner.inner_last, made);
  } else {
    tree_.append(owner.node, owner.last, made);
  }
  return made;
}

std::uint16_t TreeBuilder::depth_of(NodeIndex node) const {
  const Node& made = tree_.nodes[node];
  const Node& above = tree_.nodes[made.parent];
  std::uint16_t depth = frames_.back().depth;
  bool first = above.first_child == node;
  if (counts_as_nesting(made.kind) && !(first && chains(above.kind)) &&
      !(made.kind == above.kind && (made.kind == Kind::binary || made.kind == Kind::choice))) {
    ++depth;
  }
  return depth;
}

void TreeBuilder::visit(TSTreeCursor& cursor, bool& descend) {
  TSNode node = ts_tree_cursor_current_node(&cursor);
  descend = false;
  if (ts_node_is_missing(node)) {
    error(node, fmt::format("{} is missing", ts_node_type(node)));
    return;
  }
  if (!ts_node_is_named(node)) return;
  bool is_error = ts_node_symbol(node) == error_symbol;
  if (is_error) {
    std::string_view near = slice(node).substr(0, 40);
    near = near.substr(0, near.find('\n'));
    error(node, near.empty() ? "syntax error" : fmt::format("syntax error near '{}'", near));
  }
  TSFieldId field_id = ts_tree_cursor_current_field_id(&cursor);
  current_is_inner_ = field_id != 0 && (field_id == field_left_ || field_id == field_right_);
  bool store = frames_.back().store;
  NodeIndex opened = no_node;
  pending_inner_ = no_node;
  std::uint8_t type = is_error ? 0 : types_.of(node);
  Way way = enter(node, type, field_id, opened, store);
  if (way == Way::skip) return;
  Frame frame;
  frame.type = type;
  frame.store = store;
  if (way == Way::through) {
    frame.owner = frames_.back().owner;
    frame.depth = frames_.back().depth;
  } else {
    frame.owner = frames_.size();
    frame.node = opened;
    frame.last = at(opened).first_child;
    frame.inner = pending_inner_;
    frame.depth = depth_of(opened);
    tree_.depth = std::max<std::size_t>(tree_.depth, frame.depth);
  }
  frames_.push_back(frame);
  descend = true;
}

void TreeBuilder::build(const TSTree& syntax) {
  TSNode root = ts_tree_root_node(&syntax);
  tree_.root = tree_.make(Kind::other, 0, static_cast<std::uint32_t>(text_.size()));
  frames_.push_back({.node = tree_.root});
  if (ts_node_symbol(root) == error_symbol) error(root, "syntax error");
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  bool inside = ts_tree_cursor_goto_first_child(&cursor);
  while (inside) {
    bool descend = false;
    visit(cursor, descend);
    if (descend) {
      if (ts_tree_cursor_goto_first_child(&cursor)) continue;
      leave(frames_.back());
      frames_.pop_back();
    }
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      ts_tree_cursor_goto_parent(&cursor);
      if (frames_.size() == 1) {
        inside = false;
        break;
      }
      leave(frames_.back());
      frames_.pop_back();
    }
  }
  ts_tree_cursor_delete(&cursor);
}

}  // namespace atl::policy
