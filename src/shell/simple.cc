#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "shell/commands/table.h"
#include "shell/expansion.h"
#include "shell/interpreter.h"
#include "shell/invocation.h"
#include "shell/programs.h"
#include "shell/scoped.h"
#include "shell/stack.h"

namespace atl::shell {

namespace {

constexpr std::string_view default_path = "/bin:/usr/bin";

const Command* lookup_command(Machine& machine, std::string_view name) {
  auto it = machine.commands_added.find(name);
  if (it != machine.commands_added.end()) return it->second;
  return find_command(name);
}

}  // namespace

std::string Interpreter::trace_prefix() {
  std::string ps4 = get_value("PS4").value_or("");
  if (ps4.empty()) return {};
  Restored<int> status(state.status);
  Restored<Options> options(state.options);
  state.options.put(Opt::xtrace, false);
  std::string out;
  try {
    out = expand_prompt(ps4);
  } catch (const Abandoned&) {
    out = ps4;
  }
  std::string first = out.substr(0, 1);
  for (int i = 0; i < state.subshell && i < 8; ++i) out = first + out;
  return out;
}

void Interpreter::trace(const Args& words, const std::vector<std::string>& assigns) {
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
  if (auto fd = get_value("BASH_XTRACEFD"); fd && !fd->empty()) {
    if (auto number = arith::plain_number(*fd)) to = file(static_cast<int>(*number));
  }
  if (to)
    to->write(text);
  else
    err().write(text);
}

void Interpreter::debug_trap(const Node& command) {
  if (state.traps->empty() || !trap_active(trap_debug) || in_trap) {
    return;
  }
  current_command = print_command(command);
  current_node_ = nullptr;
  run_trap(trap_debug, state.status);
}

int Interpreter::assignments_only(const SimpleCommand& command) {
  // Words that expanded to nothing have run their substitutions already.
  if (command.words.empty()) last_substitution_status = -1;
  state.last_argument.clear();
  std::vector<std::string> traced;
  for (const Assign& assign_to : command.assigns) {
    if (!assign(assign_to)) {
      state.status = 1;
      throw Abandoned{option(Opt::posix), 1};
    }
    if (option(Opt::xtrace)) {
      if (assign_to.is_array)
        traced = {assign_to.raw};
      else {
        std::string value = get_or_empty(assign_to.name);
        if (assign_to.has_index) value = expand_assignment(assign_to.value);
        traced = {assign_to.raw.substr(0, assign_to.raw.find('=') + 1) +
                  (value.empty() ? "" : quote_if_needed(value))};
      }
      trace({}, traced);
    }
  }
  int status = last_substitution_status >= 0 ? last_substitution_status : 0;
  // Bash opens {name}> without a command in a process of its own: the variable is not set here.
  bool named = std::any_of(command.redirects.begin(), command.redirects.end(), [](const Redirect& one) { return !one.fd_var.empty(); });
  if (named) {
    Interpreter child(*this, true);
    return child.finish_subshell([&] { return child.apply(command.redirects, nullptr) ? status : 1; });
  }
  if (!command.redirects.empty()) {
    std::vector<std::pair<int, OpenFilePtr>> saved;
    Finally undo([&] { restore(saved); });
    if (!apply(command.redirects, &saved)) return 1;
    if (last_substitution_status >= 0) status = last_substitution_status;
  }
  return status;
}

int Interpreter::simple(const SimpleCommand& command) {
  line = command.line;
  if (trap_depth_ == 0) {
    if (state.traps->empty()) {
      current_node_ = &command;
      current_command.clear();
    } else {
      current_command = print_command(command);
      current_node_ = nullptr;
    }
  }
  if (!state.traps->empty()) {
    debug_trap(command);
    if (flow_ == Flow::exit) return state.status;
    if (skip_command_) {
      skip_command_ = false;
      return state.status;
    }
  }
  if (command.words.empty()) return assignments_only(command);
  last_substitution_status = -1;
  Args args;
  std::size_t opened = substitutions_.size();
  Finally close_substitutions([&] { finish_substitutions(opened); });
  int status = simple_words(command, args);
  return status;
}

// Expands the words, then redirects and runs.
int Interpreter::simple_words(const SimpleCommand& command, Args& args) {
  args.reserve(command.words.size());
  std::vector<const Assign*> assigns;
  bool any_assign = false;
  for (const Word& word : command.words) {
    if (!word.assign) {
      expand_into(word, args);
      continue;
    }
    assigns.resize(args.size(), nullptr);
    any_assign = true;
    expand_declaration(*word.assign, args, assigns);
  }
  if (args.empty()) return assignments_only(command);
  if (option(Opt::xtrace)) {
    std::vector<std::string> shown;
    for (const Assign& assign_to : command.assigns) {
      if (assign_to.is_array)
        shown.push_back(assign_to.raw);
      else
        shown.push_back(assign_to.raw.substr(0, assign_to.raw.find('=') + 1) +
                        quote_if_needed(expand_assignment(assign_to.value)));
    }
    trace(args, shown);
  }
  argument_assigns = any_assign ? std::move(assigns) : std::vector<const Assign*>();
  return simple_dispatch(command, args);
}

// An argument of a declaration command that is an assignment; braces in it make several.
void Interpreter::expand_declaration(const Assign& assign_to, Args& args, std::vector<const Assign*>& assigns) {
  std::string text = assign_to.name;
  if (assign_to.has_index) text += "[" + assign_to.index.raw + "]";
  text += assign_to.append ? "+=" : "=";
  if (assign_to.is_array) {
    args.push_back(text + assign_to.raw.substr(std::min(assign_to.raw.size(), text.size())));
    assigns.push_back(&assign_to);
    return;
  }
  if (!assign_to.value.braces || !option(Opt::braceexpand)) {
    args.push_back(text + expand_assignment(assign_to.value));
    assigns.push_back(&assign_to);
    return;
  }
  bool too_many = false;
  std::vector<Word> values = expand_braces(assign_to.value, machine.limits.brace_items, too_many);
  if (too_many) machine.stop_limit(Limit::brace_items);
  for (const Word& value : values) {
    args.push_back(text + expand_assignment(value));
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

int Interpreter::simple_dispatch(const SimpleCommand& command, Args& args) {
  const Function* function = find_function(args[0]);
  const Builtin* builtin = find_enabled_builtin(args[0]);
  if (function && builtin && builtin->special && option(Opt::posix)) function = nullptr;
  bool permanent = !function && builtin && args[0] == "exec" && args.size() == 1;
  // A program's redirections are its own business: what they assign is gone with it.
  std::optional<Cow<VariableTable>> variables_before;
  if (!function && !builtin && !command.redirects.empty() && may_assign(command.redirects))
    variables_before = state.variables;
  Finally forget([&] {
    if (variables_before) state.variables = *variables_before, ifs_known_ = false;
  });
  std::vector<std::pair<int, OpenFilePtr>> saved;
  Finally undo([&] {
    // `exec cmd` inside a function may have ended the shell; restoring is harmless then.
    restore(saved);
  });
  bool applied = false;
  try {
    applied = apply(command.redirects, permanent ? nullptr : &saved);
  } catch (const Abandoned& gone) {
    if (function || builtin) throw;
    return gone.status;  // a program expands its redirections itself: what fails there ends it alone
  }
  if (!applied) {
    if (builtin && builtin->special && !function && option(Opt::posix)) throw Abandoned{true, 1};
    return 1;
  }
  bool keep = builtin && !function && builtin->special && option(Opt::posix);
  std::size_t frames = state.frames.size();
  if (!command.assigns.empty()) {
    if (!keep) {
      Frame frame;
      push_frame(std::move(frame));
    }
    for (const Assign& assign_to : command.assigns) {
      if (assign_to.has_index || assign_to.is_array) continue;  // an environment has no arrays
      std::string name = resolve_name(assign_to.name);
      std::string value = expand_assignment(assign_to.value);
      const Variable* old = find(name);
      if (old && old->is(attr::readonly)) {
        error(fmt::format("{}: readonly variable", name));
        if (builtin && builtin->special && option(Opt::posix)) {
          while (state.frames.size() > frames) pop_frame();
          throw Abandoned{true, 1};
        }
        continue;
      }
      if (assign_to.append && old) value = old->value + value;
      if (!keep) {
        std::optional<Variable> before;
        if (old) before = *old;
        state.frames.back().edit().saved.emplace_back(name, std::move(before));
      }
      Variable fresh;
      fresh.attrs = attr::exported;
      fresh.set = true;
      fresh.special = old ? old->special : name == "IFS";
      fresh.value = std::move(value);
      state.variables.edit()[name] = std::move(fresh);
      if (name == "IFS") ifs_known_ = false;
    }
  }
  Finally drop([&] {
    while (state.frames.size() > frames) pop_frame();
  });
  int status;
  std::string last = args.back();
  if (function)
    status = call_function(*function, args);
  else if (builtin)
    status = run_builtin(*builtin, args);
  else
    status = run_program(args);
  state.last_argument = std::move(last);
  return status;
}

const Builtin* Interpreter::find_enabled_builtin(std::string_view name) const {
  const Builtin* builtin = find_builtin(name);
  if (builtin && !state.disabled->empty() &&
      std::find(state.disabled->begin(), state.disabled->end(), name) != state.disabled->end())
    return nullptr;
  return builtin;
}

int Interpreter::run_builtin(const Builtin& builtin, const Args& args) {
  try {
    return builtin.run(*this, args);
  } catch (const NestedTooDeeply&) {
    error(fmt::format("{}: nested too deeply", args[0]));
    return 2;
  }
}

int Interpreter::run_arguments(const Args& args, Lookup lookup) {
  machine.charge_command();
  if (lookup.functions)
    if (const Function* function = find_function(args[0])) return call_function(*function, args);
  if (lookup.builtins)
    if (const Builtin* builtin = find_enabled_builtin(args[0])) return run_builtin(*builtin, args);
  return run_program(args, lookup.default_path);
}

// Where PATH leads for a name: a file of the filesystem, or (shown only) the place of one of our commands.
std::optional<vfs::Path> Interpreter::find_in_path(const std::string& name, std::string* shown,
                                                   bool use_default) {
  std::string path = use_default ? std::string(default_path) : get_or_empty("PATH");
  const Command* command = lookup_command(machine, name);
  for (std::size_t from = 0; from <= path.size();) {
    std::size_t colon = path.find(':', from);
    std::string directory = path.substr(from, colon == std::string::npos ? colon : colon - from);
    from = colon == std::string::npos ? path.size() + 1 : colon + 1;
    std::string full =
        directory.empty() ? "./" + name : directory + (directory.back() == '/' ? "" : "/") + name;
    auto where = path_of(full);
    if (!where) continue;
    auto stat = machine.fs.find(*where);
    if (stat && !stat->is_directory() && permitted(*stat, 1)) {
      if (shown) *shown = full;
      return *where;
    }
    if ((command || also_program(name)) && holds_commands(directory)) {
      if (shown) *shown = full;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

int Interpreter::run_program(const Args& args, bool use_default) {
  const std::string& name = args[0];
  if (name.find('/') != std::string::npos) return run_path(args);
  auto hashed = state.hashed->find(name);
  if (hashed != state.hashed->end() && hashed->second.find('/') != std::string::npos) {
    Args moved = args;
    moved[0] = hashed->second;
    auto where = path_of(moved[0]);
    if (where && machine.fs.find(*where)) return run_file(*where, args);
  }
  std::string shown;
  auto found = find_in_path(name, &shown, use_default);
  if (found) return run_file(*found, args);
  if (!shown.empty()) {
    const Command* command = lookup_command(machine, name);
    return command ? run_command(*command, args) : run_builtin(*find_builtin(name), args);
  }
  if (const Function* handler = find_function("command_not_found_handle")) {
    Args call{"command_not_found_handle"};
    call.insert(call.end(), args.begin(), args.end());
    Interpreter child(*this, false);
    return child.finish_subshell([&] { return child.call_function(*handler, call); });
  }
  error(fmt::format("{}: command not found", name));
  return 127;
}

int Interpreter::run_path(const Args& args) {
  const std::string& name = args[0];
  auto where = path_of(name);
  if (!where) {
    error(fmt::format("{}: {}", name, vfs::strerror(where.error().code())));
    return where.error().code() == Code::not_found ? 127 : 126;
  }
  auto stat = machine.fs.find(*where);
  if (!stat) {
    std::size_t slash = name.rfind('/');
    std::string directory = name.substr(0, slash);
    if (holds_commands(directory)) {
      std::string base = name.substr(slash + 1);
      if (const Command* command = lookup_command(machine, base)) return run_command(*command, args);
      if (also_program(base)) {
        Args renamed = args;
        renamed[0] = base;
        return run_builtin(*find_builtin(base), renamed);
      }
    }
    auto real = machine.fs.stat(*where);
    if (!real && real.error().code() != Code::not_found) {
      error(fmt::format("{}: {}", name, vfs::strerror(real.error().code())));
      return 126;
    }
    error(fmt::format("{}: No such file or directory", name));
    return 127;
  }
  if (stat->is_directory()) {
    error(fmt::format("{}: Is a directory", name));
    return 126;
  }
  if (!permitted(*stat, 1)) {
    error(fmt::format("{}: Permission denied", name));
    return 126;
  }
  return run_file(*where, args);
}

// A script in the filesystem: the program of its first line, or ourselves.
int Interpreter::run_file(const vfs::Path& path, const Args& args) {
  auto content = machine.fs.read(path);
  if (!content) {
    error(fmt::format("{}: {}", args[0], vfs::strerror(content.error().code())));
    return 126;
  }
  std::string text = content->str();
  if (std::string_view named = program_of(text); !named.empty()) {
    if (const Command* command = lookup_command(machine, named)) return run_command(*command, args);
    if (also_program(named)) {
      Args renamed = args;
      renamed[0] = named;
      return run_builtin(*find_builtin(named), renamed);
    }
  }
  if (text.substr(0, 128).find('\0') != std::string::npos) {
    error(fmt::format("{}: cannot execute binary file: Exec format error", args[0]));
    return 126;
  }
  std::string shown = args[0].find('/') != std::string::npos ? args[0] : path.str();
  Args command;
  if (text.starts_with("#!")) {
    std::string first = text.substr(2, text.find('\n') - 2);
    std::size_t begin = first.find_first_not_of(" \t");
    std::size_t end = begin == std::string::npos ? begin : first.find_first_of(" \t", begin);
    if (begin != std::string::npos) {
      command.push_back(first.substr(begin, end == std::string::npos ? end : end - begin));
      std::size_t rest = end == std::string::npos ? end : first.find_first_not_of(" \t", end);
      if (rest != std::string::npos) {
        std::string argument = first.substr(rest);
        while (!argument.empty() && (argument.back() == ' ' || argument.back() == '\r')) argument.pop_back();
        command.push_back(argument);
      }
    }
  }
  if (command.empty()) command = {"/bin/bash"};
  auto program_path = path_of(command[0]);
  std::string base = command[0].substr(command[0].rfind('/') + 1);
  bool ours = !program_path || !machine.fs.find(*program_path) ||
              (lookup_command(machine, base) && holds_commands(command[0].substr(0, command[0].rfind('/'))));
  if (ours && base == "env" && command.size() > 1) {
    command.erase(command.begin());
    base = command[0];
  }
  if (ours && !lookup_command(machine, base)) {
    error(fmt::format("{}: cannot execute: required file not found", shown));
    return 127;
  }
  command[0] = ours ? "/bin/" + base : command[0];
  command.push_back(shown);
  command.insert(command.end(), args.begin() + 1, args.end());
  return run_path(command);
}

int Interpreter::run_command(const Command& command, const Args& args) {
  CommandInvocation invocation(*this, args);
  auto mine = machine.process;
  try {
    return command.run(invocation);
  } catch (const NestedTooDeeply&) {
    return invocation.fail("nested too deeply", 2);
  } catch (const StoppedBy& stop) {
    // A broken pipe ends the command alone; every other stop ends more than it.
    machine.process = mine;
    if (stop.reason == StopReason::signal && stop.signal == SIGPIPE && stop.process == mine.get())
      return 128 + SIGPIPE;
    throw;
  }
}

}  // namespace atl::shell
