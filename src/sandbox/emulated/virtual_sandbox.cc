#include "sandbox/emulated/virtual_sandbox.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "os/file.h"
#include "sandbox/emulated/pooled_files.h"
#include "vfs/snapshot_format.h"

namespace atl::sandbox::emulated {
namespace {

// A word as the shell reads it back unchanged.
std::string quoted(std::string_view word) {
  std::string out = "'";
  for (char c : word) c == '\'' ? out += "'\\''" : out += c;
  return out += "'";
}

struct Command {
  std::string script;
  std::string name = "bash";
  std::vector<std::string> arguments;
  bool is_program = false;  // the first word must name one
};

// `bash -l -c SCRIPT NAME ARG...` is run as the script itself; anything else as a command line.
Command command_of(const std::vector<std::string>& argv) {
  Command command;
  std::string_view program = argv[0];
  program = program.substr(program.rfind('/') + 1);
  if (program == "bash" || program == "sh") {
    for (std::size_t i = 1; i < argv.size() && argv[i].starts_with('-') && argv[i].size() > 1; ++i) {
      if (argv[i] == "-l" || argv[i] == "--login") continue;
      if (!argv[i].ends_with('c') || argv[i].find_first_not_of("-lc") != std::string::npos ||
          i + 1 >= argv.size())
        break;
      command.script = argv[i + 1];
      if (i + 2 < argv.size()) command.name = argv[i + 2];
      if (i + 3 < argv.size())
        command.arguments.assign(argv.begin() + static_cast<std::ptrdiff_t>(i) + 3, argv.end());
      return command;
    }
  }
  command.is_program = true;
  for (const std::string& word : argv) command.script += (command.script.empty() ? "" : " ") + quoted(word);
  return command;
}

std::unexpected<Error> lacks(std::string_view trait) {
  return fail(Code::unsupported, fmt::format("the virtual provider has no {}", trait));
}

}  // namespace

const Traits& virtual_traits() {
  static const Traits traits = [] {
    Traits t;
    t.interpreters = t.snapshot = t.fork = t.watch = t.mounts = t.storages = true;
    return t;
  }();
  return traits;
}

class VirtualProcess final : public Process {
 public:
  VirtualProcess(ProcessInfo info, bool input, std::shared_ptr<Script> script)
      : info_(std::move(info)), input_(input), script_(std::move(script)) {}

  const ProcessInfo& info() const override { return info_; }
  std::unique_ptr<ProcessStream> attach(Replay replay) override { return script_->console()->attach(replay); }
  Task<void> write_stdin(std::string bytes) override {
    if (!input_) co_return fail(Code::conflict, "standard input is not a pipe");
    co_return co_await script_->console()->write_input(std::move(bytes));
  }
  Task<void> close_stdin() override {
    if (!input_) co_return fail(Code::conflict, "standard input is not a pipe");
    script_->console()->close_input();
    co_return Result<void>();
  }
  Task<void> resize(PtySize) override { co_return fail(Code::conflict, "the process has no terminal"); }
  Task<void> signal(int number) override {
    if (number < 0 || number > 64) co_return fail(Code::invalid_argument, "no such signal");
    bool harmless =
        number == 0 || number == SIGCONT || number == SIGWINCH || number == SIGCHLD || number == SIGURG;
    if (!harmless) script_->end(Ending::killed, number, fmt::format("signal {} by request", number));
    co_return Result<void>();
  }
  Task<Outcome> wait() override { return script_->console()->wait(); }
  void kill(const std::string& why) { script_->end(Ending::killed, SIGKILL, why); }

