#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "shell/commands/jq/ast.h"
#include "shell/commands/jq/machine.h"
#include "shell/parser_characters.h"
#include "shell/scoped.h"

namespace atl::shell::jq {

namespace {

// Levels of nesting in a program; each takes several frames of this parser.
constexpr int kProgramDepthMax = 200;

enum class Token : unsigned char { end, name, field, variable, format, number, string_start, op, keyword };

// Names of the environment at the place being parsed, innermost last; mirrors what Machine links at run time.
struct Scope {
  enum class Kind : unsigned char { variable, definition, parameter, label } kind;
  std::string name;
  std::size_t arity = 0;
};

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& globals)
      : in_(text), program_(std::make_unique<Program>()) {
    for (const std::string& name : globals) scopes_.push_back({Scope::Kind::variable, name, 0});
  }

  Result<std::unique_ptr<Program>> run() {
    TRY(next());
    if (token_ == Token::end) {
      program_->top = make(Op::identity);
      return std::move(program_);
    }
    program_->top = TRY(pipe());
    if (token_ != Token::end) return unexpected_token();
    return std::move(program_);
  }

 private:
  using R = Result<Node*>;

  Node* make(Op op, Node* a = nullptr, Node* b = nullptr) {
    program_->nodes.push_back(std::make_unique<Node>());
    Node* node = program_->nodes.back().get();
    node->op = op;
    node->a = a;
    node->b = b;
    return node;
  }
  Node* literal(Value value) {
    Node* node = make(Op::literal);
    node->value = std::move(value);
    return node;
  }
  bool is(std::string_view op) const {
    return (token_ == Token::op || token_ == Token::keyword) && text_ == op;
  }
  std::unexpected<Error> unexpected_token() const {
    return fail(Code::invalid_argument, token_ == Token::end
                                            ? "syntax error, unexpected end of file"
                                            : fmt::format("syntax error, unexpected '{}'", text_));
  }
  Result<void> expect(std::string_view op) {
    if (!is(op)) return unexpected_token();
    return next();
  }

  Result<void> next();
  R pipe();
  R comma();
  R binary(int level);
  R postfix();
  R term();
  R suffixes(Node* node);
  R string(std::string format);
  R object();
  Result<std::pair<Node*, Node*>> member();
  R conditional();
  R fold(bool foreach);
  R definition();
  R call();
  R bind(Node* source);
  Result<std::unique_ptr<Pattern>> pattern();
  static void names_of(const Pattern& pattern, std::vector<std::string>& names);
  R variable(const std::string& name);

  std::string_view in_;
  std::size_t at_ = 0;
  Token token_ = Token::end;
  std::string text_;
  double number_ = 0;
  std::unique_ptr<Program> program_;
  std::vector<Scope> scopes_;
  int depth_ = 0;
};

