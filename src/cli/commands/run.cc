#include <fmt/format.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <ranges>

#include "cli/command.h"
#include "cli/commands/env.h"
#include "cli/copied_files.h"
#include "config/checked.h"
#include "config/configuration.h"
#include "daemon/data_directory.h"
#include "egress/host_addresses.h"
#include "egress/machine.h"
#include "os/file.h"
#include "registry/ceilings.h"
#include "registry/registry.h"
#include "sandbox/emulated/virtual.h"
#include "sandbox/native/native.h"
#include "session/local_service.h"
#include "store/store.h"

namespace atl::cli {
namespace {

namespace asio = boost::asio;
using sandbox::Ending;

// Atoll itself failed, not the command.
constexpr int kOwnFailure = 125;
// Output goes to whoever called and holds the command back, so that it needs no limit by default.
constexpr std::uint64_t kNoLimit = 1ULL << 50;
// Less holds no process and no file.
constexpr std::uint64_t kBytesMin = 1U << 20U;
constexpr double kSecondsMax = 365.0 * 24 * 3600;
constexpr std::size_t kUserMax = 64;
constexpr std::int64_t kProcessesMax = 4'194'304;  // as many as Linux has ids

struct RunFlags {
  SettingFlags settings;
  std::string provider = "native";
  std::string environment = "host";
  std::string memory, disk, output, cpus, seconds, processes;
  std::string network, policy;
  std::vector<std::string> allow, deny;
  std::string user;
  std::string hostname = "sandbox";
  std::string cgroup_parent;
  bool sudo = false;
  bool pty = false;
  bool isolation = false;
  bool interactive = false;
  std::vector<std::string> copies;
  std::vector<std::string> env;
  std::vector<std::string> mounts;
  std::vector<std::string> required;
  std::vector<std::string> command;
};

Result<sandbox::HostMount> parse_mount(const std::string& text) {
  const config::Checked given("--mount", text);
  const Error wrong = given.wrong("is no mount", "write HOST:PATH or HOST:PATH:ro");
  std::string rest = text;
  bool writable = true;
  if (rest.ends_with(":ro")) {
    writable = false;
    rest.resize(rest.size() - 3);
  }
  const std::size_t colon = rest.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == rest.size()) return fail(wrong);
  char* real = ::realpath(rest.substr(0, colon).c_str(), nullptr);
  if (real == nullptr)
    return fail(given.wrong("names nothing that is there", "write HOST:PATH with a HOST that exists"));
  std::string host = real;
  ::free(real);
  return sandbox::HostMount{
      .host_path = std::move(host),
      .guest_path = TRY(config::Checked("--mount", rest.substr(colon + 1)).absolute_path()),
      .writable = writable};
}

std::string real_path(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  std::string found = real == nullptr ? path : real;
  ::free(real);
  return found;
}

Result<registry::LimitsPatch> limits_of(const RunFlags& flags) {
  registry::LimitsPatch limits;
  const auto bytes = [](std::string_view flag, const std::string& text) {
    return config::Checked(flag, text).bytes(kBytesMin, kNoLimit);
  };
  if (!flags.memory.empty()) limits.memory_bytes = TRY(bytes("--memory", flags.memory));
  if (!flags.disk.empty()) limits.disk_bytes = TRY(bytes("--disk", flags.disk));
  if (!flags.cpus.empty()) limits.cpu_cores = TRY(config::Checked("--cpus", flags.cpus).number(0.01, 8192));
  if (!flags.processes.empty())
    limits.processes_max = static_cast<std::uint32_t>(
        TRY(config::Checked("--processes", flags.processes).whole_number(1, kProcessesMax)));
  if (!flags.seconds.empty())
    limits.wall_time = TRY(config::Checked("--time", flags.seconds).seconds(0.001, kSecondsMax));
  limits.output_bytes =
      flags.output.empty() ? kNoLimit : TRY(config::Checked("--output", flags.output).bytes(1, kNoLimit));
  return limits;
}

// In terms of what was typed.
Result<void> check_against_machine(const registry::LimitsPatch& limits) {
  const auto good = registry::check(limits, registry::machine_ceilings("/var/tmp"));
  if (good) return {};
  const std::map<std::string_view, const char*> flags{{"limits.memory_mb", "--memory"},
                                                      {"limits.cpu_cores", "--cpus"},
                                                      {"limits.max_processes", "--processes"},
                                                      {"limits.disk_mb", "--disk"}};
  const auto flag = flags.find(good.error().field());
  return fail(Code::invalid_argument,
              fmt::format("{}: {}", flag == flags.end() ? good.error().field() : flag->second,
                          good.error().message()));
}

Result<session::CreateRequest> request_of(const RunFlags& flags, const registry::Registry& registry) {
  session::CreateRequest request;
  request.provider = flags.provider;
  request.environment = flags.environment;
  request.policy = flags.policy;
  session::LocalRequest& local = request.local;
  local.hostname = TRY(config::Checked("--hostname", flags.hostname).host_name());
  if (flags.sudo) local.sudo = true;
  if (!flags.user.empty()) local.user = TRY(config::Checked("--user", flags.user).label(kUserMax));
  if (flags.user == "root") local.working_directory = "/root";
  if (registry.environment(flags.environment) == nullptr) {
    if (!os::exists(flags.environment)) {
      return fail(Code::not_found,
                  fmt::format("--environment: there is no environment '{}'; write one of {}, or a directory",
                              config::shown(flags.environment),
                              fmt::join(std::views::keys(registry.environments()), ", ")));
    }
    request.environment = "host";
    local.layers = {real_path(flags.environment)};
    local.working_directory = "/";
  }
  request.limits = TRY(limits_of(flags));
  TRY(check_against_machine(request.limits));
  if (!flags.network.empty()) {
    constexpr std::array<std::string_view, 2> words = {"none", "egress"};
    const std::string word = TRY(config::Checked("--network", flags.network).choice(words));
    request.network = word == "egress" ? sandbox::Network::egress : sandbox::Network::none;
  }
  for (const auto& [flag, given] : {std::pair("--allow", &flags.allow), std::pair("--deny", &flags.deny)})
    if (request.network != sandbox::Network::egress && !given->empty())
      return fail(
          config::Checked(flag, given->front()).wrong("is a rule for a network", "add --network egress"));
  request.egress.allow = flags.allow;
  request.egress.deny = flags.deny;
  for (const std::string& pair : flags.env) {
    auto [name, value] = TRY(config::Checked("--env", pair).assignment());
    request.env.insert_or_assign(std::move(name), std::move(value));
  }
  for (const std::string& text : flags.mounts) local.host_mounts.push_back(TRY(parse_mount(text)));
  request.required_walls = flags.required;
  return request;
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

Task<sandbox::Outcome> show_output(session::Command& command) {
  for (;;) {
    CO_TRY(sandbox::ProcessEvent event, co_await command.stream->next());
    if (auto* outcome = std::get_if<sandbox::Outcome>(&event)) co_return std::move(*outcome);
    const auto& output = std::get<sandbox::Output>(event);
    // A command that never stops writing must not keep signals and timers from being handled.
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    // If our reader went away, the command is ended, as SIGPIPE would end it if it wrote to that reader
    // itself.
    if (!os::write_all(output.stream == sandbox::Stream::err ? STDERR_FILENO : STDOUT_FILENO, output.bytes)) {
      (void)co_await command.process->signal(SIGPIPE);
      (void)co_await command.process->signal(SIGKILL);
    }
  }
}

void show_isolation(const sandbox::Isolation& isolation) {
  for (const sandbox::Wall& wall : isolation.walls) fmt::print(stderr, "{}: {}\n", wall.name, wall.value);
  for (const sandbox::Wall& wall : isolation.missing)
    fmt::print(stderr, "missing {}: {}\n", wall.name, wall.value);
}

// What the command tried to reach and may not.
Task<void> show_refusals(session::Service& service, auth::Principal who, std::string session_id) {
  CO_TRY(const session::NetworkFacts facts, co_await service.network(std::move(who), std::move(session_id)));
  for (const session::NetworkDecision& one : facts.decisions)
    if (!one.allowed)
      fmt::print(stderr, "atoll: network: {}:{} refused: {}\n", one.host, one.port, one.reason);
  co_return Result<void>{};
}

// Where the command begins, which is where files are copied to.
std::string working_directory_of(const RunFlags& flags, const session::CreateRequest& request) {
  if (request.local.working_directory) return *request.local.working_directory;
  return flags.user == "root" ? "/root" : "/home/user";
}

// The session is the service's; whoever calls ends the service and the session with it.
Task<int> run_command(asio::io_context& loop, session::Service& service, const RunFlags& flags,
                      session::CreateRequest request) {
  const auth::Principal who{"local", "local"};
  session::CommandRequest wanted;
  wanted.argv = flags.command;
  wanted.stdin_mode = sandbox::Stdin::pipe;
  wanted.ends_with = sandbox::EndsWith::process;
  if (flags.pty) wanted.pty = terminal_size();
  const std::string working_directory = working_directory_of(flags, request);
  std::vector<CopiedFile> copies;
  for (const std::string& text : flags.copies) {
    CO_TRY(CopiedFile copy, CopiedFile::parse(text, working_directory));
    copies.push_back(std::move(copy));
  }
  CO_TRY(const session::Session box, co_await service.create(who, std::move(request)));
  if (flags.isolation) show_isolation(box.isolation);
  if (!copies.empty()) {
    CO_TRY(auto files, co_await service.files(who, box.session_id));
    CO_CHECK(co_await copy_into(std::move(files), std::move(copies), flags.user));
  }
  CO_TRY(session::Command command,
         session::started_or_error(co_await service.start(who, box.session_id, std::move(wanted))));
  const RawTerminal raw(flags.pty);
  asio::signal_set signals(loop, SIGINT, SIGTERM, SIGHUP);
  if (flags.pty) signals.add(SIGWINCH);
  asio::co_spawn(loop, forward_signals(command.process, signals), asio::detached);
  asio::co_spawn(loop, forward_input(command.process, os::Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3))),
                 asio::detached);
  auto outcome = co_await show_output(command);
  signals.cancel();
  if (box.network == sandbox::Network::egress) (void)co_await show_refusals(service, who, box.session_id);
  if (!outcome) co_return fail(std::move(outcome).error());
  if (!outcome->reason.empty() && !reader_is_gone())
    fmt::print(stderr, "atoll: {}: {}\n", to_string(outcome->ending), outcome->reason);
  if (outcome->ending == Ending::lost) co_return kOwnFailure;
  co_return exit_status(*outcome);
}

