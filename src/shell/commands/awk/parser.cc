#include <fmt/format.h>

#include "shell/commands/awk/ast.h"
#include "shell/commands/awk/lexer.h"

namespace atl::shell::awk {

namespace {

constexpr std::string_view kSpecialNames[] = {
    "NR",       "NF",     "FNR",    "FS",         "OFS",     "RS",          "ORS",
    "FILENAME", "SUBSEP", "RSTART", "RLENGTH",    "CONVFMT", "OFMT",        "ENVIRON",
    "ARGC",     "ARGV",   "RT",     "IGNORECASE", "FPAT",    "FIELDWIDTHS", "PROCINFO"};
static_assert(std::size(kSpecialNames) == kSpecialCount);

constexpr int kDepthMax = 250;

#define CHECK(expression)                                          \
  do {                                                             \
    auto atoll_done_ = (expression);                               \
    if (!atoll_done_) return std::unexpected(atoll_done_.error()); \
  } while (false)

class Parser {
 public:
  explicit Parser(std::string_view source) : lex_(source), program_(std::make_unique<Program>()) {
    for (auto name : kSpecialNames) program_->global(std::string(name));
  }

  Result<std::unique_ptr<Program>> run();

 private:
  using R = Result<Node*>;

  Result<void> item();
  Result<void> function();
  R block();
  R statement();
  R simple_statement();
  R simple_or_block();
  R print_statement();
  R for_statement();
  R switch_statement();
  R expression() { return ternary_or_assign(); }
  R ternary_or_assign();
  R ternary();
  R logical_or();
  R logical_and();
  R membership();
  R matching();
  R comparison();
  R concatenation();
  R additive();
  R multiplicative();
  R unary();
  R power();
  R postfix();
  R primary();
  R grouping();
  R getline_tail(Op op, Node* source);
  R call(bool builtin);
  R name();
  Result<std::vector<Node*>> arguments(Token closing);

  Node* make(Op op, Node* a = nullptr, Node* b = nullptr, Node* c = nullptr) {
    program_->nodes.push_back(std::make_unique<Node>());
    Node* node = program_->nodes.back().get();
    node->op = op;
    node->line = lex_.line;
    node->a = a;
    node->b = b;
    node->c = c;
    return node;
  }
  bool is(Token token) const { return lex_.token == token; }
  Result<void> next() { return lex_.advance(); }
  Result<void> expect(Token token, std::string_view what) {
    if (!is(token)) return unexpected_token(what);
    return next();
  }
  std::unexpected<Error> unexpected_token(std::string_view wanted = {});
  Result<void> skip_newlines() {
    while (is(Token::newline)) CHECK(next());
    return {};
  }
  Result<void> skip_terminators() {
    while (is(Token::newline) || is(Token::semicolon)) CHECK(next());
    return {};
  }
  bool lvalue(const Node* node) const {
    return node->op == Op::global || node->op == Op::local || node->op == Op::field || node->op == Op::index;
  }
  bool starts_operand() const;

  struct Deeper {
    explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }
    int& depth_;
  };

  Lexer lex_;
  std::unique_ptr<Program> program_;
  std::unordered_map<std::string, int> locals_;
  int depth_ = 0;
  int loop_depth_ = 0;
  bool in_function_ = false;
  bool no_in_ = false;
  bool no_greater_ = false;
  bool no_pipe_getline_ = false;
};

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
    CHECK(next());
    CHECK(skip_terminators());
    while (!is(Token::end)) {
      CHECK(item());
      CHECK(skip_terminators());
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
    case Token::k_begin:
      rule.kind = Rule::Kind::begin;
      break;
    case Token::k_end:
      rule.kind = Rule::Kind::end;
      break;
    case Token::k_beginfile:
      rule.kind = Rule::Kind::begin_file;
      break;
    case Token::k_endfile:
      rule.kind = Rule::Kind::end_file;
      break;
    default:
      break;
  }
  if (rule.kind != Rule::Kind::pattern) {
    CHECK(next());
    CHECK(skip_newlines());
    if (!is(Token::lbrace)) return unexpected_token("{");
  } else if (!is(Token::lbrace)) {
    rule.pattern = TRY(expression());
    if (is(Token::comma)) {
      CHECK(next());
      CHECK(skip_newlines());
      rule.pattern_end = TRY(expression());
    }
  }
  if (is(Token::lbrace)) rule.body = TRY(block());
  program_->rules.push_back(std::move(rule));
  return {};
}