Result<void> Parser::next() {
  while (at_ < in_.size()) {
    if (isspace(static_cast<unsigned char>(in_[at_])))
      ++at_;
    else if (in_[at_] == '#')
      while (at_ < in_.size() && in_[at_] != '\n') ++at_;
    else
      break;
  }
  text_.clear();
  if (at_ >= in_.size()) {
    token_ = Token::end;
    return {};
  }
  char c = in_[at_];
  auto word = [&](std::size_t from) {
    std::size_t end = from;
    while (end < in_.size() && (name_char(in_[end]) || (in_.substr(end).starts_with("::") &&
                                                        end + 2 < in_.size() && name_start(in_[end + 2]))))
      end += in_[end] == ':' ? 2 : 1;
    std::string out(in_.substr(from, end - from));
    at_ = end;
    return out;
  };
  if (name_start(c)) {
    text_ = word(at_);
    static constexpr std::string_view kKeywords[] = {
        "def", "if",    "then",  "elif",   "else",    "end", "as", "reduce", "foreach",
        "try", "catch", "label", "import", "include", "and", "or", "__loc__"};
    token_ = Token::name;
    for (auto k : kKeywords)
      if (text_ == k) token_ = Token::keyword;
    return {};
  }
  if (c == '.' && at_ + 1 < in_.size() && name_start(in_[at_ + 1])) {
    text_ = word(at_ + 1);
    token_ = Token::field;
    return {};
  }
  if (c == '$') {
    std::size_t from = at_ + 1;
    while (from < in_.size() && isspace(static_cast<unsigned char>(in_[from]))) ++from;
    if (from >= in_.size() || !name_start(in_[from]))
      return fail(Code::invalid_argument, "syntax error, unexpected '$'");
    text_ = word(from);
    token_ = Token::variable;
    return {};
  }
  if (c == '@') {
    text_ = "@" + word(at_ + 1);
    token_ = Token::format;
    return {};
  }
  if (isdigit(static_cast<unsigned char>(c)) ||
      (c == '.' && at_ + 1 < in_.size() && isdigit(static_cast<unsigned char>(in_[at_ + 1])))) {
    std::string digits(in_.substr(at_, 400));
    char* end = nullptr;
    std::size_t stop = 0;
    while (stop < digits.size() && (isdigit(static_cast<unsigned char>(digits[stop])) || digits[stop] == '.'))
      ++stop;
    if (stop < digits.size() && (digits[stop] == 'e' || digits[stop] == 'E')) {
      std::size_t k = stop + 1;
      if (k < digits.size() && (digits[k] == '+' || digits[k] == '-')) ++k;
      if (k < digits.size() && isdigit(static_cast<unsigned char>(digits[k]))) {
        while (k < digits.size() && isdigit(static_cast<unsigned char>(digits[k]))) ++k;
        stop = k;
      }
    }
    digits.resize(stop);
    number_ = strtod(digits.c_str(), &end);
    at_ += static_cast<std::size_t>(end - digits.c_str());
    text_ = digits;
    token_ = Token::number;
    return {};
  }
  if (c == '"') {
    text_ = in_[at_++];
    token_ = Token::string_start;
    return {};
  }
  static constexpr std::string_view kOperators[] = {
      "?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "//", "..", "|", ",", "+",
      "-",   "*",   "/",  "%",  "<",  ">",  "=",  "(",  ")",  "[",  "]",  "{",  "}",  ":",  ";", ".", "?"};
  // Longer operators come before those that they begin with.
  for (auto op : kOperators) {
    if (!in_.substr(at_).starts_with(op)) continue;
    at_ += op.size();
    text_.assign(op);
    token_ = Token::op;
    return {};
  }
  return fail(Code::invalid_argument, fmt::format("syntax error, unexpected INVALID_CHARACTER '{}'", c));
}

Parser::R Parser::pipe() {
  Raised deeper(depth_);
  if (depth_ > kProgramDepthMax) return fail(Code::invalid_argument, "program nested too deeply");
  if (is("def")) return definition();
  if (token_ == Token::keyword && text_ == "label") {
    TRY(next());
    if (token_ != Token::variable) return unexpected_token();
    Node* node = make(Op::label);
    scopes_.push_back({Scope::Kind::label, text_, 0});
    TRY(next());
    TRY(expect("|"));
    node->a = TRY(pipe());
    scopes_.pop_back();
    return node;
  }
  Node* left = TRY(comma());
  // `e as $x | body`: the body is everything to the right.
  if (is("as")) return bind(left);
  if (!is("|")) return left;
  TRY(next());
  Node* right = TRY(pipe());
  return make(Op::pipe, left, right);
}

Parser::R Parser::bind(Node* source) {
  TRY(next());
  std::vector<std::unique_ptr<Pattern>> patterns;
  patterns.push_back(TRY(pattern()));
  while (is("?//")) {
    TRY(next());
    patterns.push_back(TRY(pattern()));
  }
  Node* node = make(patterns.size() == 1 ? Op::bind : Op::bind_alternatives, source);
  std::size_t before = scopes_.size();
  std::vector<std::string> names;
  for (auto& p : patterns) names_of(*p, names);
  // With ?// every alternative binds all names; those that it does not mention are null.
  if (patterns.size() > 1) {
    std::vector<std::string> unique;
    for (auto& n : names)
      if (std::find(unique.begin(), unique.end(), n) == unique.end()) unique.push_back(n);
    names = unique;
    node->all_variables = names;
  }
  // Scopes are pushed and popped exactly as Machine links environments: `levels` counts links.
  for (auto& n : names) scopes_.push_back({Scope::Kind::variable, n, 0});
  TRY(expect("|"));
  node->b = TRY(pipe());
  scopes_.resize(before);
  if (patterns.size() == 1)
    node->pattern = std::move(patterns[0]);
  else
    node->patterns = std::move(patterns);
  return node;
}

