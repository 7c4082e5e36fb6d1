#include <fmt/format.h>

#include <algorithm>

#include "shell/expansion.h"
#include "shell/quoting.h"
#include "shell/runner.h"
#include "shell/scoped.h"
#include "shell/stack.h"

namespace atl::shell {

std::string Executor::trace_prefix() {
  std::string ps4 = shell_.variables().get_value("PS4").value_or("");
  if (ps4.empty()) return {};
  Restored<int> status(shell_.last().status);
  Restored<Options> options(shell_.options());
  // The prompt may run commands, and tracing those would never end.
  shell_.options().put(Opt::xtrace, false);
  std::string out;
  try {
    out = shell_.expander().prompt(ps4);
  } catch (const Abandoned&) {
    out = ps4;
  }
  // Its first character stands once for each level, as in bash.
  std::string first = out.substr(0, 1);
  for (int i = 0; i < shell_.subshell_level() && i < 8; ++i) out = first + out;
  return out;
}

void Executor::trace(const Args& words, const std::vector<std::string>& assigns) {
  std::string text = trace_prefix();
  bool first = true;
  for (const std::string& assign : assigns) {
    if (!first) text += ' ';
    first = false;
    text += assign;
  }
  for (const std::string& word : words) {
    if (!first) text += ' ';
    first = false;
    text += quote_if_needed(word);
  }
  text += '\n';
  OpenFilePtr to;
  if (auto fd = shell_.variables().get_value("BASH_XTRACEFD"); fd && !fd->empty()) {
    if (auto number = arith::plain_number(*fd)) to = shell_.descriptors().file(static_cast<int>(*number));
  }
  if (to)
    to->write(text);
  else
    shell_.descriptors().err().write(text);
}

void Executor::debug_trap(const Node& command) {
  if (shell_.traps().table()->empty() || !shell_.traps().active(trap_debug) ||
      shell_.traps().in_condition()) {
    return;
  }
  current_command_ = print_command(command);
  current_node_ = nullptr;
  shell_.traps().run(trap_debug, shell_.last().status);
}

int Executor::assignments_only(const SimpleCommand& command) {
  // Words that expanded to nothing have run their substitutions already.
  if (command.words.empty()) shell_.last().substitution = -1;
  shell_.last().argument.clear();
  std::vector<std::string> traced;
  for (const Assign& assign_to : command.assigns) {
    if (!shell_.variables().assign(assign_to)) {
      shell_.last().status = 1;
      throw Abandoned{shell_.option(Opt::posix), 1};
    }
    if (shell_.option(Opt::xtrace)) {
      if (assign_to.is_array)
        traced = {assign_to.raw};
      else {
        std::string value = shell_.variables().get_or_empty(assign_to.name);
        if (assign_to.has_index) value = shell_.expander().assignment(assign_to.value);
        traced = {assign_to.raw.substr(0, assign_to.raw.find('=') + 1) +
                  (value.empty() ? "" : quote_if_needed(value))};
      }
      trace({}, traced);
    }
  }
  int status = shell_.last().substitution >= 0 ? shell_.last().substitution : 0;
  // Bash opens {name}> without a command in a process of its own: the variable is not set here.
  bool named = std::any_of(command.redirects.begin(), command.redirects.end(),
                           [](const Redirect& one) { return !one.fd_var.empty(); });
  if (named) {
    ShellRunner child(shell_, ShellRunner::Subshell::command_substitution);
    return child.executor().finish_subshell(
        [&] { return child.redirections().apply(command.redirects, nullptr) ? status : 1; });
  }
  if (!command.redirects.empty()) {
    SavedFiles saved;
    Finally undo([&] { shell_.descriptors().restore(saved); });
    if (!shell_.redirections().apply(command.redirects, &saved)) return 1;
    if (shell_.last().substitution >= 0) status = shell_.last().substitution;
  }
  return status;
}

int Executor::simple(const SimpleCommand& command) {
  shell_.calls().line = command.line;
  if (shell_.traps().depth() == 0) {
    // BASH_COMMAND is printed from the tree when somebody asks; with traps, at once, because a trap asks
    // after the next command began. Commands of a trap leave it alone.
    if (shell_.traps().table()->empty()) {
      current_node_ = &command;
      current_command_.clear();
    } else {
      current_command_ = print_command(command);
      current_node_ = nullptr;
    }
  }
  if (!shell_.traps().table()->empty()) {
    debug_trap(command);
    if (flow_ == Flow::exit) return shell_.last().status;
    if (skip_command_) {
      skip_command_ = false;
      return shell_.last().status;
    }
  }
  if (command.words.empty()) return assignments_only(command);
  shell_.last().substitution = -1;
  Args args;
  std::size_t opened = shell_.jobs().substitutions();
  Finally close_substitutions([&] { shell_.jobs().finish_substitutions(opened); });
  int status = simple_words(command, args);
  return status;
}

// Expands the words, then redirects and runs.
int Executor::simple_words(const SimpleCommand& command, Args& args) {
  args.reserve(command.words.size());
  std::vector<const Assign*> assigns;
  bool any_assign = false;
  for (const Word& word : command.words) {
    if (!word.assign) {
      shell_.expander().expand_into(word, args);
      continue;
    }
    // One word may have expanded to several arguments: assigns[i] belongs to args[i].
    assigns.resize(args.size(), nullptr);
    any_assign = true;
    expand_declaration(*word.assign, args, assigns);
  }
  // All words expanded to nothing ($unset x=1 has none left): what remains is assignments and redirections.
  if (args.empty()) return assignments_only(command);
  if (shell_.option(Opt::xtrace)) {
    std::vector<std::string> shown;
    for (const Assign& assign_to : command.assigns) {
      if (assign_to.is_array)
        shown.push_back(assign_to.raw);
      else
        shown.push_back(assign_to.raw.substr(0, assign_to.raw.find('=') + 1) +
                        quote_if_needed(shell_.expander().assignment(assign_to.value)));
    }
    trace(args, shown);
  }
  argument_assigns_ = any_assign ? std::move(assigns) : std::vector<const Assign*>();
  return simple_dispatch(command, args);
}

// An argument of a declaration command that is an assignment; braces in it make several.
void Executor::expand_declaration(const Assign& assign_to, Args& args, std::vector<const Assign*>& assigns) {
  std::string text = assign_to.name;
  if (assign_to.has_index) text += "[" + assign_to.index.raw + "]";
  text += assign_to.append ? "+=" : "=";
  if (assign_to.is_array) {
    args.push_back(text + assign_to.raw.substr(std::min(assign_to.raw.size(), text.size())));
    assigns.push_back(&assign_to);
    return;
  }
  if (!assign_to.value.braces || !shell_.option(Opt::braceexpand)) {
    args.push_back(text + shell_.expander().assignment(assign_to.value));
    assigns.push_back(&assign_to);
    return;
  }
  bool too_many = false;
  std::vector<Word> values = expand_braces(assign_to.value, shell_.machine().limits.brace_items, too_many);
  if (too_many) shell_.machine().stop_limit(Limit::brace_items);
  for (const Word& value : values) {
    args.push_back(text + shell_.expander().assignment(value));
    assigns.push_back(values.size() == 1 ? &assign_to : nullptr);
  }
}

namespace {

// Whether expanding the word can change a variable.
bool may_assign(const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    if (part.kind == PartKind::arith) return true;
    if (part.kind == PartKind::dquote) return may_assign(part.children);
    return part.kind == PartKind::param &&
           (part.param->op != ParamOp::none || part.param->subscript != Subscript::none);
  });
}

