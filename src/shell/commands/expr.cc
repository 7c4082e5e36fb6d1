#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/decimal/number.h"
#include "shell/regex/regex.h"
#include "shell/text/quotes.h"

namespace atl::shell::expr_program {

namespace {

using decimal::Integer;

// Of one operand. What is longer is no number, because multiplying takes the square of it.
constexpr std::size_t kDigitsMax = 10'000;

// expr's grammar over the arguments; recursion is bounded by their number's limit.
class Expression {
 public:
  Expression(Invocation& call, std::vector<std::string> words) : call_(call), words_(std::move(words)) {}

  bool run(std::string& out, std::string& problem, int& status) {
    out = either(true);
    if (problem_.empty() && at_ < words_.size())
      complain(fmt::format("syntax error: unexpected argument {}", quote_operand(words_[at_])));
    problem = problem_;
    status = status_;
    return problem_.empty();
  }

 private:
  void complain(std::string text, int status = 2) {
    if (!problem_.empty()) return;
    problem_ = std::move(text);
    status_ = status;
  }
  bool is(std::string_view word) const { return at_ < words_.size() && words_[at_] == word; }
  // Empty or zero, which expr treats alike.
  static bool null(const std::string& v) {
    if (v.empty()) return true;
    std::size_t i = v[0] == '-' && v.size() > 1 ? 1 : 0;
    return v.find_first_not_of('0', i) == std::string::npos && v.size() > i;
  }
  bool number(const std::string& v, Integer& out) {
    std::size_t i = v.starts_with('-') ? 1 : 0;
    if (i == v.size() || v.size() > kDigitsMax || v.find_first_not_of("0123456789", i) != std::string::npos)
      return false;
    call_.charge(v.size() * v.size() / 1024 + 1);
    // Zeros in front would make it octal.
    const std::size_t first = std::min(v.find_first_not_of('0', i), v.size() - 1);
    out = Integer(v.substr(first));
    if (i == 1) out = -out;
    return true;
  }