Result<void> Parser::function() {
  CHECK(next());
  if (!is(Token::name) && !is(Token::function_name)) return unexpected_token("a function name");
  std::string function_name = lex_.text;
  CHECK(next());
  CHECK(expect(Token::lparen, "("));
  std::vector<std::string> parameters;
  CHECK(skip_newlines());
  while (!is(Token::rparen)) {
    if (!is(Token::name)) return unexpected_token("a parameter name");
    parameters.push_back(lex_.text);
    CHECK(next());
    CHECK(skip_newlines());
    if (is(Token::comma)) {
      CHECK(next());
      CHECK(skip_newlines());
    }
  }
  CHECK(next());
  CHECK(skip_newlines());
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
  CHECK(expect(Token::lbrace, "{"));
  Node* node = make(Op::block);
  CHECK(skip_terminators());
  while (!is(Token::rbrace)) {
    if (is(Token::end)) return unexpected_token("}");
    node->list.push_back(TRY(statement()));
    CHECK(skip_terminators());
  }
  CHECK(next());
  return node;
}

Parser::R Parser::simple_or_block() {
  CHECK(skip_newlines());
  if (is(Token::semicolon)) {
    CHECK(next());
    return make(Op::block);
  }
  return statement();
}

Parser::R Parser::statement() {
  Deeper deeper(depth_);
  if (depth_ > kDepthMax) return fail(Code::invalid_argument, "program nested too deeply");
  switch (lex_.token) {
    case Token::lbrace:
      return block();
    case Token::semicolon:
      CHECK(next());
      return make(Op::block);
    case Token::k_if: {
      CHECK(next());
      CHECK(expect(Token::lparen, "("));
      Node* condition = TRY(expression());
      CHECK(expect(Token::rparen, ")"));
      Node* node = make(Op::if_, condition);
      node->b = TRY(simple_or_block());
      Lexer saved = lex_;
      while (is(Token::newline) || is(Token::semicolon)) CHECK(next());
      if (is(Token::k_else)) {
        CHECK(next());
        node->c = TRY(simple_or_block());
      } else {
        lex_ = saved;
      }
      return node;
    }
    case Token::k_while: {
      CHECK(next());
      CHECK(expect(Token::lparen, "("));
      Node* condition = TRY(expression());
      CHECK(expect(Token::rparen, ")"));
      Node* node = make(Op::while_, condition);
      ++loop_depth_;
      node->b = TRY(simple_or_block());
      --loop_depth_;
      return node;
    }
    case Token::k_do: {
      CHECK(next());
      ++loop_depth_;
      Node* body = TRY(simple_or_block());
      --loop_depth_;
      CHECK(skip_terminators());
      CHECK(expect(Token::k_while, "while"));
      CHECK(expect(Token::lparen, "("));
      Node* condition = TRY(expression());
      CHECK(expect(Token::rparen, ")"));
      return make(Op::do_, condition, body);
    }
    case Token::k_for:
      return for_statement();
    case Token::k_switch:
      return switch_statement();
    default:
      break;
  }
  Node* node = TRY(simple_statement());
  if (is(Token::semicolon) || is(Token::newline))
    CHECK(next());
  else if (!is(Token::rbrace) && !is(Token::end))
    return unexpected_token();
  return node;
}

