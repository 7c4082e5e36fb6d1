#include "sandbox/native/sandbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "os/file.h"
#include "sandbox/guest_interpreter.h"
#include "sandbox/native/excess.h"
#include "sandbox/native/process_tree.h"
#include "sandbox/proxy_endpoint.h"
#include "sandbox/subject.h"

namespace atl::sandbox::native {

const Traits& native_traits() {
  static const Traits traits{.real_processes = true,
                             .pty = true,
                             .interpreters = true,
                             .network = true,
                             .ports = true,
                             .pause = true,
                             .snapshot = true,
                             .fork = true,
                             .live_fork = true,
                             .watch = true,
                             .mounts = true};
  return traits;
}

SpawnResult spawn_result(SpawnerClient::Answer answer, Spec spec) {
  SpawnResult spawned;
  spawned.spec = std::move(spec);
  auto sandbox = answer.reply.as<answers::Sandbox>();
  spawned.group = std::move(sandbox.group);
  spawned.isolation = std::move(sandbox.isolation);
  spawned.pid = static_cast<pid_t>(sandbox.pid);
  spawned.frozen = sandbox.frozen;
  // Until it is opened.
  say_network(spawned.isolation, Network::none);
  // Descriptors come in this order beside the answer (Spawner::hand_out).
  os::Fd* const places[] = {&spawned.stream, &spawned.pidfd, &spawned.upper};
  for (std::size_t i = 0; i < answer.fds.size() && i < std::size(places); ++i)
    *places[i] = std::move(answer.fds[i]);
  return spawned;
}

namespace {

// Of an interpreter that is copied: page tables of more take too long.
constexpr std::uint64_t kSpareBytesMax = 256U << 20;
// A zygote that starts imports modules, which may hang; an interpreter is started as a program then.
constexpr std::chrono::seconds kZygotePatience{20};

// An answer that comes after that is dropped. Its descriptors are closed then, which ends an interpreter at
// their other end.
Task<SpawnerClient::Answer> call_within(SpawnerClient& spawner, Request request,
                                        std::chrono::seconds patience) {
  using namespace boost::asio::experimental::awaitable_operators;
  boost::asio::steady_timer late(co_await boost::asio::this_coro::executor, patience);
  auto first = co_await (spawner.call(std::move(request)) ||
                         late.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable)));
  if (auto* answer = std::get_if<0>(&first)) co_return std::move(*answer);
  co_return fail(Code::unavailable, "no zygote became ready in time");
}

}  // namespace

NativeState::NativeState(boost::asio::any_io_executor executor, std::shared_ptr<SpawnerClient> spawner_,
                         std::shared_ptr<const CgroupTree> cgroups_, SpawnResult spawned_)
    : spawner(std::move(spawner_)),
      cgroups(std::move(cgroups_)),
      spawned(std::move(spawned_)),
      name(spawned.spec.id),
      changed(executor),
      executor_(executor) {
  if (!cgroups->counts_processes() || !cgroups->has(Controller::memory))
    if (auto proc = os::open("/proc", O_RDONLY | O_DIRECTORY)) proc_ = std::move(*proc);
}

Task<void> NativeState::greet() {
  GuestOptions options;
  options.user = spawned.spec.user;
  options.working_directory = spawned.spec.working_directory;
  options.env = spawned.spec.env;
  options.memory_bytes = spawned.spec.limits.memory_bytes;
  options.outcome_filter = [weak = weak_from_this()](const ProcessInfo& info, Outcome& outcome) {
    if (const auto self = weak.lock()) self->complete_outcome(info, outcome);
  };
  options.on_activity = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->note_activity();
  };
  // Weak in all of these: the connection, which keeps them, is owned by this state.
  options.interpreter_factory = [weak = weak_from_this()](std::string user,
                                                          std::string directory) -> Task<ForkedInterpreter> {
    const auto self = weak.lock();
    if (!self || self->ended) co_return fail(Code::unavailable, "the sandbox has ended");
    Request request{.name = self->name, .ask = ask::ForkInterpreter{std::move(user), std::move(directory)}};
    CO_TRY(SpawnerClient::Answer answer,
           co_await call_within(*self->spawner, std::move(request), kZygotePatience));
    if (answer.fds.size() != 3)
      co_return fail(Code::provider_failed, "the interpreter came without its streams");
    co_return ForkedInterpreter{std::move(answer.fds[0]), std::move(answer.fds[1]), std::move(answer.fds[2]),
                                answer.reply.as<answers::Interpreter>().pid};
  };
  // Where the kernel does not count memory, the host sums it up, and what a copy shares would count twice.
  if (cgroups->has(Controller::memory))
    options.spare.bytes_max = std::min(kSpareBytesMax, spawned.spec.limits.memory_bytes / 4);
  options.spare.others_wait = [weak = std::weak_ptr(spawner)] {
    const auto client = weak.lock();
    return client && client->is_waiting();
  };
  outcomes_.start(cgroups->oom_kills(spawned.group));
  CO_TRY(connection, co_await GuestConnection::open(std::move(spawned.stream), std::move(options)));
  co_return Result<void>();
}

