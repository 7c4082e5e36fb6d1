#include "shell/commands/bc/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atl::shell::bc {

namespace {

constexpr int kChainMax = 500;  // of && || and comparisons: these nest to the left

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || c == '.';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z');
}
bool is_word(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

ExprPtr make(Op op, ExprPtr a = nullptr, ExprPtr b = nullptr) {
  auto out = std::make_unique<Expr>();
  out->op = op;
  out->a = std::move(a);
  out->b = std::move(b);
  return out;
}

std::optional<Op> arithmetic(std::string_view symbol) {
  static constexpr std::pair<char, Op> kRows[] = {{'+', Op::add},    {'-', Op::subtract}, {'*', Op::multiply},
                                                  {'/', Op::divide}, {'%', Op::modulo},   {'^', Op::power}};
  for (auto [c, op] : kRows)
    if (symbol[0] == c) return op;
  return std::nullopt;
}

// What `print` makes of a backslash sequence.
std::string unescaped(std::string_view text) {
  static constexpr std::string_view kFrom = "abfnqrt\\\"", kTo = "\a\b\f\n\"\r\t\\\"";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    std::size_t which = kFrom.find(text[++i]);
    if (which != std::string_view::npos) out += kTo[which];
  }
  return out;
}

}  // namespace

void Parser::wrong(std::string message) {
  std::string text = std::move(message);
  // The rest of the line is not looked at.
  while (token_.type != Type::newline && token_.type != Type::end) {
    try {
      advance();
    } catch (const SyntaxError&) {
    }
  }
  throw SyntaxError{std::move(text)};
}

void Parser::skip_blanks() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
      at_ += 2;
      ++line_;
    } else if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      std::size_t end = text_.find("*/", at_ + 2);
      std::size_t stop = end == std::string_view::npos ? text_.size() : end + 2;
      for (; at_ < stop; ++at_) line_ += text_[at_] == '\n';
    } else {
      return;
    }
  }
}

std::string Parser::read_string() {
  std::size_t end = text_.find('"', at_ + 1);
  if (end == std::string_view::npos) end = text_.size();
  std::string out(text_.substr(at_ + 1, end - at_ - 1));
  for (char c : out) line_ += c == '\n';
  at_ = std::min(end + 1, text_.size());
  return out;
}

void Parser::advance() {
  skip_blanks();
  if (at_ >= text_.size()) {
    token_ = {Type::end, ""};
    return;
  }
  char c = text_[at_];
  std::size_t from = at_;
  if (c == '\n') {
    ++at_;
    ++line_;
    token_ = {Type::newline, "\n"};
  } else if (c == '"') {
    token_.text = read_string();
    token_.type = Type::text;
  } else if (is_digit(c)) {
    std::string digits;
    bool point = false;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_.substr(at_, 2) == "\\\n")) {
      if (text_[at_] == '\\') {
        at_ += 2;
        ++line_;
        continue;
      }
      if (text_[at_] == '.' && std::exchange(point, true)) break;
      digits += text_[at_++];
    }
    token_ = {Type::number, std::move(digits)};
  } else if (is_letter(c)) {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    token_ = {Type::name, std::string(text_.substr(from, at_ - from))};
  } else {
    static constexpr std::string_view kTwo[] = {"==", "!=", "<=", ">=", "++", "--", "&&",
                                                "||", "+=", "-=", "*=", "/=", "%=", "^="};
    std::size_t length = 1;
    for (std::string_view two : kTwo)
      if (text_.substr(at_, 2) == two) length = 2;
    token_ = {Type::symbol, std::string(text_.substr(at_, length))};
    at_ += length;
    if (length == 1 && std::string_view("+-*/%^=<>!(){}[];,&").find(c) == std::string_view::npos)
      throw SyntaxError{fmt::format("illegal character: {}", c)};
  }
}

bool Parser::take(std::string_view symbol) {
  if (!is(symbol)) return false;
  advance();
  return true;
}

void Parser::expect(std::string_view symbol) {
  if (!take(symbol)) wrong();
}

void Parser::newlines() {
  while (token_.type == Type::newline) advance();
}

std::optional<std::string> Parser::take_line() {
  if (at_ >= text_.size()) return std::nullopt;
  std::size_t end = text_.find('\n', at_);
  std::string out(text_.substr(at_, end == std::string_view::npos ? end : end - at_));
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
  ++line_;
  return out;
}

std::optional<std::vector<StatementPtr>> Parser::next(Functions& functions) {
  std::vector<StatementPtr> out;
  in_function_ = false;
  advance();
  if (token_.type == Type::end) return std::nullopt;
  if (word("define")) {
    definition(functions);
    return out;
  }
  while (token_.type != Type::newline && token_.type != Type::end) {
    if (take(";")) continue;
    out.push_back(statement());
    if (!is(";") && token_.type != Type::newline && token_.type != Type::end) wrong();
  }
  return out;
}