Parser::R Parser::for_statement() {
  CHECK(next());
  CHECK(expect(Token::lparen, "("));
  if (is(Token::name)) {
    Lexer saved = lex_;
    Node* variable = TRY(name());
    if (variable->op != Op::index && is(Token::k_in)) {
      CHECK(next());
      if (is(Token::name)) {
        Node* array = TRY(name());
        if (is(Token::rparen)) {
          CHECK(next());
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
  CHECK(expect(Token::semicolon, ";"));
  CHECK(skip_newlines());
  if (!is(Token::semicolon)) node->b = TRY(expression());
  CHECK(expect(Token::semicolon, ";"));
  CHECK(skip_newlines());
  if (!is(Token::rparen)) node->c = TRY(simple_statement());
  CHECK(expect(Token::rparen, ")"));
  ++loop_depth_;
  node->d = TRY(simple_or_block());
  --loop_depth_;
  return node;
}

Parser::R Parser::switch_statement() {
  CHECK(next());
  CHECK(expect(Token::lparen, "("));
  Node* node = make(Op::switch_, TRY(expression()));
  CHECK(expect(Token::rparen, ")"));
  CHECK(skip_newlines());
  CHECK(expect(Token::lbrace, "{"));
  CHECK(skip_terminators());
  ++loop_depth_;
  while (!is(Token::rbrace)) {
    Node* branch = make(Op::block);  // a: the label, null for default
    if (is(Token::k_case)) {
      CHECK(next());
      bool saved = no_in_;
      branch->a = TRY(primary());
      no_in_ = saved;
    } else if (is(Token::k_default)) {
      CHECK(next());
    } else {
      return unexpected_token("case");
    }
    CHECK(expect(Token::colon, ":"));
    CHECK(skip_terminators());
    while (!is(Token::k_case) && !is(Token::k_default) && !is(Token::rbrace)) {
      if (is(Token::end)) return unexpected_token("}");
      branch->list.push_back(TRY(statement()));
      CHECK(skip_terminators());
    }
    node->list.push_back(branch);
  }
  --loop_depth_;
  CHECK(next());
  return node;
}

Parser::R Parser::simple_statement() {
  Token token = lex_.token;
  auto plain = [&](Op op) -> R {
    Node* node = make(op);
    CHECK(next());
    return node;
  };
  auto at_stop = [&] {
    return is(Token::semicolon) || is(Token::newline) || is(Token::rbrace) || is(Token::end);
  };
  switch (token) {
    case Token::k_print:
    case Token::k_printf:
      return print_statement();
    case Token::k_break:
    case Token::k_continue:
      if (loop_depth_ == 0)
        return fail(Code::invalid_argument,
                    fmt::format("`{}' is not allowed outside a loop or switch", lex_.text));
      return plain(token == Token::k_break ? Op::break_ : Op::continue_);
    case Token::k_next:
      return plain(Op::next);
    case Token::k_nextfile:
      return plain(Op::nextfile);
    case Token::k_exit:
    case Token::k_return: {
      if (token == Token::k_return && !in_function_)
        return fail(Code::invalid_argument, "`return' used outside function context");
      Node* node = TRY(plain(token == Token::k_exit ? Op::exit_ : Op::return_));
      if (!at_stop()) node->a = TRY(expression());
      return node;
    }
    case Token::k_delete: {
      CHECK(next());
      bool paren = is(Token::lparen);
      if (paren) CHECK(next());
      Node* target = TRY(name());
      if (paren) CHECK(expect(Token::rparen, ")"));
      return make(target->op == Op::index ? Op::delete_ : Op::delete_all, target);
    }
    default:
      return make(Op::expression, TRY(expression()));
  }
}

Parser::R Parser::print_statement() {
  Node* node = make(is(Token::k_print) ? Op::print : Op::printf_);
  CHECK(next());
  bool saved = no_greater_;
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
      CHECK(next());
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
      CHECK(next());
      CHECK(skip_newlines());
    }
  }
  if (is(Token::greater) || is(Token::append) || is(Token::pipe)) {
    node->redirect = is(Token::greater)  ? Redirect::file
                     : is(Token::append) ? Redirect::append
                                         : Redirect::pipe;
    CHECK(next());
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
  CHECK(skip_newlines());
  while (!is(closing)) {
    list.push_back(TRY(expression()));
    CHECK(skip_newlines());
    if (is(Token::comma)) {
      CHECK(next());
      CHECK(skip_newlines());
      if (is(closing)) return unexpected_token();
    } else if (!is(closing)) {
      return unexpected_token();
    }
  }
  CHECK(next());
  return list;
}

Parser::R Parser::ternary_or_assign() {
  Deeper deeper(depth_);
  if (depth_ > kDepthMax) return fail(Code::invalid_argument, "expression nested too deeply");
  Node* left = TRY(ternary());
  Op op = Op::assign;
  switch (lex_.token) {
    case Token::equals:
      break;
    case Token::add_assign:
      op = Op::add_assign;
      break;
    case Token::sub_assign:
      op = Op::subtract_assign;
      break;
    case Token::mul_assign:
      op = Op::multiply_assign;
      break;
    case Token::div_assign:
      op = Op::divide_assign;
      break;
    case Token::mod_assign:
      op = Op::modulo_assign;
      break;
    case Token::pow_assign:
      op = Op::power_assign;
      break;
    default:
      return left;
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
  CHECK(next());
  CHECK(skip_newlines());
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
  CHECK(next());
  CHECK(skip_newlines());
  Node* yes = TRY(ternary_or_assign());
  CHECK(skip_newlines());
  CHECK(expect(Token::colon, ":"));
  CHECK(skip_newlines());
  Node* no = TRY(ternary_or_assign());
  return make(Op::conditional, condition, yes, no);
}

Parser::R Parser::logical_or() {
  Node* left = TRY(logical_and());
  while (is(Token::or_)) {
    CHECK(next());
    CHECK(skip_newlines());
    left = make(Op::logical_or, left, TRY(logical_and()));
  }
  return left;
}

Parser::R Parser::logical_and() {
  Node* left = TRY(membership());
  while (is(Token::and_)) {
    CHECK(next());
    CHECK(skip_newlines());
    left = make(Op::logical_and, left, TRY(membership()));
  }
  return left;
}

Parser::R Parser::membership() {
  Node* left = TRY(matching());
  while (is(Token::k_in) && !no_in_) {
    CHECK(next());
    if (!is(Token::name)) return unexpected_token("an array");
    left = make(Op::in, left, TRY(name()));
  }
  return left;
}

Parser::R Parser::matching() {
  Node* left = TRY(comparison());
  while (is(Token::tilde) || is(Token::no_match)) {
    Op op = is(Token::tilde) ? Op::match : Op::no_match;
    CHECK(next());
    left = make(op, left, TRY(comparison()));
  }
  return left;
}

Parser::R Parser::comparison() {
  Node* left = TRY(concatenation());
  while (true) {
    Op op;
    switch (lex_.token) {
      case Token::less:
        op = Op::less;
        break;
      case Token::le:
        op = Op::less_equal;
        break;
      case Token::eq:
        op = Op::equal;
        break;
      case Token::ne:
        op = Op::not_equal;
        break;
      case Token::ge:
        op = Op::greater_equal;
        break;
      case Token::greater:
        if (no_greater_) return left;
        op = Op::greater;
        break;
      case Token::pipe:
        if (no_pipe_getline_) return left;
        {
          Lexer saved = lex_;
          CHECK(next());
          if (!is(Token::k_getline)) {
            lex_ = saved;
            return left;
          }
          CHECK(next());
          left = TRY(getline_tail(Op::getline_command, left));
          continue;
        }
      default:
        return left;
    }
    CHECK(next());
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
  while (starts_operand() && !(is(Token::k_in))) left = make(Op::concat, left, TRY(additive()));
  return left;
}

Parser::R Parser::additive() {
  Node* left = TRY(multiplicative());
  while (is(Token::plus) || is(Token::minus)) {
    Op op = is(Token::plus) ? Op::add : Op::subtract;
    CHECK(next());
    left = make(op, left, TRY(multiplicative()));
  }
  return left;
}

Parser::R Parser::multiplicative() {
  Node* left = TRY(unary());
  while (is(Token::star) || is(Token::slash) || is(Token::percent)) {
    Op op = is(Token::star) ? Op::multiply : is(Token::slash) ? Op::divide : Op::modulo;
    CHECK(next());
    left = make(op, left, TRY(unary()));
  }
  return left;
}

Parser::R Parser::unary() {
  Deeper deeper(depth_);
  if (depth_ > kDepthMax) return fail(Code::invalid_argument, "expression nested too deeply");
  if (is(Token::bang) || is(Token::minus) || is(Token::plus)) {
    Op op = is(Token::bang) ? Op::logical_not : is(Token::minus) ? Op::negate : Op::plus;
    CHECK(next());
    Node* operand = TRY(unary());
    return make(op, operand);
  }
  return power();
}

Parser::R Parser::power() {
  Node* base = TRY(postfix());
  if (!is(Token::caret)) return base;
  CHECK(next());
  Node* exponent = TRY(unary());
  return make(Op::power, base, exponent);
}

Parser::R Parser::postfix() {
  if (is(Token::increment) || is(Token::decrement)) {
    Op op = is(Token::increment) ? Op::pre_increment : Op::pre_decrement;
    CHECK(next());
    Node* target = TRY(primary());
    if (!lvalue(target)) return unexpected_token("a variable");
    return make(op, target);
  }
  Node* node = TRY(primary());
  if ((is(Token::increment) || is(Token::decrement)) && lvalue(node)) {
    Op op = is(Token::increment) ? Op::post_increment : Op::post_decrement;
    CHECK(next());
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
    CHECK(next());
    node->op = Op::getline_file;
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
  CHECK(next());
  while (is(Token::lbracket)) {
    CHECK(next());
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
  CHECK(next());
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
  CHECK(next());
  if (is(Token::lparen)) {
    CHECK(next());
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
      CHECK(next());
      return node;
    }
    case Token::string: {
      Node* node = make(Op::string);
      node->text = lex_.text;
      node->constant = Value::of(lex_.text);
      CHECK(next());
      return node;
    }
    case Token::slash:
    case Token::div_assign: {
      CHECK(lex_.regex());
      Node* node = make(Op::regex);
      node->text = lex_.text;
      CHECK(next());
      return node;
    }
    case Token::dollar: {
      Deeper deeper(depth_);
      if (depth_ > kDepthMax) return fail(Code::invalid_argument, "expression nested too deeply");
      CHECK(next());
      if (is(Token::increment) || is(Token::decrement)) return make(Op::field, TRY(postfix()));
      if (is(Token::minus)) {
        CHECK(next());
        return make(Op::field, make(Op::negate, TRY(primary())));
      }
      return make(Op::field, TRY(primary()));
    }
    case Token::minus:
    case Token::plus:
    case Token::bang:
      return unary();
    case Token::lparen:
      return grouping();
    case Token::name:
      return name();
    case Token::function_name:
      return call(false);
    case Token::builtin:
      return call(true);
    case Token::at: {
      CHECK(next());
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
    case Token::k_getline:
      CHECK(next());
      return getline_tail(Op::getline, nullptr);
    default:
      return unexpected_token();
  }
}

}  // namespace

int Program::global(const std::string& name) {
  auto [it, inserted] = global_index.emplace(name, static_cast<int>(globals.size()));
  if (inserted) globals.push_back(name);
  return it->second;
}

Result<std::unique_ptr<Program>> parse(std::string_view source) {
  return Parser(source).run();
}

}  // namespace atl::shell::awk