Usage NativeState::usage() const {
  Usage usage;
  const GroupUsage group = measured();
  usage.cpu_time = std::chrono::microseconds(group.cpu_micros);
  usage.memory_bytes = group.memory_bytes;
  usage.memory_peak_bytes = group.memory_peak_bytes;
  usage.memory_cache_bytes = group.memory_cache_bytes;
  usage.read_bytes = group.read_bytes;
  usage.written_bytes = group.written_bytes;
  usage.processes = held_processes();
  usage.processes_peak = processes_peak_;
  usage.wall_time =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  usage.disk_limit_bytes = spawned.spec.limits.disk_bytes;
  if (spawned.upper.is_open())
    if (const auto space = os::filesystem_space(spawned.upper.get())) {
      usage.disk_bytes = space->bytes_used;
      usage.inodes = space->inodes_used;
    }
  // Files in memory are the sandbox's memory; the kernel counts them as such where it counts.
  if (!cgroups->has(Controller::memory)) {
    usage.memory_bytes += usage.disk_bytes;
    memory_peak_ = std::max(memory_peak_, usage.memory_bytes);
    usage.memory_peak_bytes = memory_peak_;
  }
  return usage;
}

GroupUsage NativeState::measured() const {
  GroupUsage group = cgroups->usage(spawned.group).value_or(GroupUsage{});
  const bool counts_memory = cgroups->has(Controller::memory), counts_cpu = cgroups->has(Controller::unified);
  if (counts_memory && counts_cpu) return group;
  const GroupUsage tree = tree_usage(proc_.get(), spawned.pid);
  if (!counts_cpu) group.cpu_micros = tree.cpu_micros;
  if (!counts_memory) group.memory_bytes = tree.memory_bytes;
  return group;
}

void NativeState::complete_outcome(const ProcessInfo&, Outcome& outcome) {
  note_activity();
  outcomes_.complete(outcome, cgroups->oom_kills(spawned.group), spawned.spec.limits.memory_bytes, usage());
}

std::vector<pid_t> NativeState::process_numbers() const {
  return cgroups->counts_processes() ? cgroups->processes(spawned.group)
                                     : tree_processes(proc_.get(), spawned.pid);
}

bool NativeState::is_in_use() const {
  if (is_busy()) return true;
  return cgroups->has(Controller::pids) ? cgroups->tasks(spawned.group) > 1 : process_numbers().size() > 1;
}

std::uint32_t NativeState::held_processes() const {
  const std::uint32_t held = workload_processes(process_numbers().size(), connection.get());
  processes_peak_ = std::max(processes_peak_, held);
  return held;
}

std::uint64_t NativeState::count_processes() {
  const std::uint32_t allowed = spawned.spec.limits.processes_max;
  if (!connection) return 0;
  // Tasks are at least as many as processes: most of the time one small read settles it.
  const bool counted = cgroups->has(Controller::pids);
  const std::uint64_t tasks = counted ? cgroups->tasks(spawned.group) : 0;
  if (counted && tasks <= allowed + 1) return tasks;
  const std::uint32_t held = held_processes();
  if (held > allowed) end_excess(held);
  return counted ? tasks : held;
}

void NativeState::end_excess(std::uint32_t held) {
  const std::uint32_t allowed = spawned.spec.limits.processes_max;
  const std::string reason = fmt::format("{} processes; {} are allowed", held, allowed);
  if (!proc_.is_open())
    if (auto proc = os::open("/proc", O_RDONLY | O_DIRECTORY)) proc_ = std::move(*proc);
  std::vector<Runner> runners;
  std::vector<std::function<void()>> ends;
  for (const std::shared_ptr<Process>& each : connection->processes())
    if (const auto process = std::dynamic_pointer_cast<GuestProcess>(each)) {
      runners.push_back(
          {Runner::Kind::command, static_cast<pid_t>(process->info().pid), process->since().value_or(0)});
      ends.emplace_back([=] { process->end_with(Ending::too_many_processes, reason); });
    }
  for (const std::shared_ptr<Interpreter>& each : connection->interpreters())
    if (const auto interpreter = std::dynamic_pointer_cast<GuestInterpreter>(each);
        interpreter && interpreter->process()) {
      const GuestProcess& process = *interpreter->process();
      const auto kind = process.since() ? Runner::Kind::busy_interpreter : Runner::Kind::idle_interpreter;
      runners.push_back({kind, static_cast<pid_t>(process.info().pid), process.since().value_or(0)});
      ends.emplace_back([=] { interpreter->end_current(Ending::too_many_processes, reason); });
    }
  const std::vector<TreeProcess> processes = describe_processes(proc_.get(), process_numbers());
  // Where the host's /proc does not show them, they cannot be told apart.
  if (processes.empty()) return end_executions(Ending::too_many_processes, reason);
  const Excess excess = find_excess(processes, runners, connection->began(), held, allowed);
  for (const std::size_t index : excess.runners) ends[index]();
  if (excess.background_since_us) sweep(excess);
}

