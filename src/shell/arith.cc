#include "shell/arith.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace atl::shell::arith {

namespace {

enum Op : int {
  o_add = 1,
  o_sub,
  o_mul,
  o_div,
  o_mod,
  o_pow,
  o_shl,
  o_shr,
  o_lt,
  o_le,
  o_gt,
  o_ge,
  o_eq,
  o_ne,
  o_and,
  o_xor,
  o_or,
  o_land,
  o_lor,
  o_not,
  o_bnot,
  o_neg,
  o_plus,
  o_inc,
  o_dec,
  o_set,
};

// Levels of parentheses and of assignments in one expression; the reader recurses on the fiber's stack.
constexpr int depth_max = 1024;

struct Token {
  enum Type { end, number, name, op, bad } type = end;
  std::string_view text;
  std::int64_t value = 0;
  std::size_t at = 0;
};

bool name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) { next(); }

  std::unique_ptr<Node> whole() {
    if (token_.type == Token::end) {
      auto zero = std::make_unique<Node>();
      zero->kind = Kind::number;
      return zero;
    }
    auto out = comma();
    if (token_.type != Token::end) {
      if (token_.type == Token::op || token_.type == Token::bad)
        fail("syntax error: invalid arithmetic operator");
      fail("syntax error in expression");
    }
    return out;
  }

 private:
  [[noreturn]] void fail(std::string_view what) {
    std::string_view rest = text_.substr(std::min(token_.at, text_.size()));
    if (token_.type == Token::end) {
      // bash points at the last token.
      rest = text_.substr(std::min(last_at_, text_.size()));
    }
    throw Error{fmt::format("{}: {} (error token is \"{}\")", text_, what, rest)};
  }

  void next() {
    last_at_ = token_.at;
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    token_.at = at_;
    token_.text = {};
    if (at_ >= text_.size()) {
      token_.type = Token::end;
      return;
    }
    char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (name_start(c)) {
      std::size_t end = at_;
      while (end < text_.size() && name_char(text_[end])) ++end;
      token_.type = Token::name;
      token_.text = text_.substr(at_, end - at_);
      at_ = end;
      return;
    }
    for (std::string_view op : {"<<=", ">>=", "**", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
                                "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|="}) {
      if (text_.substr(at_).starts_with(op)) {
        token_.type = Token::op;
        token_.text = text_.substr(at_, op.size());
        at_ += op.size();
        return;
      }
    }
    token_.text = text_.substr(at_, 1);
    token_.type =
        std::string_view("+-*/%<>=!~&|^?:,()").find(c) != std::string_view::npos ? Token::op : Token::bad;
    ++at_;
  }

  // Up to base 36 letters mean the same in both cases; above it lower case comes first, then upper case, @
  // and _.
  static int digit_value(char c, std::int64_t base) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return base <= 36 ? c - 'A' + 10 : c - 'A' + 36;
    if (c == '@') return 62;
    if (c == '_') return 63;
    return 99;
  }

  void number() {
    std::size_t end = at_;
    while (end < text_.size() && (name_char(text_[end]) || text_[end] == '#' || text_[end] == '@')) ++end;
    std::string_view text = text_.substr(at_, end - at_);
    token_.type = Token::number;
    token_.text = text;
    at_ = end;
    std::int64_t base = 10;
    std::size_t from = 0;
    std::size_t hash = text.find('#');
    if (hash != std::string_view::npos) {
      base = 0;
      for (char c : text.substr(0, hash)) {
        if (!std::isdigit(static_cast<unsigned char>(c)) || base > 64) fail("invalid number");
        base = base * 10 + (c - '0');
      }
      if (base < 2 || base > 64) fail("invalid arithmetic base");
      from = hash + 1;
      if (from == text.size()) fail("invalid integer constant");
    } else if (text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
      base = 16;
      from = 2;
    } else if (text.size() > 1 && text[0] == '0') {
      base = 8;
      from = 1;
    }
    // Too large a number wraps around, as in bash.
    std::uint64_t value = 0;
    for (char c : text.substr(from)) {
      int digit = digit_value(c, base);
      if (digit >= base)
        fail(digit < 99 ? "value too great for base" : "syntax error: invalid arithmetic operator");
      value = value * static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(digit);
    }
    token_.value = static_cast<std::int64_t>(value);
  }

  bool is(std::string_view op) const { return token_.type == Token::op && token_.text == op; }

  std::unique_ptr<Node> make(Kind kind, int op, std::unique_ptr<Node> a, std::unique_ptr<Node> b = nullptr) {
    auto out = std::make_unique<Node>();
    out->kind = kind;
    out->op = op;
    out->a = std::move(a);
    out->b = std::move(b);
    return out;
  }

  std::unique_ptr<Node> comma() {
    auto left = assign();
    while (is(",")) {
      next();
      left = make(Kind::comma, 0, std::move(left), assign());
    }
    return left;
  }

  static int assign_op(std::string_view text) {
    if (text == "=") return o_set;
    if (text == "+=") return o_add;
    if (text == "-=") return o_sub;
    if (text == "*=") return o_mul;
    if (text == "/=") return o_div;
    if (text == "%=") return o_mod;
    if (text == "<<=") return o_shl;
    if (text == ">>=") return o_shr;
    if (text == "&=") return o_and;
    if (text == "^=") return o_xor;
    if (text == "|=") return o_or;
    return 0;
  }

  std::unique_ptr<Node> assign() {
    if (++depth_ > depth_max) throw Error{"expression recursion level exceeded"};
    auto left = ternary();
    int op = token_.type == Token::op ? assign_op(token_.text) : 0;
    if (op) {
      if (left->kind != Kind::variable) fail("attempted assignment to non-variable");
      next();
      // Messages of bash quote the expression from the offending token on; division needs it when it runs.
      auto rest = std::string(text_.substr(std::min(token_.at, text_.size())));
      left = make(Kind::assign, op, std::move(left), assign());
      left->rest = std::move(rest);
    }
    --depth_;
    return left;
  }

  std::unique_ptr<Node> ternary() {
    auto condition = binary(0);
    if (!is("?")) return condition;
    next();
    if (is(":")) fail("expression expected");
    auto yes = comma();
    if (!is(":")) fail("`:' expected for conditional expression");
    next();
    if (token_.type == Token::end) fail("expression expected");
    auto no = ++depth_ > depth_max ? throw Error{"expression recursion level exceeded"} : ternary();
    --depth_;
    auto out = make(Kind::ternary, 0, std::move(condition), std::move(yes));
    out->c = std::move(no);
    return out;
  }

  struct Level {
    std::string_view text;
    int op;
    int level;
  };
  static const Level* binary_op(const Token& token) {
    static constexpr Level levels[] = {
        {"||", o_lor, 0}, {"&&", o_land, 1}, {"|", o_or, 2},   {"^", o_xor, 3}, {"&", o_and, 4},
        {"==", o_eq, 5},  {"!=", o_ne, 5},   {"<", o_lt, 6},   {">", o_gt, 6},  {"<=", o_le, 6},
        {">=", o_ge, 6},  {"<<", o_shl, 7},  {">>", o_shr, 7}, {"+", o_add, 8}, {"-", o_sub, 8},
        {"*", o_mul, 9},  {"/", o_div, 9},   {"%", o_mod, 9},
    };
    if (token.type != Token::op) return nullptr;
    for (const Level& row : levels)
      if (row.text == token.text) return &row;
    return nullptr;
  }

  // Precedence climbing: the right operand takes only operators that bind more tightly, which makes equal
  // ones group to the left.
  std::unique_ptr<Node> binary(int level) {
    auto left = power();
    while (true) {
      const Level* row = binary_op(token_);
      if (!row || row->level < level) return left;
      next();
      std::string rest(text_.substr(std::min(token_.at, text_.size())));
      auto right = binary(row->level + 1);
      left = make(Kind::binary, row->op, std::move(left), std::move(right));
      if (row->op == o_div || row->op == o_mod) left->rest = std::move(rest), left->name = std::string(text_);
    }
  }

  std::unique_ptr<Node> power() {
    auto base = unary();
    if (!is("**")) return base;
    next();
    std::string rest(text_.substr(std::min(token_.at, text_.size())));
    // ** groups to the right. A sign binds more tightly, as in bash: -2**2 is 4.
    auto out = make(Kind::binary, o_pow, std::move(base), power());
    out->rest = std::move(rest);
    out->name = std::string(text_);
    return out;
  }

  std::unique_ptr<Node> unary() {
    if (token_.type == Token::op) {
      int op = token_.text == "!"   ? o_not
               : token_.text == "~" ? o_bnot
               : token_.text == "-" ? o_neg
               : token_.text == "+" ? o_plus
                                    : 0;
      if (op) {
        next();
        if (++depth_ > depth_max) throw Error{"expression recursion level exceeded"};
        auto out = make(Kind::unary, op, unary());
        --depth_;
        return out;
      }
      if (token_.text == "++" || token_.text == "--") {
        int step = token_.text == "++" ? o_inc : o_dec;
        Token save = token_;
        std::size_t save_at = at_;
        next();
        // ++ before a name is the operator; before anything else it is two signs.
        if (token_.type == Token::name) {
          auto target = primary();
          return make(Kind::pre, step, std::move(target));
        }
        // --5 is two minus signs.
        token_ = save;
        at_ = save_at;
        next();
        int sign = step == o_inc ? o_plus : o_neg;
        return make(Kind::unary, sign, make(Kind::unary, sign, unary()));
      }
    }
    auto out = primary();
    while (is("++") || is("--")) {
      // 5++ : the reader stops, and whole() complains about what is left, in bash's words.
      if (out->kind != Kind::variable) {
        if (out->kind == Kind::number) break;
        fail("syntax error: operand expected");
      }
      out = make(Kind::post, token_.text == "++" ? o_inc : o_dec, std::move(out));
      next();
    }
    return out;
  }

  std::unique_ptr<Node> primary() {
    auto out = std::make_unique<Node>();
    if (token_.type == Token::number) {
      out->kind = Kind::number;
      out->number = token_.value;
      next();
      return out;
    }
    if (token_.type == Token::name) {
      out->kind = Kind::variable;
      out->name = std::string(token_.text);
      if (at_ < text_.size() && text_[at_] == '[') subscript(*out);
      next();
      return out;
    }
    if (is("(")) {
      if (++depth_ > depth_max) throw Error{"expression recursion level exceeded"};
      next();
      auto inner = comma();
      if (!is(")")) fail("missing `)'");
      next();
      --depth_;
      if (inner->kind == Kind::variable)
        return make(Kind::unary, o_plus, std::move(inner));  // (x) is no target
      return inner;
    }
    fail("syntax error: operand expected");
  }

  void subscript(Node& out) {
    // The text of a subscript is not parsed here: whether it is a key or an expression depends on the
    // variable when it runs.
    int depth = 0;
    std::size_t end = at_;
    for (; end < text_.size(); ++end) {
      if (text_[end] == '[') ++depth;
      if (text_[end] == ']' && --depth == 0) break;
    }
    if (end >= text_.size()) {
      token_.at = at_ - out.name.size();
      throw Error{fmt::format("{}: bad array subscript", text_.substr(token_.at))};
    }
    out.has_subscript = true;
    out.subscript = std::string(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t last_at_ = 0;
  Token token_;
  int depth_ = 0;
};

// Values of variables are expressions again (a=b b=a): this counts how deep they lead into each other.
thread_local int recursion = 0;
struct Recursion {
  Recursion() { ++recursion; }
  ~Recursion() { --recursion; }
};

std::int64_t wrap(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

std::int64_t apply(int op, std::int64_t x, std::int64_t y, const Node& node) {
  auto ux = static_cast<std::uint64_t>(x);
  auto uy = static_cast<std::uint64_t>(y);
  switch (op) {
    case o_add: return wrap(ux + uy);
    case o_sub: return wrap(ux - uy);
    case o_mul: return wrap(ux * uy);
    case o_div:
    case o_mod:
      if (y == 0) throw Error{fmt::format("{}: division by 0 (error token is \"{}\")", node.name, node.rest)};
      // The smallest number divided by -1 would trap.
      if (y == -1) return op == o_div ? wrap(0 - ux) : 0;
      return op == o_div ? x / y : x % y;
    case o_pow: {
      if (y < 0)
        throw Error{fmt::format("{}: exponent less than 0 (error token is \"{}\")", node.name, node.rest)};
      std::uint64_t result = 1, base = ux;
      for (auto e = uy; e; e >>= 1, base *= base)
        if (e & 1) result *= base;
      return wrap(result);
    }
    // Shifting by 64 or more is undefined in C; the processor, and so bash, takes the count modulo 64.
    case o_shl: return wrap(ux << (uy & 63));
    case o_shr: return x >> (uy & 63);
    case o_lt: return x < y;
    case o_le: return x <= y;
    case o_gt: return x > y;
    case o_ge: return x >= y;
    case o_eq: return x == y;
    case o_ne: return x != y;
    case o_and: return x & y;
    case o_xor: return x ^ y;
    case o_or: return x | y;
    default: return y;
  }
}

// A variable with its subscript worked out: a key, or an index as text.
struct Place {
  std::string name;
  bool indexed = false;
  std::string subscript;
  const std::string* key() const { return indexed ? &subscript : nullptr; }
};

Place place(const Node& node, Scope& scope) {
  Place out;
  out.name = node.name;
  if (!node.has_subscript) return out;
  out.indexed = true;
  if (node.subscript == "@" || node.subscript == "*")
    out.subscript = node.subscript;
  else if (scope.is_assoc(node.name))
    out.subscript = scope.expand_key(node.subscript);
  else if (node.subscript.find_first_of("$`") != std::string::npos)
    out.subscript = std::to_string(evaluate_text(scope.expand_key(node.subscript), scope));
  else
    out.subscript = std::to_string(evaluate_text(node.subscript, scope));
  return out;
}

std::int64_t value_of(const Place& where, Scope& scope) {
  if (!where.indexed)
    if (auto number = scope.number(where.name)) return *number;
  std::string text = scope.get(where.name, where.key());
  if (auto number = plain_number(text)) return *number;
  return evaluate_text(text, scope);
}

}  // namespace

// A decimal number without a leading zero and of at most 18 digits, which cannot overflow: nearly every
// number of a script, without building a tree. Empty text is 0, as in bash.
std::optional<std::int64_t> plain_number(std::string_view text) {
  if (text.empty()) return 0;
  bool negative = text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 18 || (text[0] == '0' && text.size() > 1)) return std::nullopt;
  std::int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

std::shared_ptr<const Node> parse(std::string_view text) {
  std::string kept(text);
  Reader reader(kept);
  return reader.whole();
}

std::int64_t evaluate(const Node& node, Scope& scope) {
  switch (node.kind) {
    case Kind::number: return node.number;
    case Kind::variable: {
      if (!node.has_subscript) {
        if (auto number = scope.number(node.name)) return *number;
        std::string text = scope.get(node.name, nullptr);
        if (auto number = plain_number(text)) return *number;
        return evaluate_text(text, scope);
      }
      return value_of(place(node, scope), scope);
    }
    case Kind::unary: {
      std::int64_t x = evaluate(*node.a, scope);
      switch (node.op) {
        case o_not: return !x;
        case o_bnot: return ~x;
        case o_neg: return wrap(0 - static_cast<std::uint64_t>(x));
        default: return x;
      }
    }
    case Kind::binary: {
      std::int64_t x = evaluate(*node.a, scope);
      // The right side is not evaluated if the left decides.
      if (node.op == o_land) return x ? evaluate(*node.b, scope) != 0 : 0;
      if (node.op == o_lor) return x ? 1 : evaluate(*node.b, scope) != 0;
      return apply(node.op, x, evaluate(*node.b, scope), node);
    }
    case Kind::ternary: return evaluate(*node.a, scope) ? evaluate(*node.b, scope) : evaluate(*node.c, scope);
    case Kind::assign: {
      std::int64_t y;
      // The subscript of a[i++]=x is worked out before the right side, and once.
      if (!node.a->has_subscript && node.op == o_set) {
        y = evaluate(*node.b, scope);
        scope.set(node.a->name, nullptr, y);
        return y;
      }
      Place where = place(*node.a, scope);
      if (node.op == o_set) {
        y = evaluate(*node.b, scope);
      } else {
        std::int64_t x = value_of(where, scope);
        y = apply(node.op, x, evaluate(*node.b, scope), node);
      }
      scope.set(where.name, where.key(), y);
      return y;
    }
    case Kind::pre:
    case Kind::post: {
      if (!node.a->has_subscript)
        if (auto quick = scope.number(node.a->name)) {
          // Adding ~0 is subtracting one without signed overflow.
          auto changed = static_cast<std::uint64_t>(*quick) + (node.op == o_inc ? 1ULL : ~0ULL);
          scope.set(node.a->name, nullptr, wrap(changed));
          return node.kind == Kind::pre ? wrap(changed) : *quick;
        }
      Place where = place(*node.a, scope);
      std::int64_t old = value_of(where, scope);
      std::int64_t now = node.op == o_inc ? wrap(static_cast<std::uint64_t>(old) + 1)
                                          : wrap(static_cast<std::uint64_t>(old) - 1);
      scope.set(where.name, where.key(), now);
      return node.kind == Kind::pre ? now : old;
    }
    case Kind::comma: evaluate(*node.a, scope); return evaluate(*node.b, scope);
  }
  return 0;
}

std::int64_t evaluate_text(std::string_view text, Scope& scope) {
  if (auto number = plain_number(text)) return *number;
  Recursion guard;
  if (recursion > 256 || scope.stack_low())
    throw Error{fmt::format("{}: expression recursion level exceeded (error token is \"{}\")", text, text)};
  auto node = parse(text);
  return evaluate(*node, scope);
}

}  // namespace atl::shell::arith