void Parser::names_of(const Pattern& p, std::vector<std::string>& names) {
  if (p.kind == Pattern::Kind::variable) names.push_back(p.name);
  for (const auto& entry : p.entries) {
    if (!entry.variable.empty()) names.push_back(entry.variable);
    if (entry.pattern) names_of(*entry.pattern, names);
  }
}

Result<std::unique_ptr<Pattern>> Parser::pattern() {
  Raised deeper(depth_);
  if (depth_ > kProgramDepthMax) return fail(Code::invalid_argument, "pattern nested too deeply");
  auto out = std::make_unique<Pattern>();
  if (token_ == Token::variable) {
    out->name = text_;
    TRY(next());
    return out;
  }
  if (is("[")) {
    out->kind = Pattern::Kind::array;
    TRY(next());
    while (true) {
      Pattern::Entry entry;
      entry.pattern = TRY(pattern());
      out->entries.push_back(std::move(entry));
      if (is(",")) {
        TRY(next());
        continue;
      }
      TRY(expect("]"));
      return out;
    }
  }
  TRY(expect("{"));
  out->kind = Pattern::Kind::object;
  while (true) {
    Pattern::Entry entry;
    if (token_ == Token::variable) {
      entry.variable = text_;
      entry.key = literal(Value(text_));
      TRY(next());
    } else if (token_ == Token::name || token_ == Token::keyword) {
      entry.key = literal(Value(text_));
      TRY(next());
    } else if (token_ == Token::string_start) {
      entry.key = TRY(string(""));
    } else {
      TRY(expect("("));
      entry.key = TRY(pipe());
      TRY(expect(")"));
    }
    if (is(":")) {
      TRY(next());
      entry.pattern = TRY(pattern());
    }
    out->entries.push_back(std::move(entry));
    if (is(",")) {
      TRY(next());
      continue;
    }
    TRY(expect("}"));
    return out;
  }
}

Parser::R Parser::definition() {
  TRY(next());
  if (token_ != Token::name && token_ != Token::keyword) return unexpected_token();
  Node* node = make(Op::def);
  node->definition = std::make_unique<Definition>();
  Definition& d = *node->definition;
  d.name = text_;
  TRY(next());
  if (is("(")) {
    do {
      TRY(next());
      if (token_ == Token::variable)
        d.parameters.push_back("$" + text_);
      else if (token_ == Token::name || token_ == Token::keyword)
        d.parameters.push_back(text_);
      else
        return unexpected_token();
      TRY(next());
    } while (is(";"));
    TRY(expect(")"));
  }
  TRY(expect(":"));
  std::size_t before = scopes_.size();
  // Before the body: a function may call itself.
  scopes_.push_back({Scope::Kind::definition, d.name, d.parameters.size()});
  for (const std::string& parameter : d.parameters) {
    // A value parameter is two links: the closure by its bare name, and the variable.
    bool by_value = parameter[0] == '$';
    scopes_.push_back({Scope::Kind::parameter, by_value ? parameter.substr(1) : parameter, 0});
    if (by_value) scopes_.push_back({Scope::Kind::variable, parameter.substr(1), 0});
  }
  d.body = TRY(pipe());
  scopes_.resize(before);
  TRY(expect(";"));
  scopes_.push_back({Scope::Kind::definition, d.name, d.parameters.size()});
  node->b = token_ == Token::end ? make(Op::identity) : TRY(pipe());
  scopes_.resize(before);
  return node;
}

Parser::R Parser::comma() {
  Node* left = TRY(binary(0));
  while (is(",")) {
    TRY(next());
    Node* right = TRY(binary(0));
    left = make(Op::comma, left, right);
  }
  return left;
}