int report_own(const Error& error) {
  (void)report(error);
  return kOwnFailure;
}

Result<std::unique_ptr<sandbox::Provider>> provider_of(asio::io_context& loop, const RunFlags& flags,
                                                       const session::LocalRequest& local,
                                                       const registry::Environment* environment) {
  constexpr std::array<std::string_view, 2> words = {"native", "virtual"};
  TRY(config::Checked("--provider", flags.provider).choice(words));
  if (flags.provider == "virtual") return sandbox::emulated::make(loop.get_executor());
  sandbox::native::NativeOptions options;
  options.spawner.slots_ready = 0;
  // What this one sandbox consists of, and nothing else of this machine.
  if (local.layers) options.spawner.roots.layers = *local.layers;
  if (environment != nullptr)
    options.spawner.roots.layers.insert(options.spawner.roots.layers.end(), environment->layers.begin(),
                                        environment->layers.end());
  for (const sandbox::HostMount& mount : local.host_mounts)
    options.spawner.roots.mounts.push_back({.path = mount.host_path, .writable = mount.writable});
  if (!flags.cgroup_parent.empty())
    options.spawner.cgroup_parent =
        TRY(config::Checked("--cgroup-parent", flags.cgroup_parent).control_group());
  return sandbox::native::start(loop.get_executor(), std::move(options));
}