// If there are too many again soon after, an older background process may have started them: then all of the
// background is ended. Not if an interpreter started them all: it goes on, and what is older is innocent.
void NativeState::sweep(const Excess& excess) {
  constexpr std::chrono::seconds kSoon{1};
  if (is_sweeping_) return;
  is_sweeping_ = true;
  const auto now = std::chrono::steady_clock::now();
  const bool again = swept_at_ && now - *swept_at_ < kSoon;
  swept_at_ = now;
  const std::uint64_t since_us =
      again && !excess.runners_started_them ? 0 : excess.background_since_us.value_or(0);
  const auto work = [](std::shared_ptr<NativeState> self, std::shared_ptr<GuestConnection> inside,
                       std::uint64_t since) -> Task<void> {
    const auto ended_count = co_await inside->sweep(since);
    self->is_sweeping_ = false;
    if (ended_count)
      log::info(subject_of(self->spawned.spec), "background processes over the limit were ended",
                {{"sandbox", self->name}, {"processes", std::to_string(*ended_count)}});
    co_return Result<void>();
  };
  boost::asio::co_spawn(executor_, work(shared_from_this(), connection, since_us), boost::asio::detached);
}

void NativeState::end_executions(Ending ending, const std::string& reason) {
  if (connection) connection->end_executions(ending, reason);
}

void NativeState::has_ended(std::string why) {
  if (ended) return;
  ended = std::move(why);
  if (connection) connection->close(Error(Code::unavailable, "the sandbox has ended: " + *ended));
  if (spawned.upper.is_open()) spawner->close_behind(std::move(spawned.upper));
  spawned.pidfd.reset();
  changed.notify();
}

NativeSandbox::NativeSandbox(std::shared_ptr<NativeState> state) : state_(std::move(state)) {}

NativeSandbox::~NativeSandbox() {
  if (state_->ended) return;
  // A destructor cannot wait for the answer.
  state_->spawner->tell(Request{.name = state_->name, .ask = ask::Destroy{}});
  state_->has_ended("its handle was given up");
}

void NativeSandbox::assign(Spec spec) {
  NativeState& state = *state_;
  state.spawner->tell(Request{.name = state.name, .ask = ask::Rename{spec.id}});
  state.name = spec.id;
  state.connection->set_defaults(spec.user, spec.working_directory, spec.env);
  state.spawned.spec = std::move(spec);
}

namespace {

// Where the sandbox has one user only, another one's refusal says why and what to do.
Error explained(Error error, const Isolation& isolation) {
  const auto users = std::ranges::find(isolation.missing, "users", &Wall::name);
  if (users == isolation.missing.end() || !error.message().starts_with("cannot become user")) return error;
  return Error(error.code(), fmt::format("{}: {}", error.message(), users->value)).with_field("user");
}

}  // namespace

Task<std::shared_ptr<Process>> NativeSandbox::start(ProcessSpec spec) {
  const auto state = state_;
  if (state->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *state->ended);
  if (state->spawned.frozen) co_return fail(Code::conflict, "the sandbox is paused");
  auto started = co_await state->connection->start(std::move(spec));
  if (!started) co_return fail(explained(std::move(started).error(), state->spawned.isolation));
  co_return std::move(*started);
}

std::vector<std::shared_ptr<Process>> NativeSandbox::processes() {
  if (!state_->connection) return {};
  return state_->connection->processes();
}

Files& NativeSandbox::files() {
  return state_->connection->files();
}

Task<std::shared_ptr<Interpreter>> NativeSandbox::create_interpreter(Language language, std::string cwd) {
  const auto state = state_;
  if (state->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *state->ended);
  if (state->spawned.frozen) co_return fail(Code::conflict, "the sandbox is paused");
  auto made = co_await state->connection->create_interpreter(language, std::move(cwd));
  if (!made) co_return fail(explained(std::move(made).error(), state->spawned.isolation));
  co_return std::move(*made);
}