// 0: // (right), 1: = |= += ... (none), 2: or, 3: and, 4: comparisons (none), 5: + -, 6: * / %
Parser::R Parser::binary(int level) {
  Raised deeper(depth_);
  if (depth_ > kProgramDepthMax * 8) return fail(Code::invalid_argument, "program nested too deeply");
  if (level == 7) return postfix();
  Node* left = TRY(binary(level + 1));
  while (true) {
    Op op = Op::identity;
    switch (level) {
      case 0:
        if (is("//")) op = Op::alternative;
        break;
      case 1:
        if (is("="))
          op = Op::assign;
        else if (is("|="))
          op = Op::update;
        else if (is("//="))
          op = Op::alternative_update;
        else if (is("+=") || is("-=") || is("*=") || is("/=") || is("%="))
          op = Op::arithmetic_update;
        break;
      case 2:
        if (is("or")) op = Op::or_;
        break;
      case 3:
        if (is("and")) op = Op::and_;
        break;
      case 4:
        if (is("=="))
          op = Op::equal;
        else if (is("!="))
          op = Op::not_equal;
        else if (is("<"))
          op = Op::less;
        else if (is("<="))
          op = Op::less_equal;
        else if (is(">"))
          op = Op::greater;
        else if (is(">="))
          op = Op::greater_equal;
        break;
      case 5:
        if (is("+"))
          op = Op::add;
        else if (is("-"))
          op = Op::subtract;
        break;
      default:
        if (is("*"))
          op = Op::multiply;
        else if (is("/"))
          op = Op::divide;
        else if (is("%"))
          op = Op::modulo;
    }
    if (op == Op::identity) return left;
    char symbol = text_[0];
    TRY(next());
    // // binds to the right.
    Node* right = TRY(level == 0 ? binary(0) : binary(level + 1));
    left = make(op, left, right);
    left->arithmetic = symbol == '+'   ? Op::add
                       : symbol == '-' ? Op::subtract
                       : symbol == '*' ? Op::multiply
                       : symbol == '/' ? Op::divide
                                       : Op::modulo;
    // These do not chain: `a == b == c` is a syntax error.
    if (level == 0 || level == 1 || level == 4) return left;
  }
}

Parser::R Parser::postfix() {
  Raised deeper(depth_);
  if (depth_ > kProgramDepthMax * 8) return fail(Code::invalid_argument, "program nested too deeply");
  if (is("-")) {
    TRY(next());
    return make(Op::negate, TRY(postfix()));
  }
  if (is("reduce") || is("foreach")) return fold(is("foreach"));
  if (is("if")) {
    Node* node = TRY(conditional());
    return suffixes(node);
  }
  if (is("def")) return definition();
  if (is("try")) {
    TRY(next());
    Node* node = make(Op::try_, TRY(postfix()));
    if (is("catch")) {
      TRY(next());
      node->b = TRY(postfix());
    }
    return node;
  }
  Node* node = TRY(term());
  node = TRY(suffixes(node));
  if (is("as")) return bind(node);
  return node;
}

Parser::R Parser::suffixes(Node* node) {
  while (true) {
    if (token_ == Token::field) {
      Node* field = make(Op::field, node);
      field->text = text_;
      TRY(next());
      node = field;
    } else if (is(".")) {
      TRY(next());
      if (token_ == Token::string_start) {
        Node* key = TRY(string(""));
        node = make(Op::index, node, key);
      } else if (is("[")) {
        continue;
      } else {
        return unexpected_token();
      }
    } else if (is("?")) {
      TRY(next());
      node = make(Op::try_, node);
    } else if (is("[")) {
      TRY(next());
      if (is("]")) {
        TRY(next());
        node = make(Op::iterate, node);
        continue;
      }
      Node* from = nullptr;
      if (!is(":")) from = TRY(pipe());
      if (is(":")) {
        TRY(next());
        Node* slice = make(Op::slice, node, from);
        if (!is("]")) slice->c = TRY(pipe());
        TRY(expect("]"));
        node = slice;
      } else {
        TRY(expect("]"));
        node = make(Op::index, node, from);
      }
    } else {
      return node;
    }
  }
}

