#pragma once

#include <cstdint>
#include <string_view>

#include "policy/scan/python_lexer.h"
#include "policy/scan/python_parser.h"

namespace atl::policy {

// Recursive descent over PythonLexer, called by parse_python(). Statements, expressions and strings have a
// source file each.
// Every function below reads what its name says from the current token on and leaves the lexer at the first
// token behind it. On anything unexpected it sets `failed_`, and the parse gives no tree.
class PythonParser {
  using Token = PythonToken;
  using enum Keyword;

 public:
  // Borrows all of it for the time of run().
  PythonParser(std::string_view text, Names& names, Tree& tree, int depth_max)
      : text_(text), lexer_(text), names_(names), tree_(tree), depth_max_(depth_max) {}
  // The result of parse_python(): true if the whole text was read. Call it once.
  bool run();

 private:
  // Children of one node, in order.
  struct Children {
    NodeIndex parent;
    NodeIndex last = no_node;
  };
  // Recursion is bounded: beyond depth_max the whole parse gives up.
  class Level {
   public:
    explicit Level(PythonParser& parser) : parser_(parser) {
      if (++parser.depth_ > parser.depth_max_) parser.failed_ = true;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --parser_.depth_; }

   private:
    PythonParser& parser_;
  };

  // tokens
  // The token helpers: is() looks, take() goes past the token if it is there, want() fails the parse if it is
  // not.
  void advance() {
    previous_end_ = lexer_.end;
    lexer_.next();
    if (lexer_.kind == Token::bad) failed_ = true;
  }
  bool is(char a, char b = 0) const { return lexer_.kind == Token::mark && lexer_.sign == mark(a, b); }
  bool is(Keyword word) const { return lexer_.kind == Token::keyword && lexer_.word == word; }
  bool take(char a, char b = 0) {
    if (!is(a, b)) return false;
    advance();
    return true;
  }
  bool take(Keyword word) {
    if (!is(word)) return false;
    advance();
    return true;
  }
  void want(char a) {
    if (!take(a)) failed_ = true;
  }
  void want(Keyword word) {
    if (!take(word)) failed_ = true;
  }
  NameIndex want_name();

  // nodes
  // Nodes are made when their first character is known and get their end with close().
  NodeIndex make(Kind kind, std::uint32_t start) { return tree_.make(kind, start, start); }
  Node& at(NodeIndex index) { return tree_.nodes[index]; }
  void add(Children& children, NodeIndex child) {
    if (child != no_node) tree_.append(children.parent, children.last, child);
  }
  NodeIndex close(NodeIndex node) {
    at(node).end = previous_end_;
    return node;
  }
  // A node with one child.
  NodeIndex wrap(Kind kind, std::uint32_t start, NodeIndex child) {
    NodeIndex node = make(kind, start);
    Children children{node};
    add(children, child);
    return close(node);
  }
  NodeIndex name_node(bool store);
  // Marks the names in a target as bound there, not read.
  void store(NodeIndex target);

  // statements
  // Statements append what they make to `out`; many a statement makes no node of its own.
  void statement(Children& out);
  void simple_statement(Children& out);
  void small_statement(Children& out);
  void expression_statement(Children& out);
  void block(Children& out);
  void if_statement(Children& out);
  void while_statement(Children& out);
  void for_statement(Children& out);
  void try_statement(Children& out);
  void with_statement(Children& out);
  void function(Children& out);
  void class_statement(Children& out);
  void decorated(Children& out);
  void import_statement(Children& out);
  void from_statement(Children& out);
  void global_statement(Children& out);
  void parameters(Children& out, bool annotated);

  // expressions
  // Expressions return their node, or no_node where a node would mean nothing to any rule. The order below is
  // the order of precedence, loosest first.
  NodeIndex expressions(bool allow_star = true);
  NodeIndex star_or_named();
  NodeIndex named();
  NodeIndex ternary();
  NodeIndex lambda();
  NodeIndex disjunction();
  NodeIndex conjunction();
  NodeIndex inversion();
  NodeIndex comparison();
  NodeIndex binary(int level);
  NodeIndex factor();
  NodeIndex power();
  NodeIndex primary();
  NodeIndex atom();
  NodeIndex parenthesized();
  NodeIndex bracketed();
  NodeIndex braced();
  NodeIndex strings();
  NodeIndex one_string();
  // An f-string from `from` on: text and fields, until the quotes that began it. `specification`: the part
  // behind a field's colon, which ends with the brace instead.
  void format_parts(Children& out, std::uint32_t from, std::string_view quotes, bool raw, bool specification);
  void format_field(Children& out);
  NodeIndex yield_expression();
  void arguments(Children& out);
  void subscripts(Children& out);
  NodeIndex subscript();
  NodeIndex comprehension(std::uint32_t start, NodeIndex body);
  void targets(Children& out);

  std::string_view text_;
  PythonLexer lexer_;
  Names& names_;
  Tree& tree_;
  int depth_max_;
  int depth_ = 0;
  bool failed_ = false;
  std::uint32_t previous_end_ = 0;
};

}  // namespace atl::policy