 private:
  ProcessInfo info_;
  bool input_;
  std::shared_ptr<Script> script_;
};

VirtualSandbox::VirtualSandbox(boost::asio::any_io_executor executor, Spec spec, VirtualTree tree,
                               std::uint64_t own_nodes)
    : executor_(executor),
      spec_(std::move(spec)),
      tree_(std::move(tree)),
      own_nodes_(own_nodes),
      files_(std::make_shared<VirtualFiles>(executor, tree_)),
      life_(std::make_shared<Life>(executor)) {
  if (tree_.stored) files_ = std::make_shared<PooledFiles>(std::move(files_), tree_.pool);
  tree_.memory->set_quota({spec_.limits.disk_bytes, spec_.limits.inodes_max + own_nodes_});
  isolation_.walls = {
      {"no_process", "commands are emulated inside the daemon; nothing of the host is executed"},
      {"virtual_filesystem", tree_.stored ? "in memory and on a storage; no path leads to the host"
                                          : "in memory; no path leads to the host"},
      {"filesystem_quota",
       fmt::format("{} bytes, {} files", spec_.limits.disk_bytes, spec_.limits.inodes_max)},
      {"network", "none"},
      {"memory_limit", fmt::format("{} bytes held by one script", spec_.limits.memory_bytes)},
      {"wall_time_limit", fmt::format("{} ms", spec_.limits.wall_time.count())}};
}

VirtualSandbox::~VirtualSandbox() {
  life_->end("the sandbox was removed");
}

Result<void> VirtualSandbox::check_alive() const {
  if (life_->has_ended())
    return fail(Code::unavailable, fmt::format("the sandbox has ended: {}", life_->why));
  return {};
}

std::shared_ptr<shell::SandboxShell> VirtualSandbox::make_shell(const Variables& env, const std::string& cwd,
                                                                std::vector<std::string> arguments,
                                                                std::string name) const {
  shell::ShellOptions options;
  Variables all = spec_.env;
  for (const auto& [key, value] : env) all[key] = value;
  options.environment.assign(all.begin(), all.end());
  options.cwd = cwd.empty() ? spec_.working_directory : cwd;
  options.name = std::move(name);
  options.arguments = std::move(arguments);
  options.limits.memory_bytes = spec_.limits.memory_bytes;
  // Stages of pipelines and subshells count as processes here, which are cheap.
  options.limits.processes = std::max<std::uint32_t>(64, spec_.limits.processes_max * 16);
  options.limits.descriptors = spec_.limits.open_files_max;
  if (spec_.limits.cpu_time) options.limits.cpu_time = *spec_.limits.cpu_time;
  // The filesystem must outlive the shell, whoever of the two owners goes first.
  auto* made = new shell::SandboxShell(*tree_.view, std::move(options));
  std::shared_ptr<shell::SandboxShell> shell(made,
                                             [tree = tree_](shell::SandboxShell* gone) { delete gone; });
  // Makes its machine here, so that a cancellation from another thread finds one.
  (void)shell->execute(":");
  return shell;
}

Task<std::shared_ptr<Process>> VirtualSandbox::start(ProcessSpec spec) {
  CO_CHECK(check_alive());
  if (spec.argv.empty()) co_return fail(Error(Code::invalid_argument, "no command").with_field("argv"));
  if (spec.pty) co_return lacks("pty");
  if (!spec.user.empty() && spec.user != "user" && spec.user != "root")
    co_return fail(Error(Code::invalid_argument, fmt::format("no user {}", spec.user)).with_field("user"));
  if (life_->processes.size() >= spec_.limits.processes_max)
    co_return fail(
        Code::resource_exhausted,
        fmt::format("{} processes run, at most {}", life_->processes.size(), spec_.limits.processes_max));
  for (const auto& live : life_->processes)
    if (!spec.tag.empty() && live->info().tag == spec.tag)
      co_return fail(Code::already_exists, fmt::format("a process with the tag {} runs", spec.tag));
  std::string cwd = spec.cwd.empty() ? spec_.working_directory : spec.cwd;
  CO_TRY(auto directory, vfs::Path::posix(cwd));
  if (!tree_.view->is_directory(directory))
    co_return fail(Error(Code::not_found, fmt::format("{}: no such directory", cwd)).with_field("cwd"));

  auto command = command_of(spec.argv);
  ProcessInfo info;
  info.pid = next_pid_++;
  info.tag = spec.tag;
  info.argv = spec.argv;
  info.env = spec.env;
  info.cwd = cwd;
  info.user = spec.user.empty() ? spec_.user : spec.user;
  info.started_at = Clock::machine().now();
  auto shell = make_shell(spec.env, cwd, std::move(command.arguments), std::move(command.name));
  // Asked first, because a command that does not exist is an error of start() and no process that ends with
  // 127.
  if (command.is_program && shell->execute("command -v -- " + quoted(spec.argv[0])).status != 0)
    co_return fail(
        Error(Code::not_found, fmt::format("{}: no such command", spec.argv[0])).with_field("argv"));
  auto script = std::make_shared<Script>(executor_, std::move(shell), life_->cpu);
  bool input = spec.stdin_mode == Stdin::pipe;
  if (!input) script->console()->close_input();
  auto process = std::make_shared<VirtualProcess>(std::move(info), input, script);
  auto life = life_;
  life->processes.push_back(process);
  life->peak = std::max(life->peak, static_cast<std::uint32_t>(life->processes.size()));
  auto on_end = [life, weak = std::weak_ptr(process)](Outcome& outcome, const shell::Executed&) {
    life->output_bytes += outcome.usage.output_bytes;
    std::erase(life->processes, weak.lock());
  };
  ScriptLimits limits{spec.wall_time, spec.output_bytes};
  script->start(std::move(command.script), limits, std::move(on_end));
  std::shared_ptr<Process> handle = process;
  co_return handle;
}

std::vector<std::shared_ptr<Process>> VirtualSandbox::processes() {
  return {life_->processes.begin(), life_->processes.end()};
}

Task<std::shared_ptr<Interpreter>> VirtualSandbox::create_interpreter(Language language, std::string cwd) {
  CO_CHECK(check_alive());
  if (language != Language::shell) co_return lacks(fmt::format("interpreter for {}", to_string(language)));
  InterpreterInfo info{fmt::format("shell-{}", next_interpreter_++), language,
                       cwd.empty() ? spec_.working_directory : cwd};
  CO_TRY(auto directory, vfs::Path::posix(info.cwd));
  if (!tree_.view->is_directory(directory))
    co_return fail(Error(Code::not_found, fmt::format("{}: no such directory", info.cwd)).with_field("cwd"));
  // The interpreter may outlive the sandbox, so it makes its shells from a copy of what they need.
  Spec spec = spec_;
  auto tree = tree_;
  auto executor = executor_;
  auto make = [spec, tree, executor, own_nodes = own_nodes_, directory_text = info.cwd] {
    VirtualSandbox maker(executor, spec, tree, own_nodes);
    return maker.make_shell({}, directory_text, {}, "bash");
  };
  auto interpreter = std::make_shared<VirtualInterpreter>(executor_, std::move(info), spec_.limits,
                                                          std::move(make), life_->cpu);
  life_->interpreters.push_back(interpreter);
  std::shared_ptr<Interpreter> handle = interpreter;
  co_return handle;
}

std::vector<std::shared_ptr<Interpreter>> VirtualSandbox::interpreters() {
  return {life_->interpreters.begin(), life_->interpreters.end()};
}

Task<void> VirtualSandbox::remove_interpreter(std::string id) {
  auto place = std::ranges::find_if(life_->interpreters,
                                    [&](const auto& interpreter) { return interpreter->info().id == id; });
  if (place == life_->interpreters.end())
    co_return fail(Code::not_found, fmt::format("no interpreter {}", id));
  (*place)->close("the interpreter was removed");
  life_->interpreters.erase(place);
  co_return Result<void>();
}

Task<std::unique_ptr<ByteStream>> VirtualSandbox::connect(std::uint16_t) {
  co_return lacks("ports");
}
Task<std::vector<std::uint16_t>> VirtualSandbox::listening_ports() {
  co_return std::vector<std::uint16_t>();
}

Task<std::chrono::microseconds> VirtualSandbox::cpu_time() {
  co_return life_->cpu->total();
}

Task<Usage> VirtualSandbox::usage() {
  Usage usage;
  CO_TRY(auto stats, tree_.memory->stats());
  std::uint64_t stored_bytes = 0, stored_nodes = 0;
  if (tree_.stored) {
    CO_TRY(const auto stored, tree_.stored->stats());
    stored_bytes = stored.bytes;
    stored_nodes = stored.nodes();
  }
  usage.cpu_time = life_->cpu->total();
  usage.wall_time =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - created_);
  usage.memory_bytes = usage.memory_peak_bytes = stats.bytes;
  usage.disk_bytes = stats.bytes + stored_bytes;
  usage.disk_limit_bytes = spec_.limits.disk_bytes;
  usage.inodes = stats.nodes() - std::min(stats.nodes(), own_nodes_) + stored_nodes;
  usage.processes = static_cast<std::uint32_t>(life_->processes.size());
  usage.processes_peak = life_->peak;
  usage.output_bytes = life_->output_bytes;
  co_return usage;
}