Parser::R Parser::string(std::string format) {
  // at_ stands behind the opening quote.
  Node* node = make(Op::format_string);
  node->text = std::move(format);
  std::string run;
  while (true) {
    if (at_ >= in_.size())
      return fail(Code::invalid_argument, "syntax error, unexpected end of file, unterminated string");
    char c = in_[at_++];
    if (c == '"') break;
    if (c != '\\') {
      run += c;
      continue;
    }
    if (at_ >= in_.size()) return fail(Code::invalid_argument, "unterminated string");
    char e = in_[at_++];
    if (e == '(') {
      node->list.push_back(literal(Value(run)));
      run.clear();
      TRY(next());
      node->list.push_back(TRY(pipe()));
      if (!is(")")) return unexpected_token();
      continue;
    }
    if (e == 'u') {
      std::size_t end = at_ + 4;
      // A pair of surrogates is one character.
      if (in_.substr(std::min(end, in_.size())).starts_with("\\u") && in_.size() >= end + 6 &&
          (in_[at_] == 'd' || in_[at_] == 'D'))
        end += 6;
      auto decoded = parse_json(fmt::format("\"\\u{}\"", in_.substr(at_, end - at_)));
      if (!decoded) return fail(Code::invalid_argument, "invalid \\uXXXX escape in string");
      run += decoded->text();
      at_ = end;
      continue;
    }
    static constexpr std::string_view kFrom = "ntrbf\"\\/";
    static constexpr std::string_view kTo = "\n\t\r\b\f\"\\/";
    std::size_t found = kFrom.find(e);
    if (found == std::string_view::npos)
      return fail(Code::invalid_argument, fmt::format("invalid escape '\\{}' in string", e));
    run += kTo[found];
  }
  TRY(next());
  if (node->list.empty()) return literal(Value(run));
  node->list.push_back(literal(Value(run)));
  return node;
}

Parser::R Parser::conditional() {
  TRY(next());
  Node* node = make(Op::if_, TRY(pipe()));
  TRY(expect("then"));
  node->b = TRY(pipe());
  if (is("elif")) {
    node->c = TRY(conditional());
    return node;
  }
  if (is("else")) {
    TRY(next());
    node->c = TRY(pipe());
  }
  TRY(expect("end"));
  return node;
}

Parser::R Parser::fold(bool foreach) {
  TRY(next());
  Node* node = make(foreach ? Op::foreach_ : Op::reduce);
  Node* source = TRY(term());
  node->a = TRY(suffixes(source));
  if (!is("as")) return unexpected_token();
  TRY(next());
  node->pattern = TRY(pattern());
  TRY(expect("("));
  node->b = TRY(pipe());
  TRY(expect(";"));
  std::size_t before = scopes_.size();
  std::vector<std::string> names;
  names_of(*node->pattern, names);
  for (auto& n : names) scopes_.push_back({Scope::Kind::variable, n, 0});
  node->c = TRY(pipe());
  if (foreach && is(";")) {
    TRY(next());
    node->d = TRY(pipe());
  }
  scopes_.resize(before);
  TRY(expect(")"));
  return suffixes(node);
}

Parser::R Parser::variable(const std::string& name) {
  if (name == "ENV") return make(Op::environment);
  if (name == "__loc__") {
    Value where = Value::object();
    where.own_members().at("file") = Value(std::string("<top-level>"));
    where.own_members().at("line") = Value(static_cast<double>(
        1 + std::count(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(at_), '\n')));
    return literal(where);
  }
  // Innermost first, so that a later binding of a name hides an earlier one.
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    if (scopes_[i].kind == Scope::Kind::variable && scopes_[i].name == name) {
      Node* node = make(Op::variable);
      node->levels = static_cast<int>(scopes_.size() - 1 - i);
      return node;
    }
  }
  return fail(Code::invalid_argument, fmt::format("error: ${} is not defined", name));
}

Parser::R Parser::call() {
  std::string name = text_;
  TRY(next());
  if (name == "break" && token_ == Token::variable) {
    for (std::size_t i = scopes_.size(); i-- > 0;) {
      if (scopes_[i].kind == Scope::Kind::label && scopes_[i].name == text_) {
        Node* node = make(Op::break_);
        node->levels = static_cast<int>(scopes_.size() - 1 - i);
        TRY(next());
        return node;
      }
    }
    return fail(Code::invalid_argument, fmt::format("$*label-{} is not defined", text_));
  }
  std::vector<Node*> arguments;
  if (is("(")) {
    do {
      TRY(next());
      arguments.push_back(TRY(pipe()));
    } while (is(";"));
    TRY(expect(")"));
  }
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    const Scope& scope = scopes_[i];
    // Functions differ by the number of their parameters: f and f(x) are two.
    bool callable = scope.kind == Scope::Kind::definition || scope.kind == Scope::Kind::parameter;
    if (!callable || scope.name != name || scope.arity != arguments.size()) continue;
    Node* node = make(scope.kind == Scope::Kind::definition ? Op::call_definition : Op::call_parameter);
    node->levels = static_cast<int>(scopes_.size() - 1 - i);
    node->list = std::move(arguments);
    return node;
  }
  const Builtin* builtin = find_builtin(name, arguments.size());
  if (!builtin)
    return fail(Code::invalid_argument, fmt::format("error: {}/{} is not defined", name, arguments.size()));
  Node* node = make(Op::call_builtin);
  node->builtin = builtin;
  node->text = name;
  node->list = std::move(arguments);
  return node;
}

