#include "shell/shell.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sstream>

#include "cli/command.h"
#include "cli/host_tree.h"
#include "cli/line_editor.h"
#include "config/checked.h"
#include "shell/commands/curl/grant.h"
#include "shell/interactive.h"
#include "shell/test_commands.h"

namespace atl::cli {

namespace {

constexpr std::size_t kScriptBytesMax = 64U << 20U;

struct ShellFlags {
  std::string script;
  std::vector<std::string> arguments;
  std::vector<std::string> directories;
  std::vector<std::string> environment;
  std::vector<std::string> limits;
  std::vector<std::string> urls;
  std::string cwd = "/home/user";
  bool clean = false;
  bool write_back = false;
  bool test_commands = false;
  bool has_script = false;
};

// False if nobody reads any more.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

volatile std::sig_atomic_t stop_reading = 0;

// Looks up now and then, because an interrupt may come just before the wait.
std::string read_some() {
  pollfd input{0, POLLIN, 0};
  while (!stop_reading && ::poll(&input, 1, 50) <= 0) {
  }
  if (stop_reading) return {};
  std::string out(65536, '\0');
  ssize_t n = ::read(0, out.data(), out.size());
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

shell::SandboxShell* running = nullptr;
bool nobody_reads = false;

// Ctrl-C: ends the script that runs, or drops the line that is typed.
void on_interrupt(int) {
  stop_reading = 1;
  if (running)
    running->cancel();
  else
    LineEditor::interrupt();
}

void listen_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;  // no SA_RESTART: a read must notice
  ::sigaction(SIGINT, &action, nullptr);
}

shell::ExecuteOptions connected() {
  stop_reading = 0;
  shell::ExecuteOptions options;
  options.read = read_some;
  options.on_stdout = [](std::string_view bytes) {
    if (write_all(1, bytes)) return;
    nobody_reads = true;
    running->cancel();
  };
  // That the script was canceled because nobody reads is nobody's news.
  options.on_stderr = [](std::string_view bytes) {
    if (!nobody_reads) write_all(2, bytes);
  };
  return options;
}

shell::Executed run_text(shell::SandboxShell& sh, const std::string& text, const std::string& name) {
  shell::ExecuteOptions options = connected();
  options.script_name = name;
  running = &sh;
  shell::Executed done = sh.execute(text, std::move(options));
  running = nullptr;
  return done;
}

shell::Executed run_input(shell::SandboxShell& sh) {
  shell::ExecuteOptions options = connected();
  options.script_from_input = true;
  running = &sh;
  shell::Executed done = sh.execute("", std::move(options));
  running = nullptr;
  return done;
}

shell::Executed run_finish(shell::SandboxShell& sh) {
  running = &sh;
  shell::Executed done = sh.finish(connected());
  running = nullptr;
  return done;
}

LineEditor::Candidates candidates(const shell::SandboxShell& sh, std::string_view before) {
  shell::Completion found = shell::complete(sh, before);
  return {found.word, std::move(found.words)};
}

// Lines from a terminal, one command at a time.
int interact(shell::SandboxShell& sh) {
  LineEditor editor([&sh](std::string_view before) { return candidates(sh, before); });
  std::string text, line;
  int status = 0;
  while (true) {
    LineEditor::Got got = editor.read(sh.prompt(text.empty() ? "PS1" : "PS2"), line);
    if (got == LineEditor::Got::end) break;
    if (got == LineEditor::Got::interrupted) {
      text.clear();
      continue;
    }
    text += line + "\n";
    if (shell::needs_more(text)) continue;
    editor.remember(text);
    sh.remember(text);
    auto done = run_text(sh, std::exchange(text, std::string()), "");
    status = done.status;
    if (done.canceled) write_all(1, "\n");
    if (done.exited) return status;
  }
  write_all(1, "exit\n");
  shell::Executed last = run_finish(sh);
  return last.exited ? last.status : status;
}

Result<void> take_limits(const std::vector<std::string>& given, shell::Limits& limits) {
  for (const std::string& pair : given) {
    std::size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return fail(config::Checked("--limit", pair)
                      .wrong("is no limit", "write NAME=VALUE; docs/shell.md lists them"));
    TRY(shell::set_limit(limits, pair.substr(0, equals), pair.substr(equals + 1)));
  }
  return {};
}

// "https://host/path" or "GET,POST https://host/path".
Result<shell::NetworkGrant> grant_of(const std::string& given) {
  shell::NetworkGrant grant;
  std::size_t blank = given.find(' ');
  grant.url_prefix = blank == std::string::npos ? given : given.substr(blank + 1);
  if (blank != std::string::npos) {
    grant.methods.clear();
    std::stringstream names(given.substr(0, blank));
    for (std::string name; std::getline(names, name, ',');) {
      bool plain =
          !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
      if (!plain) return fail(config::Checked("--allow-url", name).wrong("is no method", "write GET,POST"));
      grant.methods.push_back(name);
    }
  }
  auto target = shell::curl::parse_url(grant.url_prefix);
  if (!target || grant.url_prefix.find("://") == std::string::npos)
    return fail(
        config::Checked("--allow-url", given).wrong("is no URL", "write [METHOD,...] http(s)://HOST[/PATH]"));
  return grant;
}

Result<shell::ShellOptions> shell_options(const ShellFlags& flags) {
  shell::ShellOptions options;
  options.default_environment = !flags.clean;
  options.cwd = flags.cwd;
  options.arguments = flags.arguments;
  for (const std::string& pair : flags.environment)
    options.environment.push_back(TRY(config::Checked("--env", pair).assignment()));
  TRY(config::Checked("--cwd", flags.cwd).absolute_path());
  TRY(take_limits(flags.limits, options.limits));
  for (const std::string& given : flags.urls) options.network.push_back(TRY(grant_of(given)));
  if (flags.test_commands)
    for (const shell::Command& command : shell::test_commands()) options.commands.push_back(&command);
  if (!options.arguments.empty()) {
    options.name = options.arguments[0];
    options.arguments.erase(options.arguments.begin());
  }
  options.interactive = !flags.has_script && flags.arguments.empty() && ::isatty(0);
  return options;
}

// The script of -c, of a file, or of standard input; or a prompt.
Result<shell::Executed> run_script(shell::SandboxShell& sh, const ShellFlags& flags, bool interactive) {
  if (flags.has_script) return run_text(sh, flags.script, "");
  if (!flags.arguments.empty()) {
    const std::string& name = flags.arguments[0];
    const std::string text = TRY(config::read_input(name, kScriptBytesMax, config::InputKind::file_or_pipe));
    return run_text(sh, text, name);
  }
  shell::Executed done;
  if (interactive)
    done.status = interact(sh);
  else
    done = run_input(sh);
  return done;
}

int run(const ShellFlags& flags) {
  vfs::VirtualOptions room;
  room.quota = {.bytes_max = 2ULL << 30, .nodes_max = 2'000'000};
  vfs::VirtualFileSystem fs(shell::base_snapshot(), room);
  std::vector<HostTree> trees;
  for (const std::string& given : flags.directories) {
    auto tree = HostTree::parse(given);
    if (!tree) return report(tree.error());
    if (auto done = import_tree(fs, *tree); !done) return report(done.error());
    trees.push_back(std::move(*tree));
  }
  vfs::Snapshot before = fs.snapshot();
  auto options = shell_options(flags);
  if (!options) return report(options.error());
  bool interactive = options->interactive;
  shell::SandboxShell sh(fs, std::move(*options));
  listen_for_interrupts();
  auto done = run_script(sh, flags, interactive);
  if (!done) return report(done.error());
  if (flags.write_back)
    for (const HostTree& tree : trees)
      if (auto written = write_back(fs, before, tree); !written) return report(written.error());
  if (nobody_reads) return end_by(SIGPIPE);
  // A script that a signal ended ends us by the same signal, so that our caller sees what bash's caller
  // would.
  return done->signal != 0 ? end_by(done->signal) : done->status;
}

}  // namespace

Action define_shell(Command& top) {
  Command command = top.add_command("shell", "Run the emulated shell: bash on a virtual filesystem");
  auto flags = std::make_unique<ShellFlags>();
  const Option script = command.add_option("-c", flags->script, "The script itself").any_text();
  command
      .add_option("--dir", flags->directories,
                  "HOST[:PATH]: import a host directory (default path /home/user)")
      .one_value_each();
  command.add_option("--cwd", flags->cwd, "Where to start");
  command.add_option("--env", flags->environment, "NAME=VALUE: an exported variable")
      .any_text()
      .one_value_each();
  command
      .add_option("--limit", flags->limits,
                  "NAME=VALUE: another bound for the script (docs/shell.md lists them)")
      .one_value_each();
  command
      .add_option(
          "--allow-url", flags->urls,
          "[METHOD,...] URL: what curl may reach, at this URL and below it; GET and HEAD unless named")
      .one_value_each();
  command.add_flag("--clean-env", flags->clean, "Only the variables given with --env");
  command.add_flag("--write-back", flags->write_back,
                   "Write changes below imported directories back to the host");
  command.add_flag("--test-commands", flags->test_commands,
                   "Add argv.py, printenv.py, stdout_stderr.py and read_from_fd.py");
  command
      .add_option("file", flags->arguments,
                  "A script file of the host and its arguments; after -c: $0 and arguments")
      .any_text();
  command.end_options_at_arguments();
  return [flags = std::move(flags), script] {
    flags->has_script = script.was_given();
    return run(*flags);
  };
}

}  // namespace atl::cli
