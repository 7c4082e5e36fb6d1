#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <memory>
#include <optional>

#include "base/ids.h"
#include "cli/command.h"
#include "cli/size.h"
#include "egress/machine.h"
#include "egress/proxy.h"
#include "os/file.h"
#include "sandbox/native/native.h"
#include "sandbox/provider.h"

namespace atl::cli {
namespace {

namespace asio = boost::asio;
using sandbox::Ending;

// Atoll itself failed, not the command.
constexpr int kOwnFailure = 125;

struct RunFlags {
  std::string provider = "native";
  std::string environment = "host";
  std::string memory, disk, output;
  double cpus = 0;
  double seconds = 0;
  std::uint32_t processes = 0;
  std::string network = "none";
  std::vector<std::string> allow, deny;
  std::string user;
  std::string hostname = "sandbox";
  std::string cgroup_parent;
  bool sudo = false;
  bool pty = false;
  bool isolation = false;
  std::vector<std::string> env;
  std::vector<std::string> mounts;
  std::vector<std::string> required;
  std::vector<std::string> command;
};

Result<sandbox::HostMount> parse_mount(const std::string& text) {
  const Error wrong =
      Error(Code::invalid_argument, "--mount wants HOST:PATH or HOST:PATH:ro, got '" + text + "'");
  std::string rest = text;
  bool writable = true;
  if (rest.ends_with(":ro")) {
    writable = false;
    rest.resize(rest.size() - 3);
  }
  const std::size_t colon = rest.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == rest.size()) return fail(wrong);
  char* real = ::realpath(rest.substr(0, colon).c_str(), nullptr);
  if (real == nullptr) return fail(Code::not_found, "--mount: no such directory: " + rest.substr(0, colon));
  std::string host = real;
  ::free(real);
  return sandbox::HostMount{
      .host_path = std::move(host), .guest_path = rest.substr(colon + 1), .writable = writable};
}

Result<sandbox::Spec> make_spec(const RunFlags& flags) {
  sandbox::Spec spec;
  spec.id = new_sandbox_id();
  spec.hostname = flags.hostname;
  spec.sudo = flags.sudo;
  if (!flags.user.empty()) spec.user = flags.user;
  if (spec.user == "root") spec.working_directory = "/root";
  if (flags.environment != "host") {
    if (!os::exists(flags.environment))
      return fail(Code::not_found, "no environment '" + flags.environment + "' (here: host, or a directory)");
    char* real = ::realpath(flags.environment.c_str(), nullptr);
    spec.layers.push_back(real == nullptr ? flags.environment : real);
    ::free(real);
    spec.working_directory = "/";
  }
  sandbox::Limits& limits = spec.limits;
  if (!flags.memory.empty()) limits.memory_bytes = TRY(parse_size(flags.memory));
  if (!flags.disk.empty()) limits.disk_bytes = TRY(parse_size(flags.disk));
  if (flags.cpus > 0) limits.cpu_cores = flags.cpus;
  if (flags.processes > 0) limits.processes_max = flags.processes;
  if (flags.seconds > 0)
    limits.wall_time = std::chrono::milliseconds(static_cast<std::int64_t>(flags.seconds * 1000));
  if (flags.network == "egress")
    spec.network = sandbox::Network::egress;
  else if (flags.network != "none")
    return fail(Code::invalid_argument, "--network is none or egress");
  if (spec.network == sandbox::Network::none && !(flags.allow.empty() && flags.deny.empty()))
    return fail(Code::invalid_argument, "--allow and --deny need --network egress");
  for (const std::string& pair : flags.env) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Code::invalid_argument, "--env wants NAME=VALUE, got '" + pair + "'");
    spec.env[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  for (const std::string& text : flags.mounts) spec.host_mounts.push_back(TRY(parse_mount(text)));
  spec.required_walls = flags.required;
  return spec;
}

// The user's terminal without its own line editing while a pty is inside; put back however this ends.
class RawTerminal {
 public:
  explicit RawTerminal(bool wanted) {
    if (!wanted || ::tcgetattr(STDIN_FILENO, &before_) < 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    is_raw_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  ~RawTerminal() {
    if (is_raw_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
  bool is_raw_ = false;
};

sandbox::PtySize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row};
}

Task<void> forward_input(std::shared_ptr<sandbox::Process> process, os::Fd input) {
  asio::posix::stream_descriptor stream(co_await asio::this_coro::executor, input.release());
  std::string buffer(32768, '\0');
  for (;;) {
    auto [error, size] =
        co_await stream.async_read_some(asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
    if (error || size == 0) break;
    std::string bytes = buffer.substr(0, size);
    CO_CHECK(co_await process->write_stdin(std::move(bytes)));
  }
  co_return co_await process->close_stdin();
}

Task<void> forward_signals(std::shared_ptr<sandbox::Process> process, asio::signal_set& signals) {
  for (;;) {
    auto [error, number] = co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
    if (error) co_return Result<void>();
    if (number == SIGWINCH)
      (void)co_await process->resize(terminal_size());
    else
      (void)co_await process->signal(number);
  }
}

Task<sandbox::Outcome> show_output(sandbox::Process& process) {
  const auto stream = process.attach(sandbox::Replay::recent);
  for (;;) {
    CO_TRY(sandbox::ProcessEvent event, co_await stream->next());
    if (auto* outcome = std::get_if<sandbox::Outcome>(&event)) co_return std::move(*outcome);
    const auto& output = std::get<sandbox::Output>(event);
    // Output that is always there must not keep signals and clocks from their turn.
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    // A reader that went away is the command's business: it gets no more output taken from it.
    if (!os::write_all(output.stream == sandbox::Stream::err ? STDERR_FILENO : STDOUT_FILENO, output.bytes)) {
      (void)co_await process.signal(SIGPIPE);
      (void)co_await process.signal(SIGKILL);
    }
  }
}

Task<void> open_network(asio::io_context& loop, egress::Machine& machine, sandbox::Sandbox& box,
                        const RunFlags& flags) {
  egress::RuleTexts texts;
  texts.allow = flags.allow;
  texts.deny = flags.deny;
  CO_TRY(auto rules, egress::Rules::compile(texts));
  egress::Outside outside;
  outside.resolver = &machine;
  outside.connector = &machine;
  const auto tell = [](const egress::Attempt& attempt) {
    if (!attempt.allowed)
      fmt::print(stderr, "atoll: network: {}:{} refused: {}\n", attempt.host, attempt.port, attempt.reason);
  };
  co_return co_await box.open_network(std::make_shared<egress::Proxy>(
      loop.get_executor(), std::make_shared<const egress::Rules>(std::move(rules)), outside, tell));
}

Task<int> run_command(asio::io_context& loop, egress::Machine& machine, sandbox::Provider& provider,
                      const RunFlags& flags, sandbox::Spec spec) {
  sandbox::ProcessSpec command;
  command.argv = flags.command;
  command.stdin_mode = sandbox::Stdin::pipe;
  command.wall_time = spec.limits.wall_time;
  command.cpu_time = spec.limits.cpu_time;
  if (flags.pty) command.pty = terminal_size();
  if (!flags.output.empty()) {
    auto limit = parse_size(flags.output);
    if (!limit) co_return fail(std::move(limit).error());
    command.output_bytes = *limit;
  }
  const bool egress = spec.network == sandbox::Network::egress;
  CO_TRY(auto box, co_await provider.create(std::move(spec)));
  if (egress) CO_CHECK(co_await open_network(loop, machine, *box, flags));
  if (flags.isolation) {
    for (const sandbox::Wall& wall : box->isolation().walls)
      fmt::print(stderr, "{}: {}\n", wall.name, wall.value);
    for (const sandbox::Wall& wall : box->isolation().missing)
      fmt::print(stderr, "missing {}: {}\n", wall.name, wall.value);
  }
  auto started = co_await box->start(std::move(command));
  if (!started) {
    (void)co_await box->stop();
    co_return fail(std::move(started).error());
  }
  const std::shared_ptr<sandbox::Process> process = *started;
  const RawTerminal raw(flags.pty);
  asio::signal_set signals(loop, SIGINT, SIGTERM, SIGHUP);
  if (flags.pty) signals.add(SIGWINCH);
  asio::co_spawn(loop, forward_signals(process, signals), asio::detached);
  asio::co_spawn(loop, forward_input(process, os::Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3))),
                 asio::detached);
  auto outcome = co_await show_output(*process);
  signals.cancel();
  (void)co_await box->stop();
  if (!outcome) co_return fail(std::move(outcome).error());
  if (!outcome->reason.empty())
    fmt::print(stderr, "atoll: {}: {}\n", to_string(outcome->ending), outcome->reason);
  if (outcome->ending == Ending::lost) co_return kOwnFailure;
  co_return exit_status(*outcome);
}

int report_own(const Error& error) {
  (void)report(error);
  return kOwnFailure;
}

int run(const RunFlags& flags) {
  if (flags.command.empty()) return report_own(Error(Code::invalid_argument, "no command given after --"));
  if (flags.provider != "native")
    return report_own(
        Error(Code::unsupported, "atoll run knows the provider native, not '" + flags.provider + "'"));
  auto spec = make_spec(flags);
  if (!spec) return report_own(spec.error());
  for (const sandbox::HostMount& mount : spec->host_mounts)
    if (mount.writable)
      fmt::print(stderr, "atoll: danger: {} of this machine can be written from inside\n", mount.host_path);
  asio::io_context loop;
  sandbox::native::NativeOptions options;
  options.spawner.slots_ready = 0;
  options.spawner.cgroup_parent = flags.cgroup_parent;
  auto provider = sandbox::native::start(loop.get_executor(), std::move(options));
  if (!provider) return report_own(provider.error());
  egress::Machine machine(loop.get_executor());
  int status = kOwnFailure;
  const auto body = [&]() -> asio::awaitable<void> {
    auto done = co_await run_command(loop, machine, **provider, flags, std::move(*spec));
    status = done ? *done : report_own(done.error());
    (void)co_await (*provider)->shut_down();
    loop.stop();
  };
  asio::co_spawn(loop, body, asio::detached);
  loop.run();
  return status;
}

}  // namespace

Action define_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "Run one command in a fresh sandbox, without a daemon");
  auto flags = std::make_shared<RunFlags>();
  command->add_option("--provider", flags->provider, "What makes the sandbox")->capture_default_str();
  command->add_option("--environment", flags->environment, "host, or a directory with a root filesystem")
      ->capture_default_str();
  command->add_option("--memory", flags->memory, "Memory limit, such as 256M (default 512M)");
  command->add_option("--cpus", flags->cpus, "CPU cores (default 1)");
  command->add_option("--time", flags->seconds, "Wall time in seconds (default 30)");
  command->add_option("--disk", flags->disk, "Disk limit, such as 1G (default 100M)");
  command->add_option("--processes", flags->processes, "Processes at once (default 5)");
  command->add_option("--output", flags->output, "Output limit, such as 10M (default none)");
  command->add_option("--network", flags->network, "none or egress")->capture_default_str();
  command
      ->add_option(
          "--allow", flags->allow,
          "With egress: a name, *.name, address, range or *, each with :PORT if wanted; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--deny", flags->deny, "With egress: the same, refused; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--env", flags->env, "NAME=VALUE; may be repeated")->allow_extra_args(false);
  command
      ->add_option("--mount", flags->mounts,
                   "DANGER: show a directory of this machine inside, HOST:PATH[:ro]")
      ->allow_extra_args(false);
  command->add_option("--user", flags->user, "User inside (default user)");
  command->add_option("--hostname", flags->hostname, "Host name inside")->capture_default_str();
  command->add_option("--cgroup-parent", flags->cgroup_parent, "Name of the control group to work in");
  command->add_option("--require", flags->required, "Fail unless this wall stands; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--sudo", flags->sudo, "Set-uid programs work inside");
  command->add_flag("--pty", flags->pty, "Give the command a terminal");
  command->add_flag("--isolation", flags->isolation, "Print the walls in force to standard error");
  command->add_option("command", flags->command, "The command and its arguments, after --");
  command->prefix_command(false);
  return [flags] { return run(*flags); };
}

}  // namespace atl::cli
