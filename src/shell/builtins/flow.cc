#include <fmt/format.h>

#include <algorithm>

#include "shell/builtins/builtins.h"
#include "shell/builtins/option_reader.h"
#include "shell/command_table.h"

namespace atl::shell::builtins {

int colon(ShellRunner&, const Args&) {
  return 0;
}
int false_(ShellRunner&, const Args&) {
  return 1;
}

namespace {

int leave_loop(ShellRunner& shell, const Args& args, Flow flow) {
  std::int64_t count = 1;
  std::size_t at = args.size() > 1 && args[1] == "--" ? 2 : 1;
  if (args.size() > at && !parse_int(args[at], count)) {
    shell.error(fmt::format("{}: {}: numeric argument required", args[0], args[at]));
    // bash leaves the script with 128.
    shell.executor().set_flow(Flow::exit, 0);
    shell.last().status = 128;
    return 128;
  }
  if (args.size() > at + 1) {
    shell.error(fmt::format("{}: too many arguments", args[0]));
    throw Abandoned{false, 1};
  }
  if (shell.executor().loop_depth() == 0) {
    shell.error(fmt::format("{}: only meaningful in a `for', `while', or `until' loop", args[0]));
    return 0;
  }
  if (count < 1) {
    shell.error(fmt::format("{}: {}: loop count out of range", args[0], args[at]));
    // break 0 is an error that leaves all loops.
    shell.executor().set_flow(Flow::break_, 1 << 20);
    return 1;
  }
  shell.executor().set_flow(flow, static_cast<int>(std::min<std::int64_t>(count, 1 << 20)));
  return 0;
}

// The argument of exit and return; without one, the status of the last command.
int wanted_status(ShellRunner& shell, const Args& args) {
  std::int64_t status = shell.last().status;
  const std::size_t at = args.size() > 1 && args[1] == "--" ? 2 : 1;
  if (args.size() > at && !parse_int(args[at], status)) {
    shell.error(fmt::format("{}: {}: numeric argument required", args[0], args[at]));
    status = 2;
  } else if (args.size() > at + 1) {
    shell.error(fmt::format("{}: too many arguments", args[0]));
    throw Abandoned{false, 1};
  }
  // A process ends with eight bits: exit 256 is success, exit -1 is 255.
  return static_cast<int>(status & 255);
}

}  // namespace

int break_(ShellRunner& shell, const Args& args) {
  return leave_loop(shell, args, Flow::break_);
}
int continue_(ShellRunner& shell, const Args& args) {
  return leave_loop(shell, args, Flow::continue_);
}

int exit(ShellRunner& shell, const Args& args) {
  if (args[0] == "logout" && !shell.option(Shopt::login_shell))
    return shell.fail(args, "not login shell: use `exit'");
  const int status = wanted_status(shell, args);
  shell.executor().set_flow(Flow::exit, 0);
  return shell.last().status = status;
}

int return_(ShellRunner& shell, const Args& args) {
  const int status = wanted_status(shell, args);
  bool inside = shell.calls().source_depth > 0;
  for (const auto& frame : shell.calls().frames) inside = inside || frame->function;
  if (!inside) {
    shell.error(fmt::format("{}: can only `return' from a function or sourced script", args[0]));
    return 2;
  }
  shell.executor().set_flow(Flow::return_, 0);
  return shell.last().status = status;
}

int eval(ShellRunner& shell, const Args& args) {
  std::string text;
  std::size_t at = 1;
  if (args.size() > 1 && args[1].size() > 1 && args[1][0] == '-') {
    if (args[1] != "--") return bad_option(shell, args, args[1].substr(0, 2));
    at = 2;
  }
  for (std::size_t i = at; i < args.size(); ++i) text += (i > at ? " " : "") + args[i];
  if (text.find_first_not_of(" \t\n") == std::string::npos) return 0;
  return shell.executor().eval(std::move(text));
}

int source(ShellRunner& shell, const Args& args) {
  std::size_t at = 1;
  if (args.size() > 1 && args[1].size() > 1 && args[1][0] == '-') {
    if (args[1] != "--") return bad_option(shell, args, args[1].substr(0, 2));
    at = 2;
  }
  if (args.size() <= at) {
    shell.error(fmt::format("{}: filename argument required", args[0]));
    return usage(shell, args);
  }
  std::string name = args[at];
  std::string path = name;
  if (name.find('/') == std::string::npos) {
    std::string search = shell.variables().get_or_empty("PATH");
    bool found = false;
    for (std::size_t from = 0; shell.option(Shopt::sourcepath) && !found && from <= search.size();) {
      std::size_t colon = search.find(':', from);
      std::string directory = search.substr(from, colon == std::string::npos ? colon : colon - from);
      from = colon == std::string::npos ? search.size() + 1 : colon + 1;
      std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
      auto where = shell.descriptors().path_of(candidate);
      if (where && shell.machine().fs.is_file(*where)) path = candidate, found = true;
    }
  }
  auto where = shell.descriptors().path_of(path);
  auto stat = where ? shell.machine().fs.find(*where) : std::nullopt;
  if (stat && stat->is_directory()) {
    shell.error(fmt::format("{}: {}: is a directory", args[0], name));
    return 1;
  }
  auto file = shell.descriptors().open(path, {.read = true});
  if (!file) {
    shell.error(fmt::format("{}: {}", name, vfs::strerror(file.error().code())));
    if (shell.option(Opt::posix)) throw Abandoned{true, 1};
    return 1;
  }
  std::string text = (*file)->read_all();
  file->reset();
  Args rest(args.begin() + static_cast<std::ptrdiff_t>(at) + 1, args.end());
  return shell.executor().source(path, std::move(text), &rest);
}

int exec(ShellRunner& shell, const Args& args) {
  OptionReader options(shell, args, "a:cl");
  std::string name;
  bool clean = false;
  while (char letter = options.next()) {
    switch (letter) {
      case 'a': name = options.value(); break;
      case 'c': clean = true; break;
      case 'l': name = "-"; break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  if (at >= args.size()) return 0;
  Args rest(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  if (clean) shell.variables().erase_exported();
  std::string shown;
  bool path = rest[0].find('/') != std::string::npos;
  // `shown` is also filled for a command of the table, which has no file.
  bool found = path || shell.names().find_in_path(rest[0], &shown) || !shown.empty();
  int status;
  const Command* program = path ? nullptr : find_command(rest[0]);
  if (!name.empty() && program) {
    Args renamed = rest;
    renamed[0] = name == "-" ? "-" + rest[0] : name;
    status = shell.executor().run_command(*program, renamed);
  } else if (found) {
    status = shell.executor().run_program(rest);
  } else if (const Builtin* same = find_builtin(rest[0]); same && !same->special) {
    status = shell.executor().run_builtin(*same, rest);
  } else {
    shell.error(fmt::format("exec: {}: not found", rest[0]));
    status = 127;
    // Without execfail the shell ends although nothing took its place.
    if (shell.option(Shopt::execfail)) return status;
  }
  // The program took the shell's place: no EXIT trap.
  shell.traps().reset_inherited();
  shell.traps().remove(0);
  shell.executor().set_flow(Flow::exit, 0);
  return shell.last().status = status;
}

int shift(ShellRunner& shell, const Args& args) {
  std::int64_t count = 1;
  if (args.size() > 2) {
    shell.error("shift: too many arguments");
    throw Abandoned{false, 1};
  }
  if (args.size() > 1 && !parse_int(args[1], count)) {
    shell.error(fmt::format("shift: {}: numeric argument required", args[1]));
    return 1;
  }
  std::size_t have = shell.calls().args ? shell.calls().args->size() : 0;
  if (count < 0) {
    shell.error(fmt::format("shift: {}: shift count out of range", args[1]));
    return 1;
  }
  if (static_cast<std::size_t>(count) > have) {
    if (shell.option(Shopt::shift_verbose))
      shell.error(fmt::format("shift: {}: shift count out of range", count));
    return 1;
  }
  if (count == 0) return 0;
  shell.calls().args =
      std::make_shared<const Args>(shell.calls().args->begin() + count, shell.calls().args->end());
  return 0;
}

int let(ShellRunner& shell, const Args& args) {
  if (args.size() < 2) return shell.fail(args, "expression expected");
  std::int64_t value = 0;
  std::size_t at = args[1] == "--" ? 2 : 1;
  for (std::size_t i = at; i < args.size(); ++i) {
    try {
      value = arith::evaluate_text(args[i], shell.variables());
    } catch (const arith::Error& failure) {
      shell.error(fmt::format("let: {}", failure.message));
      return 1;
    }
  }
  // As ((...)): zero is failure.
  return value == 0 ? 1 : 0;
}

int caller(ShellRunner& shell, const Args& args) {
  std::vector<const Frame*> frames;
  for (std::size_t i = shell.calls().frames.size(); i-- > 0;)
    if (!shell.calls().frames[i]->name.empty()) frames.push_back(&*shell.calls().frames[i]);
  if (frames.empty()) return 1;
  auto source_of = [&](std::size_t i) {
    return i < frames.size() ? frames[i]->source : shell.origin().script_name;
  };
  auto name_of = [&](std::size_t i) { return i < frames.size() ? frames[i]->name : std::string("main"); };
  if (args.size() == 1) {
    std::string source = source_of(1);
    return shell.print(fmt::format("{} {}\n", frames[0]->call_line,
                                   source == "environment" || source.empty() ? "NULL" : source),
                       "caller")
               ? 0
               : 1;
  }
  std::int64_t level = 0;
  if (!parse_int(args[1], level)) {
    shell.error(fmt::format("caller: {}: invalid number", args[1]));
    return usage(shell, args);
  }
  bool from_file = shell.origin().script_name != "environment" && !shell.origin().script_name.empty();
  std::size_t top = frames.size() - (from_file ? 0 : 1);
  if (level < 0 || static_cast<std::size_t>(level) >= top) return 1;
  auto i = static_cast<std::size_t>(level);
  std::string source = source_of(i + 1);
  return shell.print(fmt::format("{} {} {}\n", frames[i]->call_line, name_of(i + 1), source), "caller") ? 0
                                                                                                        : 1;
}

int times(ShellRunner& shell, const Args&) {
  return shell.print("0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n", "times") ? 0 : 1;
}

}  // namespace atl::shell::builtins
