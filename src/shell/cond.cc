#include <fmt/format.h>

#include "shell/quoting.h"
#include "shell/regex/regex.h"
#include "shell/runner.h"
#include "shell/scoped.h"

namespace atl::shell {

namespace {

// The evaluation of one [[ ... ]].
class Condition {
 public:
  explicit Condition(ShellRunner& shell) : shell_(shell) {}
  bool holds(const CondNode& node);
  // A regular expression was malformed.
  bool failed() const { return failed_; }

 private:
  bool binary(const CondNode& node);
  bool regex_match(const std::string& text, const std::string& pattern);
  bool compare_numbers(std::string_view op, const std::string& left, const std::string& right);
  // xtrace's line for one primary.
  void trace(std::string_view text) {
    if (shell_.option(Opt::xtrace))
      shell_.descriptors().err().write(fmt::format("{}[[ {} ]]\n", shell_.executor().trace_prefix(), text));
  }

  ShellRunner& shell_;
  bool failed_ = false;
};

bool Condition::holds(const CondNode& node) {
  using Kind = CondNode::Kind;
  failed_ = false;
  switch (node.kind) {
    case Kind::word: {
      std::string text = shell_.expander().single(node.left);
      trace(fmt::format("-n {}", quote_if_needed(text)));
      return !text.empty();
    }
    case Kind::group: return holds(*node.a);
    // A malformed expression is neither true nor false: ! does not turn it into success.
    case Kind::not_: return !holds(*node.a) && !failed_;
    case Kind::and_: return holds(*node.a) && holds(*node.b);
    case Kind::or_: return holds(*node.a) || holds(*node.b);
    case Kind::unary: {
      std::string operand = shell_.expander().single(node.left);
      trace(fmt::format("{} {}", node.op, quote_if_needed(operand)));
      return test_unary(shell_, node.op[1], operand);
    }
    case Kind::binary: return binary(node);
  }
  return false;
}

bool Condition::binary(const CondNode& node) {
  const std::string& op = node.op;
  std::string left = shell_.expander().single(node.left);
  if (op == "=~") {
    std::string pattern = shell_.expander().regex(node.right);
    trace(fmt::format("{} =~ {}", quote_if_needed(left), pattern));
    return regex_match(left, pattern);
  }
  if (op == "==" || op == "=" || op == "!=") {
    std::string pattern = shell_.expander().pattern(node.right);
    trace(fmt::format("{} {} {}", quote_if_needed(left), op, pattern.empty() ? "''" : pattern));
    // In [[ ]] patterns are extended whatever extglob says.
    Restored<Options> options(shell_.options());
    shell_.options().put(Shopt::extglob, true);
    bool same = shell_.expander().matches(left, pattern, shell_.option(Shopt::nocasematch));
    return same == (op != "!=");
  }
  std::string right = shell_.expander().single(node.right);
  trace(fmt::format("{} {} {}", quote_if_needed(left), op, quote_if_needed(right)));
  if (op == "<") return left < right;
  if (op == ">") return left > right;
  if (op == "-nt" || op == "-ot" || op == "-ef") return test_files(shell_, op, left, right);
  return compare_numbers(op, left, right);
}

bool Condition::compare_numbers(std::string_view op, const std::string& left, const std::string& right) {
  std::int64_t a = 0, b = 0;
  try {
    a = shell_.expander().evaluate(left);
    b = shell_.expander().evaluate(right);
  } catch (const Abandoned& gone) {  // a text that is no number fails the comparison, not the script
    if (gone.exit) throw;
    return false;
  }
  if (op == "-eq") return a == b;
  if (op == "-ne") return a != b;
  if (op == "-lt") return a < b;
  if (op == "-le") return a <= b;
  if (op == "-gt") return a > b;
  return a >= b;
}

bool Condition::regex_match(const std::string& text, const std::string& pattern) {
  shell_.machine().charge(text.size() + pattern.size());
  const Regex* regex = shell_.machine().regex(pattern, shell_.option(Shopt::nocasematch));
  if (!regex) {
    failed_ = true;
    return false;
  }
  std::vector<Regex::Span> spans;
  bool matched = regex->search(text, 0, spans);
  const Variable* before = shell_.variables().find("BASH_REMATCH");
  // bash keeps a read-only BASH_REMATCH without a word.
  if (before && before->is(attr::readonly)) return matched;
  std::vector<std::string> groups;
  for (const Regex::Span& span : spans)
    if (matched) groups.push_back(span.matched() ? text.substr(span.begin, span.end - span.begin) : "");
  shell_.variables().assign_array("BASH_REMATCH", std::move(groups));
  return matched;
}

}  // namespace

int evaluate_condition(ShellRunner& shell, const Cond& command) {
  shell.calls().line = command.line;
  shell.executor().debug_trap(command);
  Condition condition(shell);
  if (condition.holds(*command.root)) return 0;
  return condition.failed() ? 2 : 1;
}

}  // namespace atl::shell
