#include <fmt/format.h>

#include <csignal>

#include "shell/invocation.h"
#include "shell/programs.h"
#include "shell/runner.h"
#include "shell/stack.h"

namespace atl::shell {

int Executor::run_program(const Args& args, bool use_default) {
  const std::string& name = args[0];
  if (name.find('/') != std::string::npos) return run_path(args);
  auto hashed = shell_.names().hashed()->find(name);
  // `hash` remembers where a command was found. Forgotten if the file is gone.
  if (hashed != shell_.names().hashed()->end() && hashed->second.find('/') != std::string::npos) {
    Args moved = args;
    moved[0] = hashed->second;
    auto where = shell_.descriptors().path_of(moved[0]);
    if (where && shell_.machine().fs.find(*where)) return run_file(*where, args);
  }
  std::string shown;
  auto found = shell_.names().find_in_path(name, &shown, use_default);
  if (found) return run_file(*found, args);
  // Found in PATH's order, without a file: commands of the table need none.
  if (!shown.empty()) {
    const Command* command = shell_.names().find_command(name);
    return command ? run_command(*command, args) : run_builtin(*find_builtin(name), args);
  }
  if (const Function* handler = shell_.names().find_function("command_not_found_handle")) {
    Args call{"command_not_found_handle"};
    call.insert(call.end(), args.begin(), args.end());
    // bash runs the handler in a process of its own: what it changes is lost.
    ShellRunner child(shell_, ShellRunner::Subshell::plain);
    return child.executor().finish_subshell([&] { return child.executor().call_function(*handler, call); });
  }
  shell_.error(fmt::format("{}: command not found", name));
  return 127;
}

int Executor::run_path(const Args& args) {
  const std::string& name = args[0];
  auto where = shell_.descriptors().path_of(name);
  if (!where) {
    shell_.error(fmt::format("{}: {}", name, vfs::strerror(where.error().code())));
    return where.error().code() == Code::not_found ? 127 : 126;
  }
  auto stat = shell_.machine().fs.find(*where);
  if (!stat) {
    std::size_t slash = name.rfind('/');
    std::string directory = name.substr(0, slash);
    // /bin/ls works although there is no such file, as long as nobody put one there.
    if (holds_commands(directory)) {
      std::string base = name.substr(slash + 1);
      if (const Command* command = shell_.names().find_command(base)) return run_command(*command, args);
      if (also_program(base)) {
        Args renamed = args;
        renamed[0] = base;
        return run_builtin(*find_builtin(base), renamed);
      }
    }
    auto real = shell_.machine().fs.stat(*where);
    if (!real && real.error().code() != Code::not_found) {
      shell_.error(fmt::format("{}: {}", name, vfs::strerror(real.error().code())));
      return 126;
    }
    shell_.error(fmt::format("{}: No such file or directory", name));
    return 127;
  }
  if (stat->is_directory()) {
    shell_.error(fmt::format("{}: Is a directory", name));
    return 126;
  }
  if (!shell_.descriptors().permitted(*stat, 1)) {
    shell_.error(fmt::format("{}: Permission denied", name));
    return 126;
  }
  return run_file(*where, args);
}

// A script in the filesystem: the program of its first line, or ourselves.
int Executor::run_file(const vfs::Path& path, const Args& args) {
  auto content = shell_.machine().fs.read(path);
  if (!content) {
    shell_.error(fmt::format("{}: {}", args[0], vfs::strerror(content.error().code())));
    return 126;
  }
  std::string text = content->str();
  // The files in /usr/bin of the base tree name the command that they stand for.
  if (std::string_view named = program_of(text); !named.empty()) {
    if (const Command* command = shell_.names().find_command(named)) return run_command(*command, args);
    if (also_program(named)) {
      Args renamed = args;
      renamed[0] = named;
      return run_builtin(*find_builtin(named), renamed);
    }
  }
  // There is nothing that could run machine code.
  if (text.substr(0, 128).find('\0') != std::string::npos) {
    shell_.error(fmt::format("{}: cannot execute binary file: Exec format error", args[0]));
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
        // Linux passes everything behind the interpreter as one argument.
        std::string argument = first.substr(rest);
        while (!argument.empty() && (argument.back() == ' ' || argument.back() == '\r')) argument.pop_back();
        command.push_back(argument);
      }
    }
  }
  if (command.empty()) command = {"/bin/bash"};
  auto program_path = shell_.descriptors().path_of(command[0]);
  std::string base = command[0].substr(command[0].rfind('/') + 1);
  bool ours =
      !program_path || !shell_.machine().fs.find(*program_path) ||
      (shell_.names().find_command(base) && holds_commands(command[0].substr(0, command[0].rfind('/'))));
  // #!/usr/bin/env python: the command is what env would look up.
  if (ours && base == "env" && command.size() > 1) {
    command.erase(command.begin());
    base = command[0];
  }
  if (ours && !shell_.names().find_command(base)) {
    shell_.error(fmt::format("{}: cannot execute: required file not found", shown));
    return 127;
  }
  command[0] = ours ? "/bin/" + base : command[0];
  command.push_back(shown);
  command.insert(command.end(), args.begin() + 1, args.end());
  return run_path(command);
}

int Executor::run_command(const Command& command, const Args& args) {
  CommandInvocation invocation(shell_, args);
  auto mine = shell_.machine().process;
  try {
    return command.run(invocation);
  } catch (const NestedTooDeeply&) {
    return invocation.fail("nested too deeply", 2);
  } catch (const StoppedBy& stop) {
    // A broken pipe ends the command alone; every other stop ends more than it.
    shell_.machine().process = mine;
    if (stop.reason == StopReason::signal && stop.signal == SIGPIPE && stop.process == mine.get())
      return 128 + SIGPIPE;
    throw;
  }
}

}  // namespace atl::shell
