#include "policy/scan/python_descent.h"

namespace atl::policy {

NodeIndex PythonParser::expressions(bool allow_star) {
  std::uint32_t start = lexer_.start;
  NodeIndex first = allow_star ? star_or_named() : named();
  if (failed_ || !is(',')) return first;
  NodeIndex list = make(Kind::list, start);
  Children children{list};
  add(children, first);
  while (!failed_ && take(',')) {
    // A comma may be the last thing of a list; only what begins an expression continues it.
    bool more = lexer_.kind == Token::name || lexer_.kind == Token::number || lexer_.kind == Token::string ||
                (lexer_.kind == Token::keyword && !is(k_in) && !is(k_if) && !is(k_for)) || is('(') ||
                is('[') || is('{') || is('-') || is('+') || is('~') || is('*') ||
                (lexer_.kind == Token::mark && lexer_.sign == mark_ellipsis);
    if (!more) break;
    add(children, star_or_named());
  }
  return close(list);
}

NodeIndex PythonParser::star_or_named() {
  std::uint32_t start = lexer_.start;
  if (take('*')) return wrap(Kind::splat, start, binary(0));
  return named();
}

NodeIndex PythonParser::named() {
  NodeIndex value = ternary();
  if (failed_ || !is(':', '=')) return value;
  if (at(value).kind != Kind::name) {
    failed_ = true;
    return value;
  }
  advance();
  at(value).flags |= flag_store;
  NodeIndex node = make(Kind::assign, at(value).start);
  Children children{node};
  add(children, value);
  add(children, ternary());
  return close(node);
}

NodeIndex PythonParser::ternary() {
  Level level(*this);
  if (failed_) return no_node;
  if (is(k_lambda)) return lambda();
  std::uint32_t start = lexer_.start;
  NodeIndex value = disjunction();
  if (failed_ || !is(k_if)) return value;
  advance();
  // x or y, x and y and x if c else y are one kind: the value may be any of their operands.
  NodeIndex node = make(Kind::choice, start);
  Children children{node};
  add(children, value);
  add(children, disjunction());
  want(k_else);
  add(children, ternary());
  return close(node);
}

NodeIndex PythonParser::lambda() {
  NodeIndex node = make(Kind::lambda, lexer_.start);
  Children children{node};
  advance();
  parameters(children, false);
  want(':');
  add(children, ternary());
  return close(node);
}

NodeIndex PythonParser::disjunction() {
  std::uint32_t start = lexer_.start;
  NodeIndex first = conjunction();
  if (failed_ || !is(k_or)) return first;
  NodeIndex node = make(Kind::choice, start);
  Children children{node};
  add(children, first);
  while (!failed_ && take(k_or)) add(children, conjunction());
  return close(node);
}

NodeIndex PythonParser::conjunction() {
  std::uint32_t start = lexer_.start;
  NodeIndex first = inversion();
  if (failed_ || !is(k_and)) return first;
  NodeIndex node = make(Kind::choice, start);
  Children children{node};
  add(children, first);
  while (!failed_ && take(k_and)) add(children, inversion());
  return close(node);
}

NodeIndex PythonParser::inversion() {
  Level level(*this);
  std::uint32_t start = lexer_.start;
  if (!failed_ && take(k_not)) return wrap(Kind::other, start, inversion());
  return comparison();
}

NodeIndex PythonParser::comparison() {
  std::uint32_t start = lexer_.start;
  NodeIndex first = binary(0);
  NodeIndex node = no_node;
  Children children{no_node};
  // a < b < c is one comparison of three.
  while (!failed_) {
    bool sign = is('<') || is('>') || is('=', '=') || is('>', '=') || is('<', '=') || is('!', '=');
    if (sign || is(k_in)) {
      advance();
    } else if (is(k_is)) {
      advance();
      take(k_not);
    } else if (is(k_not)) {
      advance();
      want(k_in);
    } else {
      break;
    }
    if (node == no_node) {
      node = make(Kind::other, start);
      children = {node};
      add(children, first);
    }
    add(children, binary(0));
  }
  return node == no_node ? first : close(node);
}

// | ^ & shifts sums products
NodeIndex PythonParser::binary(int level) {
  constexpr int products = 5;
  if (failed_) return no_node;
  std::uint32_t start = lexer_.start;
  NodeIndex left = level == products ? factor() : binary(level + 1);
  while (!failed_ && lexer_.kind == Token::mark) {
    bool here = false;
    switch (level) {
      case 0: here = is('|'); break;
      case 1: here = is('^'); break;
      case 2: here = is('&'); break;
      case 3: here = is('<', '<') || is('>', '>'); break;
      case 4: here = is('+') || is('-'); break;
      default: here = is('*') || is('/') || is('/', '/') || is('%') || is('@');
    }
    if (!here) break;
    NodeIndex node = make(Kind::binary, start);
    // Operators of two characters are not evaluated; they need no sign.
    at(node).op = lexer_.sign < 0x100 ? static_cast<char>(lexer_.sign) : '\0';
    advance();
    Children children{node};
    add(children, left);
    add(children, level == products ? factor() : binary(level + 1));
    left = close(node);
  }
  return left;
}

NodeIndex PythonParser::factor() {
  Level level(*this);
  if (failed_) return no_node;
  std::uint32_t start = lexer_.start;
  if (is('-') || is('+') || is('~')) {
    bool minus = is('-');
    advance();
    NodeIndex value = factor();
    if (failed_) return no_node;
    // -1 becomes part of the literal, so that slices like [::-1] are constants.
    if (minus && at(value).kind == Kind::number && text_[at(value).start] != '-') {
      at(value).start = start;
      return value;
    }
    return wrap(Kind::other, start, value);
  }
  return power();
}

NodeIndex PythonParser::power() {
  std::uint32_t start = lexer_.start;
  NodeIndex value = no_node;
  if (take(k_await))
    value = wrap(Kind::group, start, primary());
  else
    value = primary();
  if (failed_ || !is('*', '*')) return value;
  advance();
  NodeIndex node = make(Kind::binary, start);
  Children children{node};
  add(children, value);
  // ** binds more tightly than a sign before it and less than one behind it: -2**-1.
  add(children, factor());
  return close(node);
}

NodeIndex PythonParser::primary() {
  std::uint32_t start = lexer_.start;
  NodeIndex value = atom();
  while (!failed_ && lexer_.kind == Token::mark) {
    if (is('.')) {
      advance();
      NodeIndex node = make(Kind::attribute, start);
      NameIndex name = want_name();
      at(node).name = name;
      Children children{node};
      add(children, value);
      value = close(node);
    } else if (is('(')) {
      advance();
      NodeIndex node = make(Kind::call, start);
      Children children{node};
      add(children, value);
      arguments(children);
      want(')');
      value = close(node);
    } else if (is('[')) {
      advance();
      NodeIndex node = make(Kind::subscript, start);
      Children children{node};
      add(children, value);
      subscripts(children);
      want(']');
      value = close(node);
    } else {
      break;
    }
  }
  return value;
}

NodeIndex PythonParser::atom() {
  switch (lexer_.kind) {
    case Token::name: return name_node(false);
    case Token::number: {
      NodeIndex node = tree_.make(Kind::number, lexer_.start, lexer_.end);
      advance();
      return node;
    }
    case Token::string: return strings();
    case Token::keyword:
      if (is(k_None) || is(k_True) || is(k_False)) {
        NodeIndex node = tree_.make(Kind::other, lexer_.start, lexer_.end);
        advance();
        return node;
      }
      break;
    case Token::mark:
      if (is('(')) return parenthesized();
      if (is('[')) return bracketed();
      if (is('{')) return braced();
      if (lexer_.sign == mark_ellipsis) {
        NodeIndex node = tree_.make(Kind::other, lexer_.start, lexer_.end);
        advance();
        return node;
      }
      break;
    default: break;
  }
  failed_ = true;
  return no_node;
}

NodeIndex PythonParser::yield_expression() {
  NodeIndex node = make(Kind::other, lexer_.start);
  Children children{node};
  advance();
  if (take(k_from))
    add(children, ternary());
  else if (lexer_.kind != Token::newline && lexer_.kind != Token::end && !is(')') && !is(';') && !is('=') &&
           !is('}'))
    add(children, expressions());
  return close(node);
}

NodeIndex PythonParser::comprehension(std::uint32_t start, NodeIndex body) {
  Level level(*this);
  NodeIndex node = make(Kind::comprehension, start);
  Children children{node};
  while (!failed_ && (is(k_for) || is(k_async))) {
    take(k_async);
    want(k_for);
    NodeIndex iterate = make(Kind::iterate, lexer_.start);
    Children parts{iterate};
    targets(parts);
    want(k_in);
    add(parts, disjunction());
    add(children, close(iterate));
    while (!failed_ && take(k_if)) {
      NodeIndex condition = disjunction();
      // Python needs parentheses around := here.
      if (!failed_ && is(':', '=')) failed_ = true;
      add(children, wrap(Kind::other, previous_end_, condition));
    }
  }
  // The body comes last although it is written first: the names it uses are bound by then.
  add(children, body);
  return close(node);
}

NodeIndex PythonParser::parenthesized() {
  Level level(*this);
  std::uint32_t start = lexer_.start;
  advance();
  if (failed_) return no_node;
  if (is(')')) {
    advance();
    return close(make(Kind::list, start));
  }
  if (is(k_yield)) {
    NodeIndex inner = yield_expression();
    want(')');
    return wrap(Kind::group, start, inner);
  }
  NodeIndex first = star_or_named();
  if (failed_) return no_node;
  if (is(k_for) || is(k_async)) {
    NodeIndex node = comprehension(start, first);
    want(')');
    return close(node);
  }
  // Parentheses alone are no tuple; the comma makes it.
  if (!is(',')) {
    want(')');
    return wrap(Kind::group, start, first);
  }
  NodeIndex list = make(Kind::list, start);
  Children children{list};
  add(children, first);
  while (!failed_ && take(',')) {
    if (is(')')) break;
    add(children, star_or_named());
  }
  want(')');
  return close(list);
}

NodeIndex PythonParser::bracketed() {
  Level level(*this);
  std::uint32_t start = lexer_.start;
  advance();
  NodeIndex list = make(Kind::list, start);
  Children children{list};
  bool first = true;
  while (!failed_ && !is(']')) {
    NodeIndex one = star_or_named();
    if (failed_) return no_node;
    if (first && (is(k_for) || is(k_async))) {
      NodeIndex node = comprehension(start, one);
      want(']');
      return close(node);
    }
    first = false;
    add(children, one);
    if (!take(',')) break;
  }
  want(']');
  return close(list);
}

NodeIndex PythonParser::braced() {
  Level level(*this);
  std::uint32_t start = lexer_.start;
  advance();
  NodeIndex node = make(Kind::dict, start);
  Children children{node};
  bool first = true;
  while (!failed_ && !is('}')) {
    std::uint32_t item_start = lexer_.start;
    NodeIndex item = no_node;
    if (take('*', '*')) {
      item = wrap(Kind::splat, item_start, binary(0));
    } else {
      item = star_or_named();
      if (failed_) return no_node;
      if (take(':')) {
        NodeIndex pair = make(Kind::pair, item_start);
        Children parts{pair};
        add(parts, item);
        add(parts, ternary());
        item = close(pair);
      } else if (first) {
        at(node).kind = Kind::list;
      }
    }
    if (failed_) return no_node;
    if (first && (is(k_for) || is(k_async))) {
      NodeIndex made = comprehension(start, item);
      want('}');
      return close(made);
    }
    first = false;
    add(children, item);
    if (!take(',')) break;
  }
  want('}');
  return close(node);
}

void PythonParser::arguments(Children& out) {
  Level level(*this);
  while (!failed_ && !is(')')) {
    std::uint32_t start = lexer_.start;
    if (take('*') || take('*', '*')) {
      add(out, wrap(Kind::splat, start, ternary()));
    } else {
      NodeIndex value = named();
      if (failed_) return;
      if (is('=')) {
        if (at(value).kind != Kind::name) {
          failed_ = true;
          return;
        }
        advance();
        // name=value: the name was read as an expression and becomes a keyword.
        at(value).kind = Kind::keyword;
        Children children{value};
        add(children, ternary());
        close(value);
      } else if (is(k_for) || is(k_async)) {
        value = comprehension(start, value);
      }
      add(out, value);
    }
    if (!take(',')) break;
  }
}

// a, a:b, ::-1; constant slices keep their parts apart.
NodeIndex PythonParser::subscript() {
  std::uint32_t start = lexer_.start;
  NodeIndex parts[3] = {no_node, no_node, no_node};
  if (is('*')) return star_or_named();
  if (!is(':')) parts[0] = named();
  if (failed_ || !is(':')) return parts[0];
  for (int i = 1; i < 3 && !failed_ && take(':'); ++i) {
    if (!is(':') && !is(']') && !is(',')) parts[i] = ternary();
  }
  if (failed_) return no_node;
  bool constant = true;
  for (NodeIndex part : parts) constant = constant && (part == no_node || at(part).kind == Kind::number);
  NodeIndex node = make(constant ? Kind::slice : Kind::other, start);
  Children children{node};
  for (NodeIndex part : parts) {
    if (part == no_node && constant) part = make(Kind::missing, start);
    add(children, part);
  }
  return close(node);
}

void PythonParser::subscripts(Children& out) {
  Level level(*this);
  if (is(']')) failed_ = true;
  while (!failed_ && !is(']')) {
    add(out, subscript());
    if (!take(',')) break;
  }
}

}  // namespace atl::policy