// Environments by name may have layers in the data directory; `host` and directories need none.
bool needs_layers(const RunFlags& flags) {
  return flags.environment != "host" && flags.environment.find('/') == std::string::npos;
}

// A session service of its own with a store in memory, so that policy, limits and history work as they do in
// the daemon.
Result<int> run_in_service(const RunFlags& flags) {
  if (flags.command.empty())
    return fail(Code::invalid_argument, "no command was given; write it after --, as in `atoll run -- true`");
  const config::Configuration configuration = TRY(flags.settings.load());
  registry::Registry registry = TRY(registry::Registry::load(configuration.text("registry")));
  std::unique_ptr<layer::Store> layers;
  std::unique_ptr<EnvironmentUse> use;
  if (needs_layers(flags)) {
    const std::string data = TRY(daemon::data_directory(configuration));
    layers = TRY(layer::Store::open(data + "/layers"));
    registry.attach(*layers);
    if (const registry::Environment* environment = registry.environment(flags.environment))
      use = TRY(use_environment(*layers, *environment));
  }
  session::CreateRequest request = TRY(request_of(flags, registry));
  for (const sandbox::HostMount& mount : request.local.host_mounts)
    if (mount.writable)
      fmt::print(stderr, "atoll: danger: {} of this machine can be written from inside\n", mount.host_path);
  asio::io_context loop;
  // Before the store: the spawner is forked off a process without threads.
  const std::unique_ptr<sandbox::Provider> provider =
      TRY(provider_of(loop, flags, request.local, registry.environment(request.environment)));
  const std::unique_ptr<store::Store> store = TRY(store::Store::open_in_memory());
  session::LocalService::Dependencies dependencies{
      .executor = loop.get_executor(), .store = store.get(), .registry = &registry};
  dependencies.providers = {provider.get()};
  dependencies.clock = &Clock::machine();
  egress::Machine machine(loop.get_executor());
  dependencies.outside.resolver = &machine;
  dependencies.outside.connector = &machine;
  // Whoever runs this is the operator: what --allow names is opened by that.
  if (flags.network == "egress")
    dependencies.outside.internal = egress::InternalAddresses::all_opened(TRY(egress::HostAddresses::open()));
  session::ServiceOptions options;
  options.default_ttl = options.max_ttl;
  session::LocalService service(std::move(dependencies), std::move(options));
  Result<int> status = kOwnFailure;
  const auto body = [&]() -> asio::awaitable<void> {
    auto started = co_await service.start();
    if (started) status = co_await run_command(loop, service, flags, std::move(request));
    if (!started) status = fail(std::move(started).error());
    (void)co_await service.shut_down("the command ended");
    (void)co_await provider->shut_down();
    loop.stop();
  };
  asio::co_spawn(loop, body, asio::detached);
  loop.run();
  return status;
}

