#include "policy/scan/python_descent.h"

namespace atl::policy {

NameIndex PythonParser::want_name() {
  if (lexer_.kind != Token::name) {
    failed_ = true;
    return 0;
  }
  NameIndex name = names_.intern(text_.substr(lexer_.start, lexer_.end - lexer_.start));
  advance();
  return name;
}

NodeIndex PythonParser::name_node(bool stored) {
  NodeIndex node = tree_.make(Kind::name, lexer_.start, lexer_.end);
  NameIndex name = want_name();
  at(node).name = name;
  if (stored) at(node).flags |= flag_store;
  return node;
}

// An expression turned out to be what is assigned to.
void PythonParser::store(NodeIndex target) {
  Level level(*this);
  if (failed_ || target == no_node) return;
  switch (at(target).kind) {
    case Kind::name: at(target).flags |= flag_store; return;
    case Kind::list:
    case Kind::group:
    case Kind::splat:
      for (NodeIndex child = at(target).first_child; child != no_node; child = at(child).next) store(child);
      return;
    case Kind::attribute:
    case Kind::subscript: return;
    default: failed_ = true;
  }
}

bool PythonParser::run() {
  tree_.root = tree_.make(Kind::other, 0, static_cast<std::uint32_t>(text_.size()));
  Children all{tree_.root};
  lexer_.next();
  failed_ = lexer_.kind == Token::bad;
  while (!failed_ && lexer_.kind != Token::end) {
    if (lexer_.kind == Token::newline)
      advance();
    else
      statement(all);
  }
  return !failed_;
}

bool parse_python(std::string_view text, Names& names, Tree& tree, int depth_max) {
  tree.nodes.reserve(text.size() / 4 + 16);
  return PythonParser(text, names, tree, depth_max).run();
}

}  // namespace atl::policy
