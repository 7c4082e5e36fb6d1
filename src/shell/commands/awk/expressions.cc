#include <fmt/format.h>

#include "shell/commands/awk/parser.h"

namespace atl::shell::awk {

Parser::R Parser::ternary_or_assign() {
  Deeper deeper(depth_);
  if (depth_ > kDepthMax) return fail(Code::invalid_argument, "expression nested too deeply");
  Node* left = TRY(ternary());
  Op op = Op::assign;
  switch (lex_.token) {
    case Token::equals: break;
    case Token::add_assign: op = Op::add_assign; break;
    case Token::sub_assign: op = Op::subtract_assign; break;
    case Token::mul_assign: op = Op::multiply_assign; break;
    case Token::div_assign: op = Op::divide_assign; break;
    case Token::mod_assign: op = Op::modulo_assign; break;
    case Token::pow_assign: op = Op::power_assign; break;
    default: return left;
  }
  // a && b = c and 1 == x = 2: the assignment belongs to the right-most operand.
  Node* parent = nullptr;
  Node* target = left;
  while (!lvalue(target)) {
    Node** slot = &target->b;
    if (target->op == Op::conditional)
      slot = &target->c;
    else if (target->op == Op::logical_not)
      slot = &target->a;
    else if (target->op < Op::logical_or || target->op > Op::concat)
      return unexpected_token();
    parent = target;
    target = *slot;
  }
  TRY(next());
  TRY(skip_newlines());
  Node* right = TRY(ternary_or_assign());
  Node* node = make(op, target, right);
  if (!parent) return node;
  if (parent->op == Op::conditional)
    parent->c = node;
  else if (parent->op == Op::logical_not)
    parent->a = node;
  else
    parent->b = node;
  return left;
}

Parser::R Parser::ternary() {
  Node* condition = TRY(logical_or());
  if (!is(Token::question)) return condition;
  TRY(next());
  TRY(skip_newlines());
  Node* yes = TRY(ternary_or_assign());
  TRY(skip_newlines());
  TRY(expect(Token::colon, ":"));
  TRY(skip_newlines());
  Node* no = TRY(ternary_or_assign());
  return make(Op::conditional, condition, yes, no);
}

Parser::R Parser::logical_or() {
  Node* left = TRY(logical_and());
  while (is(Token::or_)) {
    TRY(next());
    TRY(skip_newlines());
    left = make(Op::logical_or, left, TRY(logical_and()));
  }
  return left;
}

Parser::R Parser::logical_and() {
  Node* left = TRY(membership());
  while (is(Token::and_)) {
    TRY(next());
    TRY(skip_newlines());
    left = make(Op::logical_and, left, TRY(membership()));
  }
  return left;
}

Parser::R Parser::membership() {
  Node* left = TRY(matching());
  while (is(Token::k_in) && !no_in_) {
    TRY(next());
    if (!is(Token::name)) return unexpected_token("an array");
    left = make(Op::in, left, TRY(name()));
  }
  return left;
}

Parser::R Parser::matching() {
  Node* left = TRY(comparison());
  while (is(Token::tilde) || is(Token::no_match)) {
    Op op = is(Token::tilde) ? Op::match : Op::no_match;
    TRY(next());
    left = make(op, left, TRY(comparison()));
  }
  return left;
}

Parser::R Parser::comparison() {
  Node* left = TRY(concatenation());
  while (true) {
    Op op;
    switch (lex_.token) {
      case Token::less: op = Op::less; break;
      case Token::le: op = Op::less_equal; break;
      case Token::eq: op = Op::equal; break;
      case Token::ne: op = Op::not_equal; break;
      case Token::ge: op = Op::greater_equal; break;
      case Token::greater:
        if (no_greater_) return left;
        op = Op::greater;
        break;
      case Token::pipe:
        if (no_pipe_getline_) return left;
        {
          Lexer saved = lex_;
          TRY(next());
          if (!is(Token::k_getline)) {
            lex_ = saved;
            return left;
          }
          TRY(next());
          left = TRY(getline_tail(Op::getline_command, left));
          continue;
        }
      default: return left;
    }
    TRY(next());
    left = make(op, left, TRY(concatenation()));
  }
}

bool Parser::starts_operand() const {
  for (Token token : {Token::number, Token::string, Token::regex, Token::name, Token::function_name,
                      Token::builtin, Token::lparen, Token::dollar, Token::bang, Token::minus, Token::plus,
                      Token::increment, Token::decrement, Token::at})
    if (is(token)) return true;
  return false;
}

Parser::R Parser::concatenation() {
  Node* left = TRY(additive());
  // Two operands side by side are concatenated: there is no operator to look for.
  while (starts_operand() && !(is(Token::k_in))) left = make(Op::concat, left, TRY(additive()));
  return left;
}

Parser::R Parser::additive() {
  Node* left = TRY(multiplicative());
  while (is(Token::plus) || is(Token::minus)) {
    Op op = is(Token::plus) ? Op::add : Op::subtract;
    TRY(next());
    left = make(op, left, TRY(multiplicative()));
  }
  return left;
}

Parser::R Parser::multiplicative() {
  Node* left = TRY(unary());
  while (is(Token::star) || is(Token::slash) || is(Token::percent)) {
    Op op = is(Token::star) ? Op::multiply : is(Token::slash) ? Op::divide : Op::modulo;
    TRY(next());
    left = make(op, left, TRY(unary()));
  }
  return left;
}

Parser::R Parser::unary() {
  Deeper deeper(depth_);
  if (depth_ > kDepthMax) return fail(Code::invalid_argument, "expression nested too deeply");
  if (is(Token::bang) || is(Token::minus) || is(Token::plus)) {
    Op op = is(Token::bang) ? Op::logical_not : is(Token::minus) ? Op::negate : Op::plus;
    TRY(next());
    Node* operand = TRY(unary());
    return make(op, operand);
  }
  return power();
}

Parser::R Parser::power() {
  Node* base = TRY(postfix());
  if (!is(Token::caret)) return base;
  TRY(next());
  // 2^-1; ^ groups to the right and binds more tightly than a sign before it.
  Node* exponent = TRY(unary());
  return make(Op::power, base, exponent);
}

Parser::R Parser::postfix() {
  if (is(Token::increment) || is(Token::decrement)) {
    Op op = is(Token::increment) ? Op::pre_increment : Op::pre_decrement;
    TRY(next());
    Node* target = TRY(primary());
    if (!lvalue(target)) return unexpected_token("a variable");
    return make(op, target);
  }
  Node* node = TRY(primary());
  if ((is(Token::increment) || is(Token::decrement)) && lvalue(node)) {
    Op op = is(Token::increment) ? Op::post_increment : Op::post_decrement;
    TRY(next());
    return make(op, node);
  }
  return node;
}

Parser::R Parser::getline_tail(Op op, Node* source) {
  Node* node = make(op, source);
  if (is(Token::dollar) || is(Token::name)) {
    node->b = TRY(is(Token::dollar) ? primary() : name());
  }
  if (op == Op::getline && is(Token::less)) {
    TRY(next());
    node->op = Op::getline_file;
    // `getline < "a" "b"` reads the file a: concatenation binds less tightly.
    node->a = TRY(postfix());
  }
  return node;
}

Parser::R Parser::name() {
  if (!is(Token::name)) return unexpected_token("a name");
  std::string text = lex_.text;
  auto local = locals_.find(text);
  Node* node = make(local != locals_.end() ? Op::local : Op::global);
  node->text = text;
  node->slot = local != locals_.end() ? local->second : program_->global(text);
  TRY(next());
  while (is(Token::lbracket)) {
    TRY(next());
    bool in_saved = no_in_, greater_saved = no_greater_;
    no_in_ = no_greater_ = false;
    auto subscripts = TRY(arguments(Token::rbracket));
    no_in_ = in_saved;
    no_greater_ = greater_saved;
    if (subscripts.empty()) return unexpected_token();
    node = make(Op::index, node);
    node->list = std::move(subscripts);
  }
  return node;
}

Parser::R Parser::grouping() {
  TRY(next());
  bool in_saved = no_in_, greater_saved = no_greater_, pipe_saved = no_pipe_getline_;
  no_in_ = no_greater_ = no_pipe_getline_ = false;
  auto list = arguments(Token::rparen);
  no_in_ = in_saved;
  no_greater_ = greater_saved;
  no_pipe_getline_ = pipe_saved;
  if (!list) return std::unexpected(list.error());
  if (list->empty()) return unexpected_token();
  if (list->size() == 1) return make(Op::group, list->front());
  if (!is(Token::k_in)) return unexpected_token("in");
  Node* node = make(Op::tuple);
  node->list = std::move(*list);
  return node;
}

Parser::R Parser::call(bool builtin) {
  bool in_saved = no_in_, greater_saved = no_greater_, pipe_saved = no_pipe_getline_;
  no_in_ = no_greater_ = no_pipe_getline_ = false;
  Node* node = make(builtin ? Op::builtin : Op::call);
  std::string callee = lex_.text;
  if (builtin) node->slot = lex_.builtin;
  node->text = callee;
  TRY(next());
  if (is(Token::lparen)) {
    TRY(next());
    node->list = TRY(arguments(Token::rparen));
  } else if (builtin && node->slot != static_cast<int>(Builtin::length)) {
    return unexpected_token("(");
  }
  no_in_ = in_saved;
  no_greater_ = greater_saved;
  no_pipe_getline_ = pipe_saved;
  if (!builtin) {
    auto [it, inserted] =
        program_->function_index.emplace(callee, static_cast<int>(program_->functions.size()));
    if (inserted) program_->functions.push_back({callee, {}, nullptr, false});
    node->slot = it->second;
  }
  return node;
}

Parser::R Parser::primary() {
  switch (lex_.token) {
    case Token::number: {
      Node* node = make(Op::number);
      node->number = lex_.number;
      node->constant = Value::of(lex_.number);
      TRY(next());
      return node;
    }
    case Token::string: {
      Node* node = make(Op::string);
      node->text = lex_.text;
      node->constant = Value::of(lex_.text);
      TRY(next());
      return node;
    }
    // Where an operand is expected, a slash begins a regular expression; only the parser knows.
    case Token::slash:
    case Token::div_assign: {
      TRY(lex_.regex());
      Node* node = make(Op::regex);
      node->text = lex_.text;
      TRY(next());
      return node;
    }
    case Token::dollar: {
      Deeper deeper(depth_);
      if (depth_ > kDepthMax) return fail(Code::invalid_argument, "expression nested too deeply");
      TRY(next());
      if (is(Token::increment) || is(Token::decrement)) return make(Op::field, TRY(postfix()));
      if (is(Token::minus)) {
        TRY(next());
        return make(Op::field, make(Op::negate, TRY(primary())));
      }
      return make(Op::field, TRY(primary()));
    }
    case Token::minus:
    case Token::plus:
    case Token::bang: return unary();
    case Token::lparen: return grouping();
    case Token::name: return name();
    case Token::function_name: return call(false);
    case Token::builtin: return call(true);
    case Token::at: {
      TRY(next());
      if (!is(Token::function_name)) return unexpected_token("a function name");
      std::string variable = lex_.text;
      Node* node = TRY(call(false));
      node->op = Op::indirect_call;
      auto local = locals_.find(variable);
      Node* holder = make(local != locals_.end() ? Op::local : Op::global);
      holder->slot = local != locals_.end() ? local->second : program_->global(variable);
      node->a = holder;
      // The call() above noted the variable's name as a function; take that back.
      if (program_->functions.back().name == variable && !program_->functions.back().defined) {
        program_->function_index.erase(variable);
        program_->functions.pop_back();
      }
      return node;
    }
    case Token::k_getline: TRY(next()); return getline_tail(Op::getline, nullptr);
    default: return unexpected_token();
  }
}

}  // namespace atl::shell::awk