std::vector<std::shared_ptr<Interpreter>> NativeSandbox::interpreters() {
  if (!state_->connection) return {};
  return state_->connection->interpreters();
}

Task<void> NativeSandbox::remove_interpreter(std::string id) {
  const auto state = state_;
  CO_CHECK(check_connection());
  co_return co_await state->connection->remove_interpreter(std::move(id));
}

Task<std::unique_ptr<ByteStream>> NativeSandbox::connect(std::uint16_t port) {
  const auto state = state_;
  CO_CHECK(check_port(state->spawned.spec.network, port));
  CO_CHECK(check_connection());
  co_return co_await state->connection->connect(port);
}

Task<std::vector<std::uint16_t>> NativeSandbox::listening_ports() {
  const auto state = state_;
  CO_CHECK(check_connection());
  CO_TRY(auto ports, co_await state->connection->listening_ports());
  hide_proxy_ports(state->spawned.spec.network, ports);
  co_return ports;
}

Task<void> NativeSandbox::open_network(std::shared_ptr<egress::Proxy> proxy) {
  const auto state = state_;
  if (state->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *state->ended);
  CO_CHECK(check_connection());
  CO_CHECK(co_await open_proxy_endpoint(state->connection, std::move(proxy)));
  state->spawned.spec.network = Network::egress;
  say_network(state->spawned.isolation, Network::egress);
  co_return Result<void>();
}

Task<void> NativeSandbox::trust(std::string certificate) {
  const auto state = state_;
  if (state->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *state->ended);
  CO_CHECK(check_connection());
  co_return co_await trust_authority(state->connection, std::move(certificate));
}

Task<Usage> NativeSandbox::usage() {
  if (state_->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *state_->ended);
  co_return state_->usage();
}

Task<std::chrono::microseconds> NativeSandbox::cpu_time() {
  if (state_->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *state_->ended);
  if (!state_->cgroups->has(Controller::unified)) co_return state_->usage().cpu_time;
  co_return std::chrono::microseconds(state_->cgroups->cpu_micros(state_->spawned.group));
}

Task<void> NativeSandbox::ask_spawner(Ask what) {
  const auto state = state_;
  if (state->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *state->ended);
  Request request{.name = state->name, .ask = std::move(what)};
  CO_TRY(auto answer, co_await state->spawner->call(std::move(request)));
  (void)answer;
  co_return Result<void>();
}

Task<void> NativeSandbox::pause() {
  const auto state = state_;
  if (state->spawned.frozen) co_return Result<void>();
  // Before the request: what is asked of the guest while it is being frozen would hang.
  state->connection->set_paused(true);
  auto done = co_await ask_spawner(ask::Freeze{});
  state->spawned.frozen = done.has_value();
  if (done) state->connection->fail_waiting();
  if (!done) state->connection->set_paused(false);
  co_return done;
}

Task<void> NativeSandbox::resume() {
  const auto state = state_;
  if (!state->spawned.frozen) co_return Result<void>();
  CO_CHECK(co_await ask_spawner(ask::Thaw{}));
  state->spawned.frozen = false;
  if (state->connection) {
    state->connection->set_paused(false);
    co_return Result<void>();
  }
  // It was taken back while it was paused, so its guest finds its new stream only now. One that does not is
  // of no use.
  if (auto greeted = co_await state->greet(); !greeted) {
    auto stopped = co_await stop();
    co_return fail(Code::unavailable, "its guest did not answer after the service was started again: " +
                                          greeted.error().message());
  }
  state->note_activity();
  co_return Result<void>();
}

Result<void> NativeSandbox::check_connection() const {
  if (state_->connection) return {};
  return fail(Code::conflict, "the sandbox is paused");
}

Task<void> NativeSandbox::snapshot(std::string target) {
  return ask_spawner(ask::Snapshot{std::move(target)});
}

Task<void> NativeSandbox::stop() {
  const auto state = state_;
  if (state->ended) co_return Result<void>();
  state->note_activity();
  auto done = co_await ask_spawner(ask::Destroy{});
  state->has_ended("stopped");
  // Ended by itself in the meantime: as good.
  if (!done && done.error().code() == Code::not_found) co_return Result<void>();
  co_return done;
}

Task<std::string> NativeSandbox::ended() {
  const auto state = state_;
  while (!state->ended) CO_CHECK(co_await state->changed.wait());
  co_return *state->ended;
}

}  // namespace atl::sandbox::native