Parser::R Parser::term() {
  Raised deeper(depth_);
  if (depth_ > kProgramDepthMax * 8) return fail(Code::invalid_argument, "program nested too deeply");
  switch (token_) {
    case Token::number: {
      Node* node = literal(Value(number_));
      TRY(next());
      return node;
    }
    case Token::string_start: return string("");
    case Token::format: {
      std::string format = text_;
      TRY(next());
      if (token_ == Token::string_start) return string(format);
      Node* node = make(Op::format);
      node->text = format;
      return node;
    }
    case Token::field: {
      Node* node = make(Op::field, make(Op::identity));
      node->text = text_;
      TRY(next());
      return node;
    }
    case Token::variable: {
      Node* node = TRY(variable(text_));
      TRY(next());
      return node;
    }
    case Token::name: return call();
    case Token::keyword:
      if (text_ == "if") return conditional();
      if (text_ == "reduce" || text_ == "foreach") return fold(text_ == "foreach");
      if (text_ == "def") return definition();
      return unexpected_token();
    default: break;
  }
  if (is("(")) {
    TRY(next());
    Node* node = TRY(pipe());
    TRY(expect(")"));
    return node;
  }
  if (is("[")) {
    TRY(next());
    Node* node = make(Op::array);
    if (!is("]")) node->a = TRY(pipe());
    TRY(expect("]"));
    return node;
  }
  if (is("{")) return object();
  if (is("..")) {
    TRY(next());
    return make(Op::recurse_default);
  }
  if (is(".")) {
    TRY(next());
    Node* node = make(Op::identity);
    if (token_ == Token::string_start) {
      Node* key = TRY(string(""));
      return make(Op::index, node, key);
    }
    return node;
  }
  return unexpected_token();
}

Parser::R Parser::object() {
  TRY(next());
  Node* node = make(Op::object);
  while (!is("}")) {
    node->members.push_back(TRY(member()));
    if (is(","))
      TRY(next());
    else if (!is("}"))
      return unexpected_token();
  }
  TRY(next());
  return node;
}

Result<std::pair<Node*, Node*>> Parser::member() {
  Node* key = nullptr;
  Node* value = nullptr;
  if (token_ == Token::variable) {
    std::string name = text_;
    key = literal(Value(name));
    value = TRY(variable(name));
    if (name == "__loc__") key = literal(Value(std::string("__loc__")));
    TRY(next());
    if (!is(":")) return std::pair{key, value};
  } else if (token_ == Token::name || token_ == Token::keyword) {
    key = literal(Value(text_));
    Node* field = make(Op::field, make(Op::identity));
    field->text = text_;
    value = field;
    TRY(next());
  } else if (token_ == Token::number) {
    key = literal(Value(text_));
    TRY(next());
  } else if (token_ == Token::string_start || token_ == Token::format) {
    std::string format;
    if (token_ == Token::format) {
      format = text_;
      TRY(next());
    }
    key = TRY(string(format));
    value = make(Op::index, make(Op::identity), key);
  } else {
    TRY(expect("("));
    key = TRY(pipe());
    TRY(expect(")"));
  }
  if (is(":")) {
    TRY(next());
    // The value is an expression without comma and pipe, but pipes of alternatives: ExpD.
    Node* left = TRY(binary(0));
    while (is("|")) {
      TRY(next());
      Node* right = TRY(binary(0));
      left = make(Op::pipe, left, right);
    }
    value = left;
  }
  if (!value) return unexpected_token();
  return std::pair{key, value};
}

}  // namespace

Result<std::unique_ptr<Program>> parse(std::string_view text, const std::vector<std::string>& globals) {
  return Parser(text, globals).run();
}

}  // namespace atl::shell::jq
