#include "shell/nested.h"

#include <fmt/format.h>

#include <optional>
#include <span>

#include "shell/runner.h"

namespace atl::shell {

namespace {

// The environment of a new shell: what is exported, and nothing else of the caller's.
ShellState fresh_state(ShellRunner& from) {
  ShellState out;
  VariableTable table;
  for (const auto& [name, variable] : *from.variables().table()) {
    if (!variable.is(attr::exported) || !variable.set || variable.is_array()) continue;
    // Computed and read-only in the new shell; a variable of the name would hide them.
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
  pwd.value = from.descriptors().cwd().str();
  table["PWD"] = std::move(pwd);
  out.variables.table = Cow<VariableTable>(std::move(table));
  for (const auto& [name, function] : *from.names().functions())
    if (function.exported) out.names.functions.edit().emplace(name, function);
  out.descriptors.files = from.descriptors().state().files;
  out.descriptors.cwd = from.descriptors().cwd();
  out.descriptors.umask = from.descriptors().umask();
  out.variables.specials.seconds_base = std::chrono::steady_clock::now();
  // Another sequence than the caller's, and still the same one each time.
  out.variables.specials.random = from.variables().specials().random * 31 + 7;
  // What the caller ignores, a new shell ignores.
  for (const auto& [signal, text] : *from.traps().table())
    if (text.empty() && signal > 0 && signal <= signal_max) out.traps.edit()[signal] = text;
  return out;
}

bool set_option(ShellState& state, std::string_view name, bool on) {
  for (std::size_t i = 0; i < opt_rows.size(); ++i) {
    if (opt_rows[i].name != name) continue;
    state.options.set[i] = on;
    return true;
  }
  return false;
}

bool set_shopt(ShellState& state, std::string_view name, bool on) {
  for (std::size_t i = 0; i < shopt_names.size(); ++i) {
    if (shopt_names[i] != name) continue;
    state.options.shopt[i] = on;
    return true;
  }
  return false;
}

bool set_letter(ShellState& state, char letter, bool on) {
  bool known = false;
  for (std::size_t i = 0; i < opt_rows.size(); ++i)
    if (opt_rows[i].letter == letter) state.options.set[i] = on, known = true;
  return known;
}

// One call of sh or bash: reads its arguments, finds its script, runs it.
class NestedShell {
 public:
  explicit NestedShell(Invocation& call)
      : call_(call), args_(call.args()), outer_(call.runner()), state_(fresh_state(outer_)) {}

  int run();

 private:
  // Each returns a status if the shell is over, after a message if it failed.
  std::optional<int> read_options();
  std::optional<int> read_long_option(const std::string& option);
  std::optional<int> read_letters(const std::string& letters, bool on);
  std::optional<int> read_named_option(char letter, bool on);
  std::optional<int> find_script();
  std::optional<int> read_script_file();

  int refuse(int status, std::string_view message) {
    call_.err().write(message);
    return status;
  }

  Invocation& call_;
  std::span<const std::string> args_;
  ShellRunner& outer_;
  ShellState state_;
  std::size_t at_ = 1;  // the next argument
  bool command_ = false;
  bool from_stdin_ = false;
  bool interactive_ = false;
  std::string text_;
  std::string name_ = "-c";
};

std::optional<int> NestedShell::read_options() {
  for (; at_ < args_.size() && !args_[at_].empty() && (args_[at_][0] == '-' || args_[at_][0] == '+'); ++at_) {
    const std::string& arg = args_[at_];
    if (arg == "--" || arg == "-") {
      // There are no start-up files to read: the option and its argument are skipped.
      ++at_;
      break;
    }
    auto over = arg.starts_with("--") ? read_long_option(arg) : read_letters(arg.substr(1), arg[0] == '-');
    if (over) return over;
  }
  return std::nullopt;
}

std::optional<int> NestedShell::read_long_option(const std::string& option) {
  if (option == "--posix") {
    state_.options.put(Opt::posix, true);
  } else if (option == "--rcfile" || option == "--init-file") {
    ++at_;
  } else if (option == "--version") {
    call_.out().write("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n");
    return 0;
  } else if (option == "--help") {
    call_.out().write("Usage:\tbash [option] ...\n\tbash [option] script-file ...\n");
    return 0;
  } else if (option != "--norc" && option != "--noprofile" && option != "--login" &&
             option != "--noediting") {
    return refuse(2, fmt::format("{}: {}: invalid option\n", args_[0], option));
  }
  return std::nullopt;
}

std::optional<int> NestedShell::read_letters(const std::string& letters, bool on) {
  for (char letter : letters) {
    if (letter == 'c') {
      command_ = true;
    } else if (letter == 's') {
      from_stdin_ = true;
    } else if (letter == 'i') {
      interactive_ = true;
    } else if (letter == 'l' || letter == 'r') {
      continue;
    } else if (letter == 'o' || letter == 'O') {
      if (auto over = read_named_option(letter, on)) return over;
    } else if (!set_letter(state_, letter, on)) {
      return refuse(2, fmt::format("{}: -{}: invalid option\n", args_[0], letter));
    }
  }
  return std::nullopt;
}

// -o and -O: the name is the next argument.
std::optional<int> NestedShell::read_named_option(char letter, bool on) {
  if (at_ + 1 >= args_.size()) {
    // bash would list the options here.
    if (letter == 'O') return 2;
    return refuse(2, fmt::format("{}: -o: option requires an argument\n", args_[0]));
  }
  const std::string& name = args_[++at_];
  if (letter == 'o' && !set_option(state_, name, on))
    return refuse(2, fmt::format("{}: line 0: {}: invalid option name\n", args_[0], name));
  if (letter == 'O' && !set_shopt(state_, name, on))
    return refuse(2, fmt::format("{}: {}: invalid shell option name\n", args_[0], name));
  return std::nullopt;
}

std::optional<int> NestedShell::find_script() {
  state_.calls.arg0 = args_[0];
  if (command_) {
    if (at_ >= args_.size()) return refuse(2, fmt::format("{}: -c: option requires an argument\n", args_[0]));
    text_ = args_[at_++];
    // The first argument behind the command is $0.
    if (at_ < args_.size()) state_.calls.arg0 = args_[at_++];
  } else if (!from_stdin_ && at_ < args_.size()) {
    if (auto over = read_script_file()) return over;
    state_.calls.arg0 = args_[at_++];
  } else {
    name_ = "stdin";
  }
  if (at_ < args_.size())
    state_.calls.args =
        std::make_shared<const Args>(args_.begin() + static_cast<std::ptrdiff_t>(at_), args_.end());
  return std::nullopt;
}

std::optional<int> NestedShell::read_script_file() {
  name_ = args_[at_];
  auto path = outer_.descriptors().path_of(name_);
  auto stat = path ? outer_.machine().fs.find(*path) : std::nullopt;
  if (stat && stat->is_directory()) return refuse(126, fmt::format("{0}: {0}: Is a directory\n", name_));
  auto file = outer_.descriptors().open(name_, {.read = true});
  if (!file) {
    Code code = file.error().code();
    return refuse(code == Code::permission_denied ? 126 : 127,
                  fmt::format("{}: {}: {}\n", args_[0], name_, vfs::strerror(code)));
  }
  text_ = (*file)->read_all();
  // bash's test for a binary: a NUL in the first line.
  if (text_.substr(0, text_.find('\n')).find('\0') != std::string::npos)
    return refuse(126, fmt::format("{0}: {0}: cannot execute binary file\n", name_));
  return std::nullopt;
}

int NestedShell::run() {
  if (args_[0].substr(args_[0].rfind('/') + 1) == "sh") state_.options.put(Opt::posix, true);
  if (auto over = read_options()) return *over;
  if (auto over = find_script()) return *over;
  if (interactive_) state_.options.put(Shopt::expand_aliases, true);
  // A shell that starts itself again counts against the same depth as a function that calls itself.
  state_.calls.depth = outer_.calls().depth + 1;
  bool from_input = name_ == "stdin";
  ShellOrigin origin;
  origin.nesting = outer_.origin().nesting + 1;
  origin.from_command_line = command_;
  origin.execution_string = command_ ? text_ : "";
  origin.script_name = command_ ? "environment" : from_input ? "" : name_;
  ShellRunner child(outer_, std::move(state_), std::move(origin));
  return child.executor().finish_subshell([&] {
    if (from_input) return child.executor().run_input();
    return child.executor().run_script(std::move(text_), name_);
  });
}

}  // namespace

int run_shell(Invocation& call) {
  return NestedShell(call).run();
}

}  // namespace atl::shell