std::vector<Parameter> Parser::names() {
  std::vector<Parameter> out;
  while (true) {
    take("*");
    if (token_.type != Type::name) wrong();
    Parameter one{token_.text, false};
    advance();
    if (take("[")) {
      expect("]");
      one.array = true;
    }
    out.push_back(std::move(one));
    if (!take(",")) return out;
  }
}

void Parser::definition(Functions& functions) {
  advance();
  if (word("void")) advance();
  if (token_.type != Type::name) wrong();
  auto function = std::make_shared<Function>();
  std::string name = token_.text;
  advance();
  expect("(");
  if (!is(")")) function->parameters = names();
  expect(")");
  newlines();
  if (!is("{")) wrong();
  in_function_ = true;
  advance();
  newlines();
  if (word("auto")) {
    advance();
    function->locals = names();
    if (!is(";") && token_.type != Type::newline) wrong();
  }
  statements_to_brace(function->body);
  functions[name] = std::move(function);
}

// A statement, or a list of them in braces.
std::vector<StatementPtr> Parser::body() {
  std::vector<StatementPtr> out;
  out.push_back(statement());
  return out;
}

bool Parser::ends_statement() const {
  return is(";") || is("}") || token_.type == Type::newline || token_.type == Type::end;
}

void Parser::statements_to_brace(std::vector<StatementPtr>& out) {
  while (!is("}")) {
    if (token_.type == Type::end) wrong();
    if (take(";")) continue;
    if (token_.type == Type::newline) {
      advance();
      continue;
    }
    out.push_back(statement());
    if (!ends_statement()) wrong();
  }
}

StatementPtr Parser::statement() {
  if (stack_low_()) wrong("nesting too deep");
  auto out = std::make_unique<Statement>();
  if (take("{")) {
    out->kind = Kind::block;
    statements_to_brace(out->body);
    advance();
    return out;
  }
  if (token_.type == Type::text) {
    out->kind = Kind::text;
    out->text = token_.text;
    advance();
    return out;
  }
  if (word("if")) return if_statement();
  if (word("while")) return while_statement();
  if (word("for")) return for_statement();
  if (word("print")) return print_statement();
  if (word("quit")) throw Quit{};
  static constexpr std::pair<std::string_view, Kind> kPlain[] = {
      {"break", Kind::break_}, {"continue", Kind::continue_}, {"halt", Kind::halt}};
  for (auto [name, kind] : kPlain) {
    if (!word(name)) continue;
    out->kind = kind;
    advance();
    return out;
  }
  if (word("return")) {
    if (!in_function_) wrong("Return outside of a function.");
    out->kind = Kind::return_;
    advance();
    if (!ends_statement()) out->a = expression();
    return out;
  }
  out->a = expression();
  return out;
}

StatementPtr Parser::if_statement() {
  auto out = std::make_unique<Statement>();
  out->kind = Kind::if_;
  advance();
  expect("(");
  out->a = expression();
  expect(")");
  newlines();
  out->body = body();
  if (word("else")) {
    advance();
    newlines();
    out->otherwise = body();
  } else if (is(";")) {
    // "if (a) b; else c" on one line.
    std::size_t at = at_;
    int line = line_;
    Token held = token_;
    advance();
    if (word("else")) {
      advance();
      newlines();
      out->otherwise = body();
    } else {
      at_ = at;
      line_ = line;
      token_ = std::move(held);
    }
  }
  return out;
}

StatementPtr Parser::while_statement() {
  auto out = std::make_unique<Statement>();
  out->kind = Kind::while_;
  advance();
  expect("(");
  out->a = expression();
  expect(")");
  newlines();
  out->body = body();
  return out;
}

StatementPtr Parser::for_statement() {
  auto out = std::make_unique<Statement>();
  out->kind = Kind::for_;
  advance();
  expect("(");
  if (!is(";")) out->a = expression();
  expect(";");
  if (!is(";")) out->b = expression();
  expect(";");
  if (!is(")")) out->c = expression();
  expect(")");
  newlines();
  out->body = body();
  return out;
}

StatementPtr Parser::print_statement() {
  auto out = std::make_unique<Statement>();
  out->kind = Kind::print;
  do {
    advance();
    Printed part;
    if (token_.type == Type::text) {
      part.text = unescaped(token_.text);
      advance();
    } else {
      part.value = expression();
    }
    out->printed.push_back(std::move(part));
  } while (is(","));
  return out;
}

ExprPtr Parser::expression() {
  if (stack_low_()) wrong("nesting too deep");
  ExprPtr left = conjunction();
  for (int count = 0; take("||"); ++count) {
    if (count > kChainMax) wrong("expression too long");
    left = make(Op::or_, std::move(left), conjunction());
  }
  return left;
}

ExprPtr Parser::conjunction() {
  ExprPtr left = negation();
  for (int count = 0; take("&&"); ++count) {
    if (count > kChainMax) wrong("expression too long");
    left = make(Op::and_, std::move(left), negation());
  }
  return left;
}

ExprPtr Parser::negation() {
  if (stack_low_()) wrong("nesting too deep");
  if (take("!")) return make(Op::not_, negation());
  return relation();
}

