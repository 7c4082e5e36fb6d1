#include "shell/nested.h"

#include <fmt/format.h>

#include "shell/interpreter.h"

namespace atl::shell {

namespace {

struct NestedOptions {
  bool command = false;
  bool from_stdin = false;
  bool interactive = false;
  std::vector<std::pair<char, bool>> letters;
  std::vector<std::pair<std::string, bool>> names;
  std::vector<std::pair<std::string, bool>> shopts;
};

// The environment of a new shell: what is exported, and nothing else of the caller's.
State fresh_state(Interpreter& from) {
  State out;
  VariableTable table;
  for (const auto& [name, variable] : *from.state.variables) {
    if (!variable.is(attr::exported) || !variable.set || variable.is_array()) continue;
    if (name == "UID" || name == "EUID" || name == "PPID") continue;
    Variable copy;
    copy.attrs = attr::exported;
    copy.set = true;
    copy.value = variable.value;
    copy.special = name == "POSIXLY_CORRECT";
    table.emplace(name, std::move(copy));
  }
  auto plain = [&](const char* name, std::string value) {
    Variable variable;
    variable.set = true;
    variable.special = true;
    variable.value = std::move(value);
    table.insert_or_assign(name, std::move(variable));
  };
  plain("IFS", " \t\n");
  plain("OPTIND", "1");
  if (!table.count("SHELL")) plain("SHELL", "/bin/bash");
  if (!table.count("PS4")) plain("PS4", "+ ");
  std::int64_t level = 1;
  if (auto it = table.find("SHLVL"); it != table.end())
    if (auto number = arith::plain_number(it->second.value)) level = *number + 1;
  Variable shlvl;
  shlvl.attrs = attr::exported;
  shlvl.set = true;
  shlvl.value = std::to_string(level);
  table["SHLVL"] = std::move(shlvl);
  if (!table.count("PATH")) plain("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  Variable pwd;
  pwd.attrs = attr::exported;
  pwd.set = true;
  pwd.value = from.state.cwd.str();
  table["PWD"] = std::move(pwd);
  out.variables = Cow<VariableTable>(std::move(table));
  for (const auto& [name, function] : *from.state.functions)
    if (function.exported) out.functions.edit().emplace(name, function);
  out.files = from.state.files;
  out.cwd = from.state.cwd;
  out.umask = from.state.umask;
  out.seconds_base = std::chrono::steady_clock::now();
  out.random = from.state.random * 31 + 7;
  // What the caller ignores, a new shell ignores.
  for (const auto& [signal, text] : *from.state.traps)
    if (text.empty() && signal > 0 && signal <= signal_max) out.traps.edit()[signal] = text;
  out.subshell = from.state.subshell;
  return out;
}

bool set_option(State& state, std::string_view name, bool on) {
  for (std::size_t i = 0; i < opt_rows.size(); ++i) {
    if (opt_rows[i].name != name) continue;
    state.options.set[i] = on;
    return true;
  }
  return false;
}

}  // namespace

int run_shell(Invocation& call) {
  std::span<const std::string> args = call.args();
  Interpreter& outer = call.interpreter();
  NestedOptions options;
  State state = fresh_state(outer);
  std::size_t at = 1;
  std::string base = args[0].substr(args[0].rfind('/') + 1);
  if (base == "sh") state.options.put(Opt::posix, true);
  for (; at < args.size() && !args[at].empty() && (args[at][0] == '-' || args[at][0] == '+'); ++at) {
    const std::string& arg = args[at];
    bool on = arg[0] == '-';
    if (arg == "--" || arg == "-") {
      ++at;
      break;
    }
    if (arg == "--posix") {
      state.options.put(Opt::posix, true);
      continue;
    }
    if (arg == "--norc" || arg == "--noprofile" || arg == "--login" || arg == "--noediting") continue;
    if (arg == "--rcfile" || arg == "--init-file") {
      ++at;
      continue;
    }
    if (arg == "--version") {
      call.out().write("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n");
      return 0;
    }
    if (arg == "--help") {
      call.out().write("Usage:\tbash [option] ...\n\tbash [option] script-file ...\n");
      return 0;
    }
    if (arg.starts_with("--")) {
      call.err().write(fmt::format("{}: {}: invalid option\n", args[0], arg));
      return 2;
    }
    for (char c : arg.substr(1)) {
      bool known = false;
      if (c == 'c')
        options.command = known = true;
      else if (c == 's')
        options.from_stdin = known = true;
      else if (c == 'i')
        options.interactive = known = true;
      else if (c == 'l' || c == 'r')
        known = true;
      else if (c == 'o') {
        known = true;
        if (at + 1 >= args.size()) {
          call.err().write(fmt::format("{}: -o: option requires an argument\n", args[0]));
          return 2;
        }
        if (!set_option(state, args[++at], on)) {
          call.err().write(fmt::format("{}: line 0: {}: invalid option name\n", args[0], args[at]));
          return 2;
        }
      } else if (c == 'O') {
        known = true;
        if (at + 1 >= args.size()) return 2;
        ++at;
        bool found = false;
        for (std::size_t i = 0; i < shopt_names.size(); ++i)
          if (shopt_names[i] == args[at]) state.options.shopt[i] = on, found = true;
        if (!found) {
          call.err().write(fmt::format("{}: {}: invalid shell option name\n", args[0], args[at]));
          return 2;
        }
      } else {
        for (std::size_t i = 0; i < opt_rows.size(); ++i)
          if (opt_rows[i].letter == c) state.options.set[i] = on, known = true;
      }
      if (!known) {
        call.err().write(fmt::format("{}: -{}: invalid option\n", args[0], c));
        return 2;
      }
    }
  }
  std::string text, name = "-c";
  state.arg0 = args[0];
  if (options.command) {
    if (at >= args.size()) {
      call.err().write(fmt::format("{}: -c: option requires an argument\n", args[0]));
      return 2;
    }
    text = args[at++];
    if (at < args.size()) state.arg0 = args[at++];
  } else if (!options.from_stdin && at < args.size()) {
    name = args[at];
    auto path = outer.path_of(name);
    auto stat = path ? outer.machine.fs.find(*path) : std::nullopt;
    if (stat && stat->is_directory()) {
      call.err().write(fmt::format("{}: {}: Is a directory\n", name, name));
      return 126;
    }
    auto file = outer.open(name, {.read = true});
    if (!file) {
      call.err().write(fmt::format("{}: {}: {}\n", args[0], name, vfs::strerror(file.error().code())));
      return file.error().code() == Code::permission_denied ? 126 : 127;
    }
    text = (*file)->read_all();
    if (text.substr(0, text.find('\n')).find('\0') != std::string::npos) {
      call.err().write(fmt::format("{}: {}: cannot execute binary file\n", name, name));
      return 126;
    }
    state.arg0 = args[at++];
  } else {
    name = "stdin";
  }
  if (at < args.size())
    state.args = std::make_shared<const Args>(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  if (options.interactive) state.options.put(Shopt::expand_aliases, true);

  Interpreter child(outer, false);
  child.state = std::move(state);
  child.state.subshell = 0;
  child.traps_inherited = false;
  child.depth = outer.depth + 1;
  child.no_errexit = 0;
  child.line = 0;
  child.in_trap = false;
  child.source_depth = 0;
  child.nesting = outer.nesting + 1;
  if (child.nesting > static_cast<int>(outer.machine.limits.subshell_depth))
    outer.machine.stop_limit(Limit::subshell_depth);
  child.from_command_line = options.command;
  child.execution_string = options.command ? text : "";
  child.script_name = options.command || name == "stdin" ? (options.command ? "environment" : "") : name;
  child.process = outer.stands_for_program ? outer.process : outer.machine.new_process();
  child.shell_pid_ = child.process->pid;
  int status = child.finish_subshell([&] {
    if (name == "stdin") return child.run_input();
    child.run_script(std::move(text), name);
    return child.state.status;
  });
  return status;
}

// Reads standard input a line at a time, so that commands of the script can read what follows them.
int Interpreter::run_input() {
  std::string text, more, until;
  int first = 1, next = 1;
  bool complete = false;
  while (in().read_line(more, '\n', &complete)) {
    text += more;
    if (complete) text += '\n';
    ++next;
    if (!until.empty() && more != until && more.substr(std::min(more.find_first_not_of('\t'), more.size())) != until)
      continue;
    if (complete && incomplete(text, *this, until)) continue;
    run_script(std::exchange(text, std::string()), "stdin", first);
    first = next;
    if (flow_ == Flow::exit) break;
  }
  if (!text.empty() && flow_ != Flow::exit) run_script(text, "stdin", first);
  return state.status;
}

}  // namespace atl::shell
