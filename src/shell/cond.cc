#include <fmt/format.h>

#include <charconv>

#include "shell/interpreter.h"
#include "shell/regex/regex.h"
#include "shell/scoped.h"

namespace atl::shell {

int Interpreter::cond(const Cond& command) {
  line = command.line;
  debug_trap(command);
  return cond_node(*command.root) ? 0 : cond_status_ == 2 ? 2 : 1;
}

bool Interpreter::cond_node(const CondNode& node) {
  using Kind = CondNode::Kind;
  cond_status_ = 1;
  switch (node.kind) {
    case Kind::word: {
      std::string text = expand_single(node.left);
      if (option(Opt::xtrace))
        err().write(fmt::format("{}[[ -n {} ]]\n", trace_prefix(), quote_if_needed(text)));
      return !text.empty();
    }
    case Kind::group:
      return cond_node(*node.a);
    case Kind::not_:
      return !cond_node(*node.a) && cond_status_ != 2;
    case Kind::and_:
      return cond_node(*node.a) && cond_node(*node.b);
    case Kind::or_:
      return cond_node(*node.a) || cond_node(*node.b);
    case Kind::unary: {
      std::string operand = expand_single(node.left);
      if (option(Opt::xtrace))
        err().write(fmt::format("{}[[ {} {} ]]\n", trace_prefix(), node.op, quote_if_needed(operand)));
      return test_unary(*this, node.op[1], operand);
    }
    case Kind::binary:
      return cond_binary(node);
  }
  return false;
}

bool Interpreter::cond_binary(const CondNode& node) {
  const std::string& op = node.op;
  std::string left = expand_single(node.left);
  if (op == "=~") {
    std::string pattern = expand_regex(node.right);
    if (option(Opt::xtrace))
      err().write(fmt::format("{}[[ {} =~ {} ]]\n", trace_prefix(), quote_if_needed(left), pattern));
    return regex_match(left, pattern);
  }
  if (op == "==" || op == "=" || op == "!=") {
    std::string pattern = expand_pattern(node.right);
    if (option(Opt::xtrace))
      err().write(fmt::format("{}[[ {} {} {} ]]\n", trace_prefix(), quote_if_needed(left), op,
                              pattern.empty() ? "''" : pattern));
    Restored<Options> options(state.options);
    state.options.put(Shopt::extglob, true);
    bool same = matches(left, pattern, option(Shopt::nocasematch));
    return same == (op != "!=");
  }
  std::string right = expand_single(node.right);
  if (option(Opt::xtrace))
    err().write(
        fmt::format("{}[[ {} {} {} ]]\n", trace_prefix(), quote_if_needed(left), op, quote_if_needed(right)));
  if (op == "<") return left < right;
  if (op == ">") return left > right;
  if (op == "-nt" || op == "-ot" || op == "-ef") return test_files(*this, op, left, right);
  std::int64_t a = 0, b = 0;
  try {
    a = evaluate(left);
    b = evaluate(right);
  } catch (const Abandoned& gone) {  // a number that is none fails the comparison, not the script
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

bool Interpreter::regex_match(const std::string& text, const std::string& pattern) {
  machine.charge(text.size() + pattern.size());
  const Regex* regex = machine.regex(pattern, option(Shopt::nocasematch));
  if (!regex) {
    cond_status_ = 2;
    return false;
  }
  std::vector<Regex::Span> spans;
  bool matched = regex->search(text, 0, spans);
  if (const Variable* variable = find("BASH_REMATCH"); variable && variable->is(attr::readonly))
    return matched;
  std::vector<std::string> groups;
  for (const Regex::Span& span : spans)
    if (matched) groups.push_back(span.matched() ? text.substr(span.begin, span.end - span.begin) : "");
  assign_array("BASH_REMATCH", std::move(groups));
  return matched;
}

// select: the menu on standard error, the answer from standard input.
int Interpreter::select(const For& command) {
  line = command.line;
  std::vector<std::string> words;
  if (command.has_words)
    words = expand(command.words);
  else if (state.args)
    words = *state.args;
  if (words.empty()) return 0;
  Raised loop(loop_depth);
  int status = 0;
  bool show = true;
  while (true) {
    machine.charge_iteration();
    if (show) {
      std::string menu;
      std::size_t width = std::to_string(words.size()).size();
      for (std::size_t i = 0; i < words.size(); ++i)
        menu += fmt::format("{:>{}}) {}\n", i + 1, width, words[i]);
      err().write(menu);
    }
    err().write(expand_prompt(get_value("PS3").value_or("#? ")));
    std::string answer;
    if (!in().read_line(answer)) {
      err().write("\n");
      return 1;
    }
    if (answer.empty()) {
      show = true;
      continue;
    }
    show = false;
    assign("REPLY", answer);
    std::size_t number = 0;
    auto [end, bad] = std::from_chars(answer.data(), answer.data() + answer.size(), number);
    bool good =
        bad == std::errc() && end == answer.data() + answer.size() && number >= 1 && number <= words.size();
    if (!assign(command.name, good ? words[number - 1] : "")) return 1;
    status = execute(*command.body);
    if (loop_should_end()) return state.status;
    if (!get_value("REPLY") || get_or_empty("REPLY").empty()) show = true;
  }
  return status;
}

}  // namespace atl::shell