  std::string either(bool evaluate) {
    if (++depth_ > 500) {
      complain("expression nested too deeply");
      return "";
    }
    std::string left = both(evaluate);
    while (problem_.empty() && is("|")) {
      ++at_;
      // The right side is still parsed when the left one decides, but nothing in it is an error then.
      std::string right = both(evaluate && null(left));
      if (null(left)) left = null(right) ? "0" : right;
    }
    --depth_;
    return left;
  }
  std::string both(bool evaluate) {
    std::string left = comparison(evaluate);
    while (problem_.empty() && is("&")) {
      ++at_;
      std::string right = comparison(evaluate && !null(left));
      if (null(left) || null(right)) left = "0";
    }
    return left;
  }
  std::string comparison(bool evaluate) {
    std::string left = sum(evaluate);
    while (problem_.empty() &&
           (is("<") || is("<=") || is("=") || is("==") || is("!=") || is(">=") || is(">"))) {
      std::string op = words_[at_++];
      std::string right = sum(evaluate);
      Integer a = 0, b = 0;
      int order = number(left, a) && number(right, b) ? a.compare(b) : left.compare(right);
      bool result = op == "<"                 ? order < 0
                    : op == "<="              ? order <= 0
                    : op == "=" || op == "==" ? order == 0
                    : op == "!="              ? order != 0
                    : op == ">="              ? order >= 0
                                              : order > 0;
      left = result ? "1" : "0";
    }
    return left;
  }
  std::string sum(bool evaluate) {
    std::string left = product(evaluate);
    while (problem_.empty() && (is("+") || is("-"))) {
      char op = words_[at_++][0];
      std::string right = product(evaluate);
      left = arithmetic(left, op, right, evaluate);
    }
    return left;
  }
  std::string product(bool evaluate) {
    std::string left = match(evaluate);
    while (problem_.empty() && (is("*") || is("/") || is("%"))) {
      char op = words_[at_++][0];
      std::string right = match(evaluate);
      left = arithmetic(left, op, right, evaluate);
    }
    return left;
  }
  std::string arithmetic(const std::string& left, char op, const std::string& right, bool evaluate) {
    if (!evaluate || !problem_.empty()) return left;
    Integer a = 0, b = 0;
    if (!number(left, a) || !number(right, b)) {
      complain("non-integer argument");
      return "";
    }
    if ((op == '/' || op == '%') && b == 0) {
      complain("division by zero");
      return "";
    }
    switch (op) {
      case '+': return Integer(a + b).str();
      case '-': return Integer(a - b).str();
      case '*': return Integer(a * b).str();
      case '/': return Integer(a / b).str();
      default: return Integer(a % b).str();
    }
  }
  std::string match(bool evaluate) {
    std::string left = primary(evaluate);
    while (problem_.empty() && is(":")) {
      ++at_;
      std::string right = primary(evaluate);
      left = matched(left, right);
    }
    return left;
  }
  std::string matched(const std::string& subject, const std::string& pattern) {
    auto regex = Regex::compile(pattern, Syntax::basic);
    if (!regex) {
      complain(regex.error().message());
      return "";
    }
    std::vector<Regex::Span> spans;
    call_.charge(subject.size() + 1);
    // Patterns are anchored at the start. A first match elsewhere may hide one at the start.
    bool found = regex->search(subject, 0, spans) && spans[0].begin == 0;
    if (!found) {
      Regex::Span span;
      found = regex->match_at(subject, 0, subject.size(), span);
      if (found) spans[0] = span;
    }
    if (regex->groups() > 0)
      return found && spans[1].matched() ? subject.substr(spans[1].begin, spans[1].end - spans[1].begin) : "";
    if (!found) return "0";
    return std::to_string(utf8::count_starts(std::string_view(subject).substr(0, spans[0].end)));
  }
  std::string primary(bool evaluate) {
    if (at_ >= words_.size()) {
      complain(at_ ? fmt::format("syntax error: missing argument after {}", quote_operand(words_[at_ - 1]))
                   : "missing operand");
      return "";
    }
    std::string word = words_[at_++];
    if (word == "(") {
      std::string value = either(evaluate);
      if (!problem_.empty()) return "";
      if (!is(")")) {
        complain(at_ < words_.size()
                     ? fmt::format("syntax error: expecting ')' instead of {}", quote_operand(words_[at_]))
                     : fmt::format("syntax error: expecting ')' after {}", quote_operand(words_.back())));
        return "";
      }
      ++at_;
      return value;
    }
    if (word == ")") {
      complain("syntax error: unexpected ')'");
      return "";
    }
    bool more = at_ < words_.size();
    // A word after + is a value even if it looks like an operator.
    if (word == "+" && more) return words_[at_++];
    if (word == "length" && more) return std::to_string(utf8::count_starts(primary(evaluate)));
    if (word == "match" && more) {
      std::string s = primary(evaluate), p = primary(evaluate);
      return problem_.empty() ? matched(s, p) : "";
    }
    if (word == "index" && more) {
      std::string s = primary(evaluate), set = primary(evaluate);
      std::size_t at = s.find_first_of(set);
      return at == std::string::npos
                 ? "0"
                 : std::to_string(utf8::count_starts(std::string_view(s).substr(0, at)) + 1);
    }
    if (word == "substr" && more) {
      std::string s = primary(evaluate), from = primary(evaluate), count = primary(evaluate);
      Integer a = 0, b = 0;
      if (!number(from, a) || !number(count, b) || a < 1 || b < 1) return "";
      auto within = [&](const Integer& v) {
        return v > s.size() ? s.size() + 1 : static_cast<std::size_t>(v);
      };
      const std::size_t first = within(a), wanted = within(b);
      std::string out;
      std::size_t index = 1;
      for (std::size_t i = 0; i < s.size(); ++index) {
        std::size_t length = utf8::read_length(s, i);
        if (index >= first && index - first < wanted) out += s.substr(i, length);
        i += length;
      }
      return out;
    }
    return word;
  }

  Invocation& call_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
  int depth_ = 0, status_ = 0;
  std::string problem_;
};

}  // namespace

int run_expr(Invocation& call) {
  std::vector<std::string> words(call.args().begin() + 1, call.args().end());
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "--version")) {
    call.out().write("Usage: expr EXPRESSION\n");
    return 0;
  }
  if (!words.empty() && words[0] == "--") words.erase(words.begin());
  if (words.empty()) return usage_error(call, "missing operand", 2);
  std::string out, problem;
  int status = 0;
  if (!Expression(call, std::move(words)).run(out, problem, status)) return call.fail(problem, status);
  call.out().write(out + "\n");
  std::size_t i = out.size() > 1 && out[0] == '-' ? 1 : 0;
  // Success is a value that is neither empty nor zero.
  return out.empty() || out.find_first_not_of('0', i) == std::string::npos ? 1 : 0;
}

}  // namespace atl::shell::expr_program