bool may_assign(const std::vector<Redirect>& redirects) {
  return std::any_of(redirects.begin(), redirects.end(), [](const Redirect& redirect) {
    return may_assign(redirect.target.parts) || (redirect.here && may_assign(redirect.here->body.parts));
  });
}

}  // namespace

void Executor::assign_before(const SimpleCommand& command, bool keep, bool special) {
  std::size_t frames = shell_.calls().frames.size();
  Variables& variables = shell_.variables();
  // x=1 command: a frame hides what x was until the command has ended. In POSIX mode assignments before a
  // special builtin stay.
  if (!keep) variables.push_frame(Frame());
  for (const Assign& assign_to : command.assigns) {
    if (assign_to.has_index || assign_to.is_array) continue;  // an environment has no arrays
    std::string name = variables.resolve_name(assign_to.name);
    std::string value = shell_.expander().assignment(assign_to.value);
    const Variable* old = variables.find(name);
    if (old && old->is(attr::readonly)) {
      shell_.error(fmt::format("{}: readonly variable", name));
      if (!special) continue;
      variables.pop_frames_to(frames);
      throw Abandoned{true, 1};
    }
    Variable fresh;
    fresh.attrs = attr::exported;
    fresh.set = true;
    fresh.special = old ? old->special : name == "IFS";
    fresh.value = assign_to.append && old ? old->value + value : std::move(value);
    if (!keep) variables.save_in_frame(name);
    variables.put(name, std::move(fresh));
  }
}