Task<void> VirtualSandbox::pause() {
  co_return lacks("pause");
}
Task<void> VirtualSandbox::resume() {
  co_return lacks("pause");
}

Task<void> VirtualSandbox::snapshot(std::string target) {
  CO_CHECK(check_alive());
  CO_TRY(const auto state, tree_.snapshot());
  auto bytes = vfs::export_snapshot(state);
  if (os::exists(target)) co_return fail(Code::already_exists, "the snapshot exists");
  CO_CHECK(os::make_directory(target, 0700));
  co_return os::write_file(target + "/vfs.snapshot", bytes, 0600);
}

Task<void> VirtualSandbox::stop() {
  return Life::finish(life_, "stopped");
}

Task<std::string> VirtualSandbox::ended() {
  auto life = life_;
  while (!life->has_ended()) CO_CHECK(co_await life->ended.wait());
  co_return life->why;
}

void Life::end(const std::string& reason) {
  for (auto& process : processes) process->kill(reason);
  for (auto& interpreter : interpreters) interpreter->close(reason);
  if (why.empty()) why = reason;
  ended.notify();
}

Task<void> Life::finish(std::shared_ptr<Life> life, std::string reason) {
  auto processes = life->processes;
  life->end(reason);
  for (auto& process : processes) CO_CHECK(co_await process->wait());
  life->interpreters.clear();
  co_return Result<void>();
}

}  // namespace atl::sandbox::emulated
