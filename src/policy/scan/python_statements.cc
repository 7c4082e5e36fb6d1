#include "policy/scan/python_descent.h"

namespace atl::policy {

void PythonParser::statement(Children& out) {
  if (failed_) return;
  if (is('@')) return decorated(out);
  if (lexer_.kind == Token::keyword) {
    switch (lexer_.word) {
      case k_if: return if_statement(out);
      case k_while: return while_statement(out);
      case k_for: return for_statement(out);
      case k_try: return try_statement(out);
      case k_with: return with_statement(out);
      case k_def: return function(out);
      case k_class: return class_statement(out);
      case k_async:
        advance();
        if (is(k_def)) return function(out);
        if (is(k_with)) return with_statement(out);
        if (is(k_for)) return for_statement(out);
        failed_ = true;
        return;
      default: break;
    }
  }
  simple_statement(out);
}

void PythonParser::simple_statement(Children& out) {
  do {
    small_statement(out);
  } while (!failed_ && take(';') && lexer_.kind != Token::newline && lexer_.kind != Token::end);
  if (lexer_.kind == Token::newline)
    advance();
  else if (lexer_.kind != Token::end)
    failed_ = true;
}

void PythonParser::block(Children& out) {
  Level level(*this);
  want(':');
  if (failed_) return;
  if (lexer_.kind != Token::newline) return simple_statement(out);
  advance();
  if (lexer_.kind != Token::indent) {
    failed_ = true;
    return;
  }
  advance();
  while (!failed_ && lexer_.kind != Token::dedent) {
    if (lexer_.kind == Token::end)
      failed_ = true;
    else if (lexer_.kind == Token::newline)
      advance();
    else
      statement(out);
  }
  if (!failed_) advance();
}

void PythonParser::small_statement(Children& out) {
  if (lexer_.kind != Token::keyword) return expression_statement(out);
  std::uint32_t start = lexer_.start;
  switch (lexer_.word) {
    // Nothing to look at; no node.
    case k_pass:
    case k_break:
    case k_continue: advance(); return;
    case k_import: return import_statement(out);
    case k_from: return from_statement(out);
    case k_global:
    case k_nonlocal: return global_statement(out);
    case k_return:
      advance();
      if (lexer_.kind != Token::newline && !is(';') && lexer_.kind != Token::end)
        add(out, wrap(Kind::other, start, expressions()));
      return;
    case k_raise: {
      advance();
      if (lexer_.kind == Token::newline || is(';') || lexer_.kind == Token::end) return;
      NodeIndex node = make(Kind::other, start);
      Children children{node};
      add(children, ternary());
      if (take(k_from)) add(children, ternary());
      add(out, close(node));
      return;
    }
    case k_assert: {
      advance();
      NodeIndex node = make(Kind::other, start);
      Children children{node};
      add(children, ternary());
      if (take(',')) add(children, ternary());
      add(out, close(node));
      return;
    }
    case k_del: {
      advance();
      NodeIndex target = expressions();
      store(target);
      add(out, wrap(Kind::bind, start, target));
      return;
    }
    default: return expression_statement(out);
  }
}

void PythonParser::expression_statement(Children& out) {
  std::uint32_t start = lexer_.start;
  // Soft keywords begin statements that the grammar reads; `print x` and `exec x` are Python 2.
  bool soft =
      lexer_.kind == Token::name && (text_.substr(start, 6) == "match " || text_.substr(start, 5) == "type ");
  NodeIndex first = is(k_yield) ? yield_expression() : expressions();
  if (failed_) return;
  if (is('=')) {
    // a = b = c becomes a = (b = c): one value bound to every target.
    NodeIndex outer = no_node;
    Children inner{no_node};
    NodeIndex target = first;
    while (!failed_ && take('=')) {
      store(target);
      NodeIndex assign = make(Kind::assign, at(target).start);
      Children children{assign};
      add(children, target);
      if (outer == no_node)
        outer = assign;
      else
        add(inner, assign);
      inner = children;
      target = is(k_yield) ? yield_expression() : expressions();
    }
    if (failed_) return;
    add(inner, target);
    add(out, close(outer));
    return;
  }
  if (is(':')) {
    if (soft) failed_ = true;
    advance();
    Kind kind = at(first).kind;
    // An annotation belongs to one target.
    if (kind != Kind::name && kind != Kind::attribute && kind != Kind::subscript && kind != Kind::group)
      failed_ = true;
    store(first);
    NodeIndex assign = make(Kind::assign, start);
    Children children{assign};
    add(children, first);
    std::uint32_t type_start = lexer_.start;
    add(children, wrap(Kind::other, type_start, ternary()));
    if (take('=')) add(children, is(k_yield) ? yield_expression() : expressions());
    add(out, close(assign));
    return;
  }
  bool long_assign = lexer_.kind == Token::mark && lexer_.sign == mark_long_assign;
  bool short_assign = lexer_.kind == Token::mark && (lexer_.sign >> 8U) == '=' &&
                      std::string_view("+-*/%&|^@").contains(static_cast<char>(lexer_.sign & 0xFFU));
  if (long_assign || short_assign) {
    NodeIndex node = make(Kind::augmented, start);
    at(node).op = short_assign ? static_cast<char>(lexer_.sign & 0xFFU) : '\0';
    advance();
    store(first);
    Children children{node};
    add(children, first);
    add(children, is(k_yield) ? yield_expression() : expressions());
    add(out, close(node));
    return;
  }
  add(out, first);
}

void PythonParser::if_statement(Children& out) {
  NodeIndex node = make(Kind::branch, lexer_.start);
  Children children{node};
  advance();
  add(children, named());
  block(children);
  while (!failed_ && take(k_elif)) {
    add(children, named());
    block(children);
  }
  if (!failed_ && take(k_else)) block(children);
  add(out, close(node));
}

void PythonParser::while_statement(Children& out) {
  NodeIndex node = make(Kind::branch, lexer_.start);
  Children children{node};
  advance();
  add(children, named());
  block(children);
  if (!failed_ && take(k_else)) block(children);
  add(out, close(node));
}

void PythonParser::targets(Children& out) {
  // A target list ends at `in`, which would otherwise be a comparison: targets are read one by one below that
  // level.
  std::uint32_t start = lexer_.start;
  NodeIndex first = no_node;
  NodeIndex list = no_node;
  Children items{no_node};
  do {
    if (is(k_in)) break;
    std::uint32_t at_start = lexer_.start;
    bool starred = take('*');
    NodeIndex one = binary(0);
    if (starred) one = wrap(Kind::splat, at_start, one);
    if (failed_) return;
    store(one);
    if (first == no_node) {
      first = one;
      if (!is(',')) break;
      list = make(Kind::list, start);
      items = {list};
    }
    add(items, one);
  } while (!failed_ && take(','));
  if (first == no_node)
    failed_ = true;
  else
    add(out, list == no_node ? first : close(list));
}

void PythonParser::for_statement(Children& out) {
  NodeIndex node = make(Kind::branch, lexer_.start);
  Children children{node};
  advance();
  NodeIndex iterate = make(Kind::iterate, lexer_.start);
  Children parts{iterate};
  targets(parts);
  want(k_in);
  add(parts, expressions());
  add(children, close(iterate));
  block(children);
  if (!failed_ && take(k_else)) block(children);
  add(out, close(node));
}

void PythonParser::try_statement(Children& out) {
  NodeIndex node = make(Kind::branch, lexer_.start);
  Children children{node};
  advance();
  block(children);
  bool handled = false;
  while (!failed_ && take(k_except)) {
    handled = true;
    take('*');
    if (!is(':')) {
      add(children, ternary());
      if (take(k_as)) {
        std::uint32_t start = lexer_.start;
        add(children, wrap(Kind::bind, start, name_node(true)));
      }
    }
    block(children);
  }
  if (!failed_ && handled && take(k_else)) block(children);
  if (!failed_ && take(k_finally)) block(children), handled = true;
  if (!handled) failed_ = true;
  add(out, close(node));
}

void PythonParser::with_statement(Children& out) {
  NodeIndex node = make(Kind::other, lexer_.start);
  Children children{node};
  advance();
  do {
    add(children, ternary());
    if (!failed_ && take(k_as)) {
      std::uint32_t start = lexer_.start;
      NodeIndex target = primary();
      store(target);
      add(children, wrap(Kind::bind, start, target));
    }
  } while (!failed_ && take(','));
  block(children);
  add(out, close(node));
}

void PythonParser::parameters(Children& out, bool annotated) {
  char closing = annotated ? ')' : ':';
  while (!failed_ && !is(closing)) {
    std::uint32_t start = lexer_.start;
    if (take('/')) {
      if (!take(',')) break;
      continue;
    }
    bool starred = take('*') || take('*', '*');
    if (starred && (is(',') || is(closing))) {
      if (!take(',')) break;
      continue;
    }
    NodeIndex parameter = make(Kind::parameter, start);
    NameIndex name = want_name();
    at(parameter).name = name;
    add(out, close(parameter));
    if (annotated && take(':')) {
      std::uint32_t type_start = lexer_.start;
      take('*');
      add(out, wrap(Kind::other, type_start, ternary()));
    }
    if (!failed_ && take('=')) {
      Children value{parameter};
      add(value, ternary());
      close(parameter);
    }
    if (!take(',')) break;
  }
}

void PythonParser::function(Children& out) {
  NodeIndex node = make(Kind::function, lexer_.start);
  Children children{node};
  advance();
  NameIndex name = want_name();
  at(node).name = name;
  want('(');
  parameters(children, true);
  want(')');
  if (!failed_ && take('-', '>')) {
    std::uint32_t start = lexer_.start;
    add(children, wrap(Kind::other, start, expressions()));
  }
  block(children);
  add(out, close(node));
}

void PythonParser::class_statement(Children& out) {
  NodeIndex node = make(Kind::klass, lexer_.start);
  Children children{node};
  advance();
  NameIndex name = want_name();
  at(node).name = name;
  if (!failed_ && take('(')) {
    arguments(children);
    want(')');
  }
  block(children);
  add(out, close(node));
}

void PythonParser::decorated(Children& out) {
  while (!failed_ && take('@')) {
    std::uint32_t start = lexer_.start;
    add(out, wrap(Kind::other, start, named()));
    if (lexer_.kind != Token::newline)
      failed_ = true;
    else
      advance();
  }
  if (failed_) return;
  if (take(k_async)) {
    if (!is(k_def))
      failed_ = true;
    else
      function(out);
  } else if (is(k_def)) {
    function(out);
  } else if (is(k_class)) {
    class_statement(out);
  } else {
    failed_ = true;
  }
}

void PythonParser::import_statement(Children& out) {
  advance();
  do {
    NodeIndex node = make(Kind::import_module, lexer_.start);
    NameIndex bound = want_name();
    while (!failed_ && take('.')) want_name();
    close(node);
    if (!failed_ && take(k_as)) {
      at(node).flags |= flag_whole;
      bound = want_name();
    }
    at(node).name = bound;
    add(out, node);
  } while (!failed_ && take(','));
}

void PythonParser::from_statement(Children& out) {
  advance();
  NodeIndex node = make(Kind::import_from, lexer_.start);
  while (is('.') || (lexer_.kind == Token::mark && lexer_.sign == mark_ellipsis)) {
    at(node).flags |= flag_relative;
    advance();
  }
  // Not a module that could be denied, but a word to the compiler.
  bool future = text_.substr(lexer_.start, 10) == "__future__";
  if (lexer_.kind == Token::name) {
    want_name();
    while (!failed_ && take('.')) want_name();
  } else if ((at(node).flags & flag_relative) == 0) {
    failed_ = true;
  }
  close(node);
  want(k_import);
  Children items{node};
  bool bracket = !failed_ && take('(');
  if (!bracket && is('*')) {
    NodeIndex item = tree_.make(Kind::import_item, lexer_.start, lexer_.end);
    at(item).flags |= flag_star;
    add(items, item);
    advance();
  } else {
    do {
      if (bracket && is(')')) break;
      NodeIndex item = make(Kind::import_item, lexer_.start);
      NameIndex bound = want_name();
      close(item);
      if (!failed_ && take(k_as)) bound = want_name();
      at(item).name = bound;
      add(items, item);
    } while (!failed_ && take(','));
    if (bracket) want(')');
  }
  if (!future) add(out, node);
}

void PythonParser::global_statement(Children& out) {
  bool global = is(k_global);
  NodeIndex node = make(Kind::global_names, lexer_.start);
  Children children{node};
  advance();
  do {
    NodeIndex name = name_node(true);
    // nonlocal never means a name of the module.
    if (global) add(children, name);
  } while (!failed_ && take(','));
  if (global) add(out, close(node));
}

}  // namespace atl::policy