ExprPtr Parser::relation() {
  static constexpr std::pair<std::string_view, Op> kRows[] = {{"==", Op::equal},  {"!=", Op::not_equal},
                                                              {"<", Op::less},    {"<=", Op::less_equal},
                                                              {">", Op::greater}, {">=", Op::greater_equal}};
  ExprPtr left = sum();
  for (int count = 0;; ++count) {
    if (count > kChainMax) wrong("expression too long");
    bool found = false;
    for (auto [symbol, op] : kRows) {
      if (!is(symbol)) continue;
      advance();
      left = make(op, std::move(left), sum());
      found = true;
      break;
    }
    if (!found) return left;
  }
}

// Operators of one rank, left to right: a list, because people sum up columns of any length.
ExprPtr Parser::chain(std::string_view operators, ExprPtr (Parser::*operand)()) {
  ExprPtr first = (this->*operand)();
  ExprPtr out;
  while (token_.type == Type::symbol && token_.text.size() == 1 &&
         operators.find(token_.text[0]) != std::string_view::npos) {
    if (!out) {
      out = make(Op::chain);
      out->list.push_back(std::move(first));
    }
    out->ops.push_back(*arithmetic(token_.text));
    advance();
    out->list.push_back((this->*operand)());
  }
  return out ? std::move(out) : std::move(first);
}

ExprPtr Parser::sum() {
  return chain("+-", &Parser::product);
}

ExprPtr Parser::product() {
  return chain("*/%", &Parser::raised);
}

ExprPtr Parser::raised() {
  if (stack_low_()) wrong("nesting too deep");
  ExprPtr left = unary();
  if (take("^")) return make(Op::power, std::move(left), raised());
  return left;
}

ExprPtr Parser::unary() {
  if (stack_low_()) wrong("nesting too deep");
  if (take("-")) return make(Op::negate, unary());
  if (is("++") || is("--")) {
    Op with = is("++") ? Op::add : Op::subtract;
    advance();
    if (token_.type != Type::name) wrong();
    std::string name = token_.text;
    advance();
    ExprPtr target = named(std::move(name));
    if (target->op != Op::variable && target->op != Op::element) wrong();
    ExprPtr out = make(Op::increment_before, std::move(target));
    out->with = with;
    return out;
  }
  return primary();
}

ExprPtr Parser::primary() {
  // A lone point is the last printed value.
  if (token_.type == Type::number && token_.text == ".") token_ = {Type::name, "last"};
  if (token_.type == Type::number) {
    ExprPtr out = make(Op::number);
    out->text = token_.text;
    advance();
    return out;
  }
  if (take("(")) {
    ExprPtr inner = expression();
    expect(")");
    inner->in_parentheses = true;
    return inner;
  }
  if (token_.type != Type::name) wrong();
  std::string name = token_.text;
  for (std::string_view reserved :
       {"if", "else", "while", "for", "define", "auto", "return", "break", "continue", "halt", "print"})
    if (name == reserved) wrong();
  if (name == "quit") throw Quit{};
  advance();
  return after_name(named(std::move(name)));
}

// A variable, an element, or a call.
ExprPtr Parser::named(std::string name) {
  static constexpr std::pair<std::string_view, Op> kOwn[] = {
      {"length", Op::length}, {"scale", Op::scale_of}, {"sqrt", Op::square_root}, {"read", Op::read}};
  if (take("(")) {
    ExprPtr out = make(Op::call);
    for (auto [own, op] : kOwn)
      if (name == own) out->op = op;
    out->text = std::move(name);
    while (!is(")")) {
      ExprPtr argument = expression();
      out->list.push_back(std::move(argument));
      if (!take(",")) break;
    }
    expect(")");
    if (out->op != Op::call && out->list.size() != (out->op == Op::read ? 0U : 1U)) wrong();
    return out;
  }
  if (take("[")) {
    if (take("]")) {
      ExprPtr out = make(Op::array);
      out->text = std::move(name);
      return out;
    }
    ExprPtr out = make(Op::element, expression());
    out->text = std::move(name);
    expect("]");
    return out;
  }
  ExprPtr out = make(Op::variable);
  out->text = std::move(name);
  return out;
}

ExprPtr Parser::after_name(ExprPtr target) {
  if (target->op != Op::variable && target->op != Op::element) return target;
  if (is("++") || is("--")) {
    ExprPtr out = make(Op::increment_after, std::move(target));
    out->with = is("++") ? Op::add : Op::subtract;
    advance();
    return out;
  }
  bool plain = is("=");
  if (!plain && !(token_.type == Type::symbol && token_.text.size() == 2 && token_.text[1] == '=' &&
                  arithmetic(token_.text)))
    return target;
  ExprPtr out = make(Op::assign, std::move(target));
  out->with = plain ? Op::assign : *arithmetic(token_.text);
  advance();
  out->b = sum();
  return out;
}

}  // namespace atl::shell::bc