// A program of this machine that is not inside is the first thing that people miss.
void hint_at_copy(const RunFlags& flags) {
  if (flags.command.empty() || !flags.copies.empty() || !flags.mounts.empty()) return;
  const std::string& program = flags.command.front();
  if (!program.contains('/') || ::access(program.c_str(), F_OK) != 0) return;
  // What is shown inside from this machine is not missing.
  if (program.starts_with("/usr/") || program.starts_with("/bin/")) return;
  fmt::print(
      stderr,
      "atoll: '{0}' is a file of this machine, of which nothing is inside; to take a copy along write\n"
      "  atoll run --copy {0} -- {1}{2}\n",
      config::shown(program), program.starts_with("./") ? "" : "./",
      config::shown(program.starts_with("./") ? program : program.substr(program.rfind('/') + 1)));
}

int run(const RunFlags& flags) {
  auto status = run_in_service(flags);
  if (!status || *status == 126 || *status == 127) hint_at_copy(flags);
  return status ? *status : report_own(status.error());
}

}  // namespace

Action define_run(Command& top) {
  Command command = top.add_command("run", "Run one command in a fresh sandbox, without a daemon");
  auto flags = std::make_unique<RunFlags>();
  flags->settings.add_to(command);
  command.add_option("--provider", flags->provider, "What makes the sandbox: native or virtual")
      .with_default_shown()
      .value("native|virtual");
  command
      .add_option("--environment", flags->environment,
                  "A name of the registry, or a directory with a root filesystem")
      .with_default_shown()
      .value("ENVIRONMENT");
  command.add_option("-m,--memory", flags->memory, "Memory limit, such as 256M (default 512M)").value("SIZE");
  command.add_option("--cpus", flags->cpus, "CPU cores (default 1)").value("NUMBER");
  command.add_option("--time", flags->seconds, "Wall time in seconds (default 30)").value("SECONDS");
  command.add_option("--disk", flags->disk, "Disk limit, such as 1G (default 100M)").value("SIZE");
  command.add_option("--processes", flags->processes, "Processes at once (default 5)").value("NUMBER");
  command.add_option("--output", flags->output, "Output limit, such as 10M (default none)").value("SIZE");
  command.add_option("--network", flags->network, "none or egress (default: the environment's)")
      .value("none|egress");
  command
      .add_option(
          "--allow", flags->allow,
          "With egress: a name, *.name, address, range or *, each with :PORT if wanted; may be repeated")
      .one_value_each();
  command.add_option("--deny", flags->deny, "With egress: the same, refused; may be repeated")
      .one_value_each();
  command.add_option("--policy", flags->policy, "Policy for the command (default: the environment's)");
  command.add_option("-e,--env", flags->env, "NAME=VALUE; may be repeated").any_text().one_value_each();
  command
      .add_option("--copy", flags->copies,
                  "Copy a file or directory of this machine in, LOCAL[:PATH] (default: into the working "
                  "directory); may "
                  "be repeated")
      .one_value_each()
      .value("FILE");
  command
      .add_option("--mount", flags->mounts,
                  "DANGER: show a directory of this machine itself inside, HOST:PATH[:ro]; what is written "
                  "there stays. "
                  "--copy is harmless")
      .one_value_each();
  command.add_option("--user", flags->user, "User inside (default user)");
  command.add_option("--hostname", flags->hostname, "Host name inside").with_default_shown();
  command.add_option("--cgroup-parent", flags->cgroup_parent, "Name of the control group to work in");
  command.add_option("--require", flags->required, "Fail unless this wall stands; may be repeated")
      .one_value_each();
  command.add_flag("--sudo", flags->sudo, "Set-uid programs work inside");
  command.add_flag("-t,--pty", flags->pty, "Give the command a terminal");
  command.add_flag("-i,--interactive", flags->interactive,
                   "Standard input reaches the command; it always does");
  command.add_flag("--isolation", flags->isolation, "Print the walls in force to standard error");
  command.add_option("command", flags->command, "The command and its arguments, after --").any_text();
  command.notes(
      "atoll run -- python3 -c 'print(6 * 7)'\n"
      "atoll run --copy ./job.sh -- ./job.sh\n"
      "atoll run -m 256M --time 5 --network egress --allow example.com -- curl -s https://example.com\n"
      "atoll run -it -- bash\n"
      "Exit status: the command's own; 124 time limit; 137 memory, process or output limit; 125 Atoll "
      "itself.");
  return [flags = std::move(flags)] { return run(*flags); };
}

}  // namespace atl::cli
