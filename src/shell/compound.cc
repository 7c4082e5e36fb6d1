#include <fmt/format.h>

#include <charconv>

#include "shell/quoting.h"
#include "shell/runner.h"
#include "shell/scoped.h"

namespace atl::shell {

int Executor::list(const List& command) {
  int status = shell_.last().status;
  for (const List::Item& item : command.items) {
    status = item.background ? start_background(item.command) : execute(*item.command);
    shell_.last().status = status;
    if (flow_ != Flow::none) return status;
  }
  return status;
}

int Executor::and_or(const AndOr& command) {
  int status;
  {
    Raised guard(no_errexit_);
    status = execute(*command.first);
  }
  for (std::size_t i = 0; i < command.rest.size(); ++i) {
    if (flow_ != Flow::none) return shell_.last().status;
    const AndOr::Next& next = command.rest[i];
    shell_.last().status = status;
    // `a && b || c`: what is skipped leaves the status for the next one to judge.
    if (next.is_and != (status == 0)) continue;
    // Only the last one counts for errexit: the others are conditions.
    if (i + 1 == command.rest.size()) {
      status = execute(*next.command);
    } else {
      Raised guard(no_errexit_);
      status = execute(*next.command);
    }
  }
  return status;
}

int Executor::subshell(const Grouped& command) {
  ShellRunner child(shell_, ShellRunner::Subshell::plain);
  return child.executor().finish_subshell([&] { return child.executor().execute(*command.body); });
}

int Executor::if_(const If& command) {
  for (const If::Arm& arm : command.arms) {
    int status;
    {
      Raised guard(no_errexit_);
      status = execute(*arm.condition);
    }
    if (flow_ != Flow::none) return shell_.last().status;
    if (status == 0) return execute(*arm.body);
  }
  // No branch taken is success.
  if (command.otherwise) return execute(*command.otherwise);
  return 0;
}

// After a pass of a loop's body: true if the loop is over.
bool Executor::loop_should_end() {
  if (flow_ == Flow::none) return false;
  if (flow_ == Flow::break_) {
    // `break 5` in two loops ends both.
    if (--flow_count_ <= 0 || loop_depth_ == 1) flow_ = Flow::none;
    return true;
  }
  if (flow_ == Flow::continue_) {
    if (--flow_count_ <= 0 || loop_depth_ == 1) {
      flow_ = Flow::none;
      return false;
    }
    return true;
  }
  return true;
}

// The loop variable: a reference is pointed at each word in turn.
bool Executor::assign_loop_variable(const std::string& name, std::string& word) {
  const Variable* variable = shell_.variables().find(name);
  if (!variable || !variable->is(attr::nameref)) return shell_.variables().assign(name, word);
  if (variable->is(attr::readonly)) {
    shell_.error(fmt::format("{}: readonly variable", name));
    return false;
  }
  if (!is_name(word.substr(0, word.find('[')))) {
    shell_.error(fmt::format("`{}': not a valid identifier", word));
    return false;
  }
  Variable* edit = shell_.variables().find_edit(name);
  edit->value = word;
  edit->set = true;
  return true;
}

int Executor::for_(const For& command) {
  shell_.calls().line = command.line;
  if (!is_name(command.name)) {
    shell_.error(fmt::format("`{}': not a valid identifier", command.name));
    if (shell_.option(Opt::posix)) throw Abandoned{true, 1};
    return 1;
  }
  std::vector<std::string> words;
  if (command.has_words)
    words = shell_.expander().expand(command.words);
  else if (shell_.calls().args)
    words = *shell_.calls().args;
  Raised loop(loop_depth_);
  int status = 0;
  for (std::string& word : words) {
    shell_.machine().charge_iteration();
    shell_.calls().line = command.line;
    debug_trap(command);
    if (shell_.option(Opt::xtrace)) {
      std::string text = trace_prefix() + "for " + command.name + " in";
      for (const std::string& w : words) text += " " + quote_if_needed(w);
      shell_.descriptors().err().write(text + "\n");
    }
    if (!assign_loop_variable(command.name, word)) return 1;
    status = execute(*command.body);
    if (loop_should_end()) return shell_.last().status;
  }
  return status;
}

int Executor::arith_for(const ArithFor& command) {
  shell_.calls().line = command.line;
  auto value = [&](const ArithText& text, std::int64_t otherwise) {
    // An empty test is true, an empty step nothing; neither runs the DEBUG trap.
    if (text.constant && text.text.find_first_not_of(" \t\n") == std::string::npos) return otherwise;
    debug_trap(command);
    if (shell_.option(Opt::xtrace))
      shell_.descriptors().err().write(
          fmt::format("{}(( {} ))\n", trace_prefix(), shell_.expander().arith_text(text)));
    return shell_.expander().evaluate(text);
  };
  Raised loop(loop_depth_);
  int status = 0;
  try {
    value(*command.init, 0);
    while (value(*command.test, 1) != 0) {
      shell_.machine().charge_iteration();
      status = execute(*command.body);
      if (loop_should_end()) return shell_.last().status;
      // The trap and messages of the step name the line of the `for`.
      shell_.calls().line = command.line;
      value(*command.step, 0);
    }
  } catch (const Abandoned& gone) {
    if (gone.exit) throw;
    return gone.status;
  }
  return status;
}

int Executor::while_(const While& command) {
  Raised loop(loop_depth_);
  int status = 0;
  while (true) {
    shell_.machine().charge_iteration();
    int condition;
    {
      Raised guard(no_errexit_);
      condition = execute(*command.condition);
    }
    if (flow_ == Flow::exit || flow_ == Flow::return_) return shell_.last().status;
    if ((condition == 0) == command.until) {
      // `break` or `continue` stood in the condition.
      if (flow_ != Flow::none) loop_should_end();
      return status;
    }
    // `continue` in the condition skips the body.
    if (flow_ == Flow::none) status = execute(*command.body);
    if (loop_should_end()) return shell_.last().status;
  }
}

int Executor::case_(const Case& command) {
  shell_.calls().line = command.line;
  debug_trap(command);
  std::string subject = shell_.expander().single(command.subject);
  if (shell_.option(Opt::xtrace))
    shell_.descriptors().err().write(fmt::format("{}case {} in\n", trace_prefix(), quote_if_needed(subject)));
  int status = 0;
  bool fall = false;
  for (const Case::Arm& arm : command.arms) {
    bool hit = fall;
    for (std::size_t i = 0; !hit && i < arm.patterns.size(); ++i) {
      const Word& word = arm.patterns[i];
      bool star =
          word.parts.size() == 1 && word.parts[0].kind == PartKind::literal && word.parts[0].text == "*";
      hit = star || shell_.expander().matches(subject, shell_.expander().pattern(word),
                                              shell_.option(Shopt::nocasematch));
    }
    if (!hit) continue;
    status = arm.body ? execute(*arm.body) : 0;
    if (flow_ != Flow::none || arm.end == Case::End::stop) return arm.body ? shell_.last().status : status;
    // ;& runs the next body without asking; ;;& goes on asking.
    fall = arm.end == Case::End::fall;
  }
  return status;
}

int Executor::define(const FunctionDef& command) {
  shell_.calls().line = command.line;
  const Function* old = shell_.names().find_function(command.name);
  if (old && old->readonly) {
    shell_.error(fmt::format("{}: readonly function", command.name));
    return 1;
  }
  if (shell_.option(Opt::posix)) {
    const Builtin* builtin = find_builtin(command.name);
    if (builtin && builtin->special)
      shell_.abandon(fmt::format("`{}': is a special builtin", command.name), true, 2);
    if (!is_name(command.name))
      shell_.abandon(fmt::format("`{}': not a valid identifier", command.name), true, 1);
  }
  Function function;
  // Copied: the tree of the script may be gone when the function is called.
  function.definition = std::make_shared<FunctionDef>(command);
  function.source = shell_.origin().script_name;
  // The file that is being read now, the innermost one.
  for (std::size_t i = shell_.calls().frames.size(); i-- > 0;) {
    if (!shell_.calls().frames[i]->source.empty()) {
      function.source = shell_.calls().frames[i]->source;
      break;
    }
  }
  if (old) function.exported = old->exported;
  if (shell_.option(Opt::allexport)) function.exported = true;
  shell_.names().functions().edit().insert_or_assign(command.name, std::move(function));
  return 0;
}

int Executor::arith_command(const ArithCommand& command) {
  shell_.calls().line = command.line;
  debug_trap(command);
  if (shell_.option(Opt::xtrace))
    shell_.descriptors().err().write(
        fmt::format("{}(( {} ))\n", trace_prefix(), shell_.expander().arith_text(*command.text)));
  try {
    return shell_.expander().evaluate(*command.text) == 0 ? 1 : 0;
  } catch (const Abandoned& gone) {
    if (gone.exit) throw;
    return 1;
  }
}

// select: the menu on standard error, the answer from standard input.
int Executor::select(const For& command) {
  shell_.calls().line = command.line;
  std::vector<std::string> words;
  if (command.has_words)
    words = shell_.expander().expand(command.words);
  else if (shell_.calls().args)
    words = *shell_.calls().args;
  if (words.empty()) return 0;
  Raised loop(loop_depth_);
  int status = 0;
  // An empty answer shows the menu again.
  bool show = true;
  while (true) {
    shell_.machine().charge_iteration();
    if (show) {
      std::string menu;
      std::size_t width = std::to_string(words.size()).size();
      for (std::size_t i = 0; i < words.size(); ++i)
        menu += fmt::format("{:>{}}) {}\n", i + 1, width, words[i]);
      shell_.descriptors().err().write(menu);
    }
    shell_.descriptors().err().write(
        shell_.expander().prompt(shell_.variables().get_value("PS3").value_or("#? ")));
    std::string answer;
    if (!shell_.descriptors().in().read_line(answer)) {
      shell_.descriptors().err().write("\n");
      return 1;
    }
    if (answer.empty()) {
      show = true;
      continue;
    }
    show = false;
    shell_.variables().assign("REPLY", answer);
    std::size_t number = 0;
    auto [end, bad] = std::from_chars(answer.data(), answer.data() + answer.size(), number);
    bool good =
        bad == std::errc() && end == answer.data() + answer.size() && number >= 1 && number <= words.size();
    if (!shell_.variables().assign(command.name, good ? words[number - 1] : "")) return 1;
    status = execute(*command.body);
    if (loop_should_end()) return shell_.last().status;
    if (!shell_.variables().get_value("REPLY") || shell_.variables().get_or_empty("REPLY").empty())
      show = true;
  }
  return status;
}

}  // namespace atl::shell
