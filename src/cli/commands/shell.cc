#include "shell/shell.h"

#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "shell/test_commands.h"

namespace atl::cli {

namespace {

namespace host = std::filesystem;

struct ShellFlags {
  std::string script;
  std::vector<std::string> arguments;
  std::vector<std::string> directories;
  std::vector<std::string> environment;
  std::string cwd = "/home/user";
  bool clean = false;
  bool write_back = false;
  bool test_commands = false;
  bool has_script = false;
};

// HOST or HOST:PATH.
std::pair<std::string, std::string> split_mount(const std::string& text) {
  std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return {text, "/home/user"};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Result<void> import_file(vfs::FileSystem& fs, const host::path& from, const vfs::Path& to) {
  std::ifstream in(from, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return fail(Code::invalid_argument, "cannot read " + from.string());
  TRY(fs.write(to, bytes));
  std::error_code error;
  auto status = host::status(from, error);
  if (!error) TRY(fs.set_mode(to, static_cast<std::uint32_t>(status.permissions()) & 07777U));
  auto when = host::last_write_time(from, error);
  if (!error) {
    auto system = std::chrono::file_clock::to_sys(when);
    vfs::Times times;
    times.modified = std::chrono::time_point_cast<Duration>(system);
    TRY(fs.set_times(to, times));
  }
  return {};
}

// Copies a host tree in. Symbolic links stay links; sockets and devices are left out.
Result<void> import_tree(vfs::FileSystem& fs, const host::path& from, const vfs::Path& to) {
  std::error_code error;
  if (!host::is_directory(from, error)) return fail(Code::not_found, "no directory " + from.string());
  if (!fs.is_directory(to)) TRY(fs.make_directory(to, 0755, vfs::Parents::create));
  for (const auto& entry : host::directory_iterator(from, error)) {
    vfs::Path below = TRY(to.child(entry.path().filename().string()));
    if (entry.is_symlink(error))
      TRY(fs.make_symlink(below, host::read_symlink(entry.path(), error).string()));
    else if (entry.is_directory(error))
      TRY(import_tree(fs, entry.path(), below));
    else if (entry.is_regular_file(error))
      TRY(import_file(fs, entry.path(), below));
  }
  if (error) return fail(Code::invalid_argument, "cannot read " + from.string());
  return {};
}

// Writes what changed below `at` back to the host directory.
Result<void> export_changes(const vfs::VirtualFileSystem& fs, const vfs::Snapshot& before,
                            const vfs::Path& at, const host::path& to) {
  for (const vfs::Change& change : vfs::diff(before, fs.snapshot())) {
    if (!change.path.is_child_of(at)) continue;
    host::path target = to / host::path(change.path.relative_to(at).str().substr(1));
    std::error_code error;
    if (change.kind == vfs::ChangeKind::removed) {
      host::remove_all(target, error);
    } else if (change.type == vfs::Type::directory) {
      host::create_directories(target, error);
    } else if (change.type == vfs::Type::file) {
      vfs::Content content = TRY(fs.read(change.path));
      if (host::is_symlink(target, error)) host::remove(target, error);
      std::ofstream out(target, std::ios::binary | std::ios::trunc);
      out << content.str();
      if (!out) return fail(Code::invalid_argument, "cannot write " + target.string());
      out.close();
      auto stat = TRY(fs.stat(change.path));
      host::permissions(target, static_cast<host::perms>(stat.mode & 0777U), error);
    } else if (change.type == vfs::Type::symlink) {
      host::remove(target, error);
      host::create_symlink(TRY(fs.read_link(change.path)), target, error);
    }
    if (error) return fail(Code::invalid_argument, "cannot write " + target.string());
  }
  return {};
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string read_some() {
  std::string out(65536, '\0');
  ssize_t n = ::read(0, out.data(), out.size());
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

shell::SandboxShell* running = nullptr;

// Collects output and writes it in large pieces; standard error pushes standard output out first.
struct Terminal {
  std::string held;
  void out(std::string_view bytes) {
    held.append(bytes);
    if (held.size() > 65536) flush();
  }
  void flush() {
    write_all(1, held);
    held.clear();
  }
};

shell::Executed run_text(shell::SandboxShell& sh, const std::string& text, const std::string& name,
                         bool tty) {
  Terminal terminal;
  shell::ExecuteOptions options;
  options.read = [&terminal] {
    terminal.flush();
    return read_some();
  };
  options.on_stdout = [&terminal, tty](std::string_view bytes) {
    terminal.out(bytes);
    if (tty) terminal.flush();
  };
  options.on_stderr = [&terminal](std::string_view bytes) {
    terminal.flush();
    write_all(2, bytes);
  };
  options.script_name = name;
  running = &sh;
  shell::Executed done = sh.execute(text, std::move(options));
  running = nullptr;
  terminal.flush();
  return done;
}

// Lines from a terminal, one command at a time.
int interact(shell::SandboxShell& sh) {
  std::string text;
  int status = 0;
  while (true) {
    std::string prompt = text.empty() ? sh.cwd() + " $ " : "> ";
    write_all(1, prompt);
    std::string line;
    if (!std::getline(std::cin, line)) break;
    text += line + "\n";
    if (shell::needs_more(text)) continue;
    auto done = run_text(sh, std::exchange(text, std::string()), "", true);
    status = done.status;
    if (done.exited) return status;
  }
  write_all(1, "\n");
  return status;
}

// A script that a signal ended ends us by the same signal, so that our caller sees what bash's caller would.
int end_by(int signal) {
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
  return 128 + signal;
}

int run(const ShellFlags& flags) {
  vfs::VirtualOptions room;
  room.quota = {.bytes_max = 2ULL << 30, .nodes_max = 2'000'000};
  vfs::VirtualFileSystem fs(shell::base_snapshot(), room);
  for (const std::string& mount : flags.directories) {
    auto [from, to] = split_mount(mount);
    auto path = vfs::Path::posix(to);
    if (!path) return report(path.error());
    if (auto done = import_tree(fs, from, *path); !done) return report(done.error());
  }
  vfs::Snapshot before = fs.snapshot();
  shell::ShellOptions options;
  options.default_environment = !flags.clean;
  options.cwd = flags.cwd;
  for (const std::string& pair : flags.environment) {
    std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return report(Error(Code::invalid_argument, "--env wants NAME=VALUE, not " + pair));
    options.environment.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  if (flags.test_commands)
    for (const shell::Command& command : shell::test_commands()) options.commands.push_back(&command);
  std::string text = flags.script, name;
  options.arguments = flags.arguments;
  bool terminal = false;
  if (flags.has_script) {
    if (!options.arguments.empty()) {
      options.name = options.arguments[0];
      options.arguments.erase(options.arguments.begin());
    }
  } else if (!options.arguments.empty()) {
    name = options.arguments[0];
    std::ifstream in(name, std::ios::binary);
    if (!in) return report(Error(Code::not_found, "cannot read " + name));
    text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    options.name = name;
    options.arguments.erase(options.arguments.begin());
  } else if (::isatty(0)) {
    terminal = true;
    options.interactive = true;
  } else {
    while (true) {
      std::string more = read_some();
      if (more.empty()) break;
      text += more;
    }
    name = "bash";
  }
  shell::SandboxShell sh(fs, std::move(options));
  std::signal(SIGINT, [](int) {
    if (running) running->cancel();
  });
  int status = 0, signal = 0;
  if (terminal) {
    status = interact(sh);
  } else {
    shell::Executed done = run_text(sh, text, name, ::isatty(1));
    status = done.status;
    signal = done.signal;
  }
  if (flags.write_back) {
    for (const std::string& mount : flags.directories) {
      auto [from, to] = split_mount(mount);
      if (auto done = export_changes(fs, before, *vfs::Path::posix(to), from); !done)
        return report(done.error());
    }
  }
  if (signal != 0) return end_by(signal);
  return status;
}

}  // namespace

Action define_shell(CLI::App& app) {
  auto* command = app.add_subcommand("shell", "Run the emulated shell: bash on a virtual filesystem");
  auto flags = std::make_shared<ShellFlags>();
  auto* script = command->add_option("-c", flags->script, "The script itself");
  command
      ->add_option("--dir", flags->directories,
                   "HOST[:PATH]: import a host directory (default path /home/user)")
      ->allow_extra_args(false);
  command->add_option("--cwd", flags->cwd, "Where to start");
  command->add_option("--env", flags->environment, "NAME=VALUE: an exported variable")
      ->allow_extra_args(false);
  command->add_flag("--clean-env", flags->clean, "Only the variables given with --env");
  command->add_flag("--write-back", flags->write_back,
                    "Write changes below imported directories back to the host");
  command->add_flag("--test-commands", flags->test_commands,
                    "Add argv.py, printenv.py, stdout_stderr.py and read_from_fd.py");
  command->add_option("file", flags->arguments,
                      "A script file of the host and its arguments; after -c: $0 and arguments");
  command->positionals_at_end();
  return [flags, script] {
    flags->has_script = script->count() > 0;
    return run(*flags);
  };
}

}  // namespace atl::cli
