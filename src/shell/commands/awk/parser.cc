#include "shell/commands/awk/parser.h"

#include <fmt/format.h>

namespace atl::shell::awk {

std::unexpected<Error> Parser::unexpected_token(std::string_view wanted) {
  std::string seen = is(Token::end)       ? "end of file"
                     : is(Token::newline) ? "newline"
                                          : fmt::format("'{}'", lex_.text);
  return fail(Code::invalid_argument, wanted.empty()
                                          ? fmt::format("syntax error near {}", seen)
                                          : fmt::format("syntax error near {}: expected {}", seen, wanted));
}

Result<std::unique_ptr<Program>> Parser::run() {
  auto whole = [&]() -> Result<void> {
    TRY(next());
    TRY(skip_terminators());
    while (!is(Token::end)) {
      TRY(item());
      TRY(skip_terminators());
    }
    for (auto& f : program_->functions)
      if (!f.defined) return fail(Code::invalid_argument, fmt::format("function `{}' not defined", f.name));
    return {};
  };
  auto done = whole();
  if (!done) return fail(Code::invalid_argument, fmt::format("{}: {}", lex_.line, done.error().message()));
  return std::move(program_);
}

Result<void> Parser::item() {
  if (is(Token::k_function)) return function();
  Rule rule{Rule::Kind::pattern};
  switch (lex_.token) {
    case Token::k_begin: rule.kind = Rule::Kind::begin; break;
    case Token::k_end: rule.kind = Rule::Kind::end; break;
    case Token::k_beginfile: rule.kind = Rule::Kind::begin_file; break;
    case Token::k_endfile: rule.kind = Rule::Kind::end_file; break;
    default: break;
  }
  if (rule.kind != Rule::Kind::pattern) {
    TRY(next());
    TRY(skip_newlines());
    if (!is(Token::lbrace)) return unexpected_token("{");
  } else if (!is(Token::lbrace)) {
    rule.pattern = TRY(expression());
    if (is(Token::comma)) {
      TRY(next());
      TRY(skip_newlines());
      rule.pattern_end = TRY(expression());
    }
  }
  if (is(Token::lbrace)) rule.body = TRY(block());
  program_->rules.push_back(std::move(rule));
  return {};
}

Result<void> Parser::function() {
  TRY(next());
  if (!is(Token::name) && !is(Token::function_name)) return unexpected_token("a function name");
  std::string function_name = lex_.text;
  TRY(next());
  TRY(expect(Token::lparen, "("));
  std::vector<std::string> parameters;
  TRY(skip_newlines());
  while (!is(Token::rparen)) {
    if (!is(Token::name)) return unexpected_token("a parameter name");
    parameters.push_back(lex_.text);
    TRY(next());
    TRY(skip_newlines());
    if (is(Token::comma)) {
      TRY(next());
      TRY(skip_newlines());
    }
  }
  TRY(next());
  TRY(skip_newlines());
  locals_.clear();
  for (std::size_t i = 0; i < parameters.size(); ++i) locals_[parameters[i]] = static_cast<int>(i);
  in_function_ = true;
  Node* body = TRY(block());
  in_function_ = false;
  locals_.clear();
  auto [it, inserted] =
      program_->function_index.emplace(function_name, static_cast<int>(program_->functions.size()));
  if (inserted) program_->functions.push_back({function_name, {}, nullptr, false});
  Function& f = program_->functions[static_cast<std::size_t>(it->second)];
  if (f.defined)
    return fail(Code::invalid_argument, fmt::format("function name `{}' previously defined", f.name));
  f.parameters = std::move(parameters);
  f.body = body;
  f.defined = true;
  return {};
}

Parser::R Parser::block() {
  Deeper deeper(depth_);
  if (depth_ > kDepthMax) return fail(Code::invalid_argument, "program nested too deeply");
  TRY(expect(Token::lbrace, "{"));
  Node* node = make(Op::block);
  TRY(skip_terminators());
  while (!is(Token::rbrace)) {
    if (is(Token::end)) return unexpected_token("}");
    node->list.push_back(TRY(statement()));
    TRY(skip_terminators());
  }
  TRY(next());
  return node;
}

Parser::R Parser::simple_or_block() {
  TRY(skip_newlines());
  if (is(Token::semicolon)) {
    TRY(next());
    return make(Op::block);
  }
  return statement();
}

Parser::R Parser::statement() {
  Deeper deeper(depth_);
  if (depth_ > kDepthMax) return fail(Code::invalid_argument, "program nested too deeply");
  switch (lex_.token) {
    case Token::lbrace: return block();
    case Token::semicolon: TRY(next()); return make(Op::block);
    case Token::k_if: {
      TRY(next());
      TRY(expect(Token::lparen, "("));
      Node* condition = TRY(expression());
      TRY(expect(Token::rparen, ")"));
      Node* node = make(Op::if_, condition);
      node->b = TRY(simple_or_block());
      // `if (a) b; else c`: the semicolon may stand before else. Going back is a copy of the lexer.
      Lexer saved = lex_;
      while (is(Token::newline) || is(Token::semicolon)) TRY(next());
      if (is(Token::k_else)) {
        TRY(next());
        node->c = TRY(simple_or_block());
      } else {
        lex_ = saved;
      }
      return node;
    }
    case Token::k_while: {
      TRY(next());
      TRY(expect(Token::lparen, "("));
      Node* condition = TRY(expression());
      TRY(expect(Token::rparen, ")"));
      Node* node = make(Op::while_, condition);
      ++loop_depth_;
      node->b = TRY(simple_or_block());
      --loop_depth_;
      return node;
    }
    case Token::k_do: {
      TRY(next());
      ++loop_depth_;
      Node* body = TRY(simple_or_block());
      --loop_depth_;
      TRY(skip_terminators());
      TRY(expect(Token::k_while, "while"));
      TRY(expect(Token::lparen, "("));
      Node* condition = TRY(expression());
      TRY(expect(Token::rparen, ")"));
      return make(Op::do_, condition, body);
    }
    case Token::k_for: return for_statement();
    case Token::k_switch: return switch_statement();
    default: break;
  }
  Node* node = TRY(simple_statement());
  if (is(Token::semicolon) || is(Token::newline))
    TRY(next());
  else if (!is(Token::rbrace) && !is(Token::end))
    return unexpected_token();
  return node;
}

Parser::R Parser::for_statement() {
  TRY(next());
  TRY(expect(Token::lparen, "("));
  if (is(Token::name)) {
    // `for (k in a)` and `for (i = 0; ...)` begin alike.
    Lexer saved = lex_;
    Node* variable = TRY(name());
    if (variable->op != Op::index && is(Token::k_in)) {
      TRY(next());
      if (is(Token::name)) {
        Node* array = TRY(name());
        if (is(Token::rparen)) {
          TRY(next());
          Node* node = make(Op::for_in, variable, array);
          ++loop_depth_;
          node->c = TRY(simple_or_block());
          --loop_depth_;
          return node;
        }
      }
    }
    lex_ = saved;
  }
  Node* node = make(Op::for_);
  if (!is(Token::semicolon)) node->a = TRY(simple_statement());
  TRY(expect(Token::semicolon, ";"));
  TRY(skip_newlines());
  if (!is(Token::semicolon)) node->b = TRY(expression());
  TRY(expect(Token::semicolon, ";"));
  TRY(skip_newlines());
  if (!is(Token::rparen)) node->c = TRY(simple_statement());
  TRY(expect(Token::rparen, ")"));
  ++loop_depth_;
  node->d = TRY(simple_or_block());
  --loop_depth_;
  return node;
}

Parser::R Parser::switch_statement() {
  TRY(next());
  TRY(expect(Token::lparen, "("));
  Node* node = make(Op::switch_, TRY(expression()));
  TRY(expect(Token::rparen, ")"));
  TRY(skip_newlines());
  TRY(expect(Token::lbrace, "{"));
  TRY(skip_terminators());
  ++loop_depth_;
  while (!is(Token::rbrace)) {
    Node* branch = make(Op::block);  // a: the label, null for default
    if (is(Token::k_case)) {
      TRY(next());
      bool saved = no_in_;
      branch->a = TRY(primary());
      no_in_ = saved;
    } else if (is(Token::k_default)) {
      TRY(next());
    } else {
      return unexpected_token("case");
    }
    TRY(expect(Token::colon, ":"));
    TRY(skip_terminators());
    while (!is(Token::k_case) && !is(Token::k_default) && !is(Token::rbrace)) {
      if (is(Token::end)) return unexpected_token("}");
      branch->list.push_back(TRY(statement()));
      TRY(skip_terminators());
    }
    node->list.push_back(branch);
  }
  --loop_depth_;
  TRY(next());
  return node;
}

Parser::R Parser::simple_statement() {
  Token token = lex_.token;
  auto plain = [&](Op op) -> R {
    Node* node = make(op);
    TRY(next());
    return node;
  };
  auto at_stop = [&] {
    return is(Token::semicolon) || is(Token::newline) || is(Token::rbrace) || is(Token::end);
  };
  switch (token) {
    case Token::k_print:
    case Token::k_printf: return print_statement();
    case Token::k_break:
    case Token::k_continue:
      if (loop_depth_ == 0)
        return fail(Code::invalid_argument,
                    fmt::format("`{}' is not allowed outside a loop or switch", lex_.text));
      return plain(token == Token::k_break ? Op::break_ : Op::continue_);
    case Token::k_next: return plain(Op::next);
    case Token::k_nextfile: return plain(Op::nextfile);
    case Token::k_exit:
    case Token::k_return: {
      if (token == Token::k_return && !in_function_)
        return fail(Code::invalid_argument, "`return' used outside function context");
      Node* node = TRY(plain(token == Token::k_exit ? Op::exit_ : Op::return_));
      if (!at_stop()) node->a = TRY(expression());
      return node;
    }
    case Token::k_delete: {
      TRY(next());
      bool paren = is(Token::lparen);
      if (paren) TRY(next());
      Node* target = TRY(name());
      if (paren) TRY(expect(Token::rparen, ")"));
      return make(target->op == Op::index ? Op::delete_ : Op::delete_all, target);
    }
    default: return make(Op::expression, TRY(expression()));
  }
}

Parser::R Parser::print_statement() {
  Node* node = make(is(Token::k_print) ? Op::print : Op::printf_);
  TRY(next());
  bool saved = no_greater_;
  // In print, > begins a redirection and is no comparison, except inside of parentheses.
  no_greater_ = true;
  auto stop = [&] {
    return is(Token::semicolon) || is(Token::newline) || is(Token::rbrace) || is(Token::end) ||
           is(Token::greater) || is(Token::append) || is(Token::pipe);
  };
  if (!stop()) {
    bool done = false;
    if (is(Token::lparen)) {
      // print (a, b) > "file": the parentheses hold the whole list unless an operator follows.
      Lexer start = lex_;
      TRY(next());
      no_greater_ = false;
      auto inner = arguments(Token::rparen);
      no_greater_ = true;
      if (inner && stop()) {
        node->list = std::move(*inner);
        done = true;
      } else {
        lex_ = start;
      }
    }
    while (!done) {
      node->list.push_back(TRY(expression()));
      if (!is(Token::comma)) break;
      TRY(next());
      TRY(skip_newlines());
    }
  }
  if (is(Token::greater) || is(Token::append) || is(Token::pipe)) {
    node->redirect = is(Token::greater)  ? Redirect::file
                     : is(Token::append) ? Redirect::append
                                         : Redirect::pipe;
    TRY(next());
    no_pipe_getline_ = true;
    node->a = TRY(concatenation());
    no_pipe_getline_ = false;
  }
  no_greater_ = saved;
  if (node->op == Op::printf_ && node->list.empty())
    return fail(Code::invalid_argument, "printf: no arguments");
  return node;
}

Result<std::vector<Node*>> Parser::arguments(Token closing) {
  std::vector<Node*> list;
  TRY(skip_newlines());
  while (!is(closing)) {
    list.push_back(TRY(expression()));
    TRY(skip_newlines());
    if (is(Token::comma)) {
      TRY(next());
      TRY(skip_newlines());
      if (is(closing)) return unexpected_token();
    } else if (!is(closing)) {
      return unexpected_token();
    }
  }
  TRY(next());
  return list;
}

int Program::global(const std::string& name) {
  auto [it, inserted] = global_index.emplace(name, static_cast<int>(globals.size()));
  if (inserted) globals.push_back(name);
  return it->second;
}

Result<std::unique_ptr<Program>> parse(std::string_view source) {
  return Parser(source).run();
}

}  // namespace atl::shell::awk