int Executor::simple_dispatch(const SimpleCommand& command, Args& args) {
  const Function* function = shell_.names().find_function(args[0]);
  const Builtin* builtin = shell_.names().find_enabled_builtin(args[0]);
  // POSIX: special builtins are found before functions.
  if (function && builtin && builtin->special && shell_.option(Opt::posix)) function = nullptr;
  bool permanent = !function && builtin && args[0] == "exec" && args.size() == 1;
  // A program's redirections are its own business: what they assign is gone with it.
  std::optional<Cow<VariableTable>> variables_before;
  if (!function && !builtin && !command.redirects.empty() && may_assign(command.redirects))
    variables_before = shell_.variables().table();
  Finally forget([&] {
    if (variables_before) shell_.variables().replace_table(*variables_before);
  });
  SavedFiles saved;
  Finally undo([&] {
    // `exec cmd` inside a function may have ended the shell; restoring is harmless then.
    shell_.descriptors().restore(saved);
  });
  bool applied = false;
  try {
    applied = shell_.redirections().apply(command.redirects, permanent ? nullptr : &saved);
  } catch (const Abandoned& gone) {
    if (function || builtin) throw;
    return gone.status;  // a program expands its redirections itself: what fails there ends it alone
  }
  if (!applied) {
    // POSIX: a redirection that fails on a special built-in ends the shell.
    if (builtin && builtin->special && !function && shell_.option(Opt::posix)) throw Abandoned{true, 1};
    return 1;
  }
  bool special = builtin && builtin->special && shell_.option(Opt::posix);
  std::size_t frames = shell_.calls().frames.size();
  if (!command.assigns.empty()) assign_before(command, special && !function, special);
  Finally drop([&] { shell_.variables().pop_frames_to(frames); });
  int status;
  // A copy for $_: the command may change what its arguments came from.
  std::string last = args.back();
  if (function)
    status = call_function(*function, args);
  else if (builtin)
    status = run_builtin(*builtin, args);
  else
    status = run_program(args);
  shell_.last().argument = std::move(last);
  return status;
}

int Executor::run_builtin(const Builtin& builtin, const Args& args) {
  try {
    return builtin.run(shell_, args);
  } catch (const NestedTooDeeply&) {
    shell_.error(fmt::format("{}: nested too deeply", args[0]));
    return 2;
  }
}

int Executor::run_arguments(const Args& args, Lookup lookup) {
  shell_.machine().charge_command();
  if (lookup.functions)
    if (const Function* function = shell_.names().find_function(args[0]))
      return call_function(*function, args);
  if (lookup.builtins)
    if (const Builtin* builtin = shell_.names().find_enabled_builtin(args[0]))
      return run_builtin(*builtin, args);
  return run_program(args, lookup.default_path);
}

}  // namespace atl::shell
