#include "sandbox/native/sandbox.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"
#include "os/file.h"
#include "sandbox/native/excess.h"
#include "sandbox/native/process_tree.h"
#include "sandbox/link_kernel.h"
#include "sandbox/outlet.h"

namespace atl::sandbox::native {

const Traits& native_traits() {
  static const Traits traits{.real_processes = true,
                             .pty = true,
                             .kernels = true,
                             .network = true,
                             .ports = true,
                             .pause = true,
                             .snapshot = true,
                             .fork = true,
                             .live_fork = true,
                             .watch = true};
  return traits;
}

Handed handed_over(SpawnerClient::Answer answer, Spec spec) {
  Handed handed;
  handed.spec = std::move(spec);
  handed.group = std::move(answer.reply.group);
  handed.isolation = std::move(answer.reply.isolation);
  handed.pid = static_cast<pid_t>(answer.reply.pid);
  handed.frozen = answer.reply.text == "frozen";
  // Until it is opened.
  say_network(handed.isolation, Network::none);
  os::Fd* const places[] = {&handed.stream, &handed.pidfd, &handed.upper};
  for (std::size_t i = 0; i < answer.fds.size() && i < std::size(places); ++i)
    *places[i] = std::move(answer.fds[i]);
  return handed;
}

namespace {

// Of an interpreter that is copied: page tables of more take too long.
constexpr std::uint64_t kSpareBytesMax = 256U << 20;
// A zygote that starts imports modules, which may hang; an interpreter is started as a program then.
constexpr std::chrono::seconds kZygotePatience{20};

// What is answered after that is nobody's: its descriptors are closed, which ends an interpreter at their other end.
Task<SpawnerClient::Answer> call_within(SpawnerClient& spawner, Request request, std::chrono::seconds patience) {
  using namespace boost::asio::experimental::awaitable_operators;
  boost::asio::steady_timer late(co_await boost::asio::this_coro::executor, patience);
  auto first = co_await (spawner.call(std::move(request)) ||
                         late.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable)));
  if (auto* answer = std::get_if<0>(&first)) co_return std::move(*answer);
  co_return fail(Code::unavailable, "no zygote became ready in time");
}

}  // namespace

Inhabitant::Inhabitant(boost::asio::any_io_executor executor, std::shared_ptr<SpawnerClient> spawner_,
                       std::shared_ptr<const CgroupTree> cgroups_, Handed handed_)
    : spawner(std::move(spawner_)),
      cgroups(std::move(cgroups_)),
      handed(std::move(handed_)),
      name(handed.spec.id),
      changed(executor),
      executor_(executor) {
  if (!cgroups->counts_processes() || !cgroups->has(Controller::memory))
    if (auto proc = os::open("/proc", O_RDONLY | O_DIRECTORY)) proc_ = std::move(*proc);
}

Task<void> Inhabitant::greet() {
  LinkOptions options;
  options.user = handed.spec.user;
  options.working_directory = handed.spec.working_directory;
  options.env = handed.spec.env;
  options.memory_bytes = handed.spec.limits.memory_bytes;
  options.judge = [weak = weak_from_this()](const ProcessInfo& info, Outcome& outcome) {
    if (const auto self = weak.lock()) self->judge(info, outcome);
  };
  options.stirred = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->stir();
  };
  options.midwife = [weak = weak_from_this()](std::string user, std::string directory) -> Task<BornInterpreter> {
    const auto self = weak.lock();
    if (!self || self->ended) co_return fail(Code::unavailable, "the sandbox has ended");
    Request request{.verb = Verb::bear, .name = self->name};
    request.user = std::move(user), request.directory = std::move(directory);
    CO_TRY(SpawnerClient::Answer answer, co_await call_within(*self->spawner, std::move(request), kZygotePatience));
    if (answer.fds.size() != 3) co_return fail(Code::provider_failed, "the interpreter came without its streams");
    co_return BornInterpreter{std::move(answer.fds[0]), std::move(answer.fds[1]), std::move(answer.fds[2]),
                              answer.reply.pid};
  };
  // Where the kernel does not count memory, the host sums it up, and what a copy shares would count twice.
  if (cgroups->has(Controller::memory))
    options.spare.bytes_max = std::min(kSpareBytesMax, handed.spec.limits.memory_bytes / 4);
  options.spare.others_wait = [weak = std::weak_ptr(spawner)] {
    const auto client = weak.lock();
    return client && client->is_waiting();
  };
  oom_kills_seen_ = cgroups->oom_kills(handed.group);
  CO_TRY(link, co_await Link::open(std::move(handed.stream), std::move(options)));
  co_return Result<void>();
}

Usage Inhabitant::usage() const {
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
  usage.disk_limit_bytes = handed.spec.limits.disk_bytes;
  if (handed.upper.is_open())
    if (const auto space = os::filesystem_space(handed.upper.get())) {
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

GroupUsage Inhabitant::measured() const {
  GroupUsage group = cgroups->usage(handed.group).value_or(GroupUsage{});
  const bool counts_memory = cgroups->has(Controller::memory), counts_cpu = cgroups->has(Controller::unified);
  if (counts_memory && counts_cpu) return group;
  const GroupUsage tree = tree_usage(proc_.get(), handed.pid);
  if (!counts_cpu) group.cpu_micros = tree.cpu_micros;
  if (!counts_memory) group.memory_bytes = tree.memory_bytes;
  return group;
}

void Inhabitant::judge(const ProcessInfo&, Outcome& outcome) {
  stir();
  const std::uint64_t oom_kills = cgroups->oom_kills(handed.group);
  const bool killed = (outcome.ending == Ending::signaled && outcome.signal == SIGKILL) ||
                      (outcome.ending == Ending::exited && outcome.exit_code == 128 + SIGKILL) ||
                      outcome.ending == Ending::lost;
  if (killed && oom_kills > oom_kills_seen_) {
    outcome.ending = Ending::out_of_memory;
    outcome.signal = SIGKILL;
    outcome.reason = fmt::format("memory limit of {} bytes", handed.spec.limits.memory_bytes);
  }
  oom_kills_seen_ = oom_kills;
  const Usage now = usage();
  outcome.usage.memory_bytes = now.memory_bytes;
  outcome.usage.memory_peak_bytes = now.memory_peak_bytes;
  outcome.usage.memory_cache_bytes = now.memory_cache_bytes;
  outcome.usage.disk_bytes = now.disk_bytes;
  outcome.usage.disk_limit_bytes = now.disk_limit_bytes;
  outcome.usage.inodes = now.inodes;
  outcome.usage.processes_peak = now.processes_peak;
  outcome.usage.read_bytes = now.read_bytes;
  outcome.usage.written_bytes = now.written_bytes;
}

std::vector<pid_t> Inhabitant::process_numbers() const {
  return cgroups->counts_processes() ? cgroups->processes(handed.group) : tree_processes(proc_.get(), handed.pid);
}

bool Inhabitant::is_inhabited() const {
  if (is_busy()) return true;
  return cgroups->has(Controller::pids) ? cgroups->tasks(handed.group) > 1 : process_numbers().size() > 1;
}

std::uint32_t Inhabitant::held_processes() const {
  // The guest is not the workload's, and a kernel that waits is none of its processes.
  const std::size_t own = 1 + (link ? link->interpreters() : 0);
  const std::size_t all = process_numbers().size();
  const auto held = static_cast<std::uint32_t>(all > own ? all - own : 0);
  processes_peak_ = std::max(processes_peak_, held);
  return held;
}

bool Inhabitant::is_executing() const {
  if (!link) return false;
  if (!link->processes().empty()) return true;
  return std::ranges::any_of(link->kernels(), [](const std::shared_ptr<Kernel>& one) {
    const auto kernel = std::dynamic_pointer_cast<LinkKernel>(one);
    return kernel && kernel->is_busy();
  });
}

std::uint64_t Inhabitant::count_processes() {
  const std::uint32_t allowed = handed.spec.limits.processes_max;
  if (!link) return 0;
  // Tasks are at least as many as processes: most of the time one small read settles it.
  const bool counted = cgroups->has(Controller::pids);
  const std::uint64_t tasks = counted ? cgroups->tasks(handed.group) : 0;
  if (counted && tasks <= allowed + 1) return tasks;
  const std::uint32_t held = held_processes();
  if (held > allowed) end_excess(held);
  return counted ? tasks : held;
}

void Inhabitant::end_excess(std::uint32_t held) {
  const std::uint32_t allowed = handed.spec.limits.processes_max;
  const std::string reason = fmt::format("{} processes; {} are allowed", held, allowed);
  if (!proc_.is_open())
    if (auto proc = os::open("/proc", O_RDONLY | O_DIRECTORY)) proc_ = std::move(*proc);
  std::vector<Runner> runners;
  std::vector<std::function<void()>> ends;
  for (const std::shared_ptr<Process>& each : link->processes())
    if (const auto process = std::dynamic_pointer_cast<LinkProcess>(each)) {
      runners.push_back({Runner::Kind::command, static_cast<pid_t>(process->info().pid), process->since().value_or(0)});
      ends.emplace_back([=] { process->end_with(Ending::too_many_processes, reason); });
    }
  for (const std::shared_ptr<Kernel>& each : link->kernels())
    if (const auto kernel = std::dynamic_pointer_cast<LinkKernel>(each); kernel && kernel->process()) {
      const LinkProcess& process = *kernel->process();
      const auto kind = process.since() ? Runner::Kind::busy_interpreter : Runner::Kind::idle_interpreter;
      runners.push_back({kind, static_cast<pid_t>(process.info().pid), process.since().value_or(0)});
      ends.emplace_back([=] { kernel->end_current(Ending::too_many_processes, reason); });
    }
  const std::vector<TreeProcess> processes = describe_processes(proc_.get(), process_numbers());
  // Where the host's /proc shows nothing of them, nobody can be told from the others.
  if (processes.empty()) return end_executions(Ending::too_many_processes, reason);
  const Excess excess = find_excess(processes, runners, link->began(), held, allowed);
  for (const std::size_t index : excess.runners) ends[index]();
  if (excess.background_since_us) sweep(excess);
}

// If there are too many again soon after, an older background process may have started them: then all of the
// background is ended. Not if an interpreter started them all: it goes on, and what is older is innocent.
void Inhabitant::sweep(const Excess& excess) {
  constexpr std::chrono::seconds kSoon{1};
  if (is_sweeping_) return;
  is_sweeping_ = true;
  const auto now = std::chrono::steady_clock::now();
  const bool again = swept_at_ && now - *swept_at_ < kSoon;
  swept_at_ = now;
  const std::uint64_t since_us =
      again && !excess.runners_started_them ? 0 : excess.background_since_us.value_or(0);
  const auto work = [](std::shared_ptr<Inhabitant> self, std::shared_ptr<Link> inside, std::uint64_t since) -> Task<void> {
    const auto ended_count = co_await inside->sweep(since);
    self->is_sweeping_ = false;
    if (ended_count)
      log::info("background processes over the limit were ended",
                {{"sandbox", self->name}, {"processes", std::to_string(*ended_count)}});
    co_return Result<void>();
  };
  boost::asio::co_spawn(executor_, work(shared_from_this(), link, since_us), boost::asio::detached);
}

void Inhabitant::end_executions(Ending ending, const std::string& reason) {
  if (!link) return;
  const auto end = [&](const std::shared_ptr<LinkProcess>& process) {
    if (process && !process->has_ended()) process->end_with(ending, reason);
  };
  const auto processes = link->processes();
  for (const std::shared_ptr<Process>& process : processes)
    end(std::dynamic_pointer_cast<LinkProcess>(process));
  if (!processes.empty()) return;
  for (const std::shared_ptr<Kernel>& each : link->kernels())
    if (const auto kernel = std::dynamic_pointer_cast<LinkKernel>(each)) kernel->end_current(ending, reason);
}

void Inhabitant::has_ended(std::string why) {
  if (ended) return;
  ended = std::move(why);
  if (link) link->close(Error(Code::unavailable, "the sandbox has ended: " + *ended));
  if (handed.upper.is_open()) spawner->close_behind(std::move(handed.upper));
  handed.pidfd.reset();
  changed.notify();
}

NativeSandbox::NativeSandbox(std::shared_ptr<Inhabitant> inhabitant) : inhabitant_(std::move(inhabitant)) {}

NativeSandbox::~NativeSandbox() {
  if (inhabitant_->ended) return;
  inhabitant_->spawner->tell(Request{.verb = Verb::destroy, .name = inhabitant_->name});
  inhabitant_->has_ended("its handle was given up");
}

void NativeSandbox::settle(Spec spec) {
  Inhabitant& inhabitant = *inhabitant_;
  Request request{.verb = Verb::rename, .name = inhabitant.name};
  request.text = spec.id;
  inhabitant.spawner->tell(std::move(request));
  inhabitant.name = spec.id;
  inhabitant.link->set_defaults(spec.user, spec.working_directory, spec.env);
  inhabitant.handed.spec = std::move(spec);
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
  const auto inhabitant = inhabitant_;
  if (inhabitant->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *inhabitant->ended);
  if (inhabitant->handed.frozen) co_return fail(Code::conflict, "the sandbox is paused");
  auto started = co_await inhabitant->link->start(std::move(spec));
  if (!started) co_return fail(explained(std::move(started).error(), inhabitant->handed.isolation));
  co_return std::move(*started);
}

std::vector<std::shared_ptr<Process>> NativeSandbox::processes() {
  if (!inhabitant_->link) return {};
  return inhabitant_->link->processes();
}

Files& NativeSandbox::files() {
  return inhabitant_->link->files();
}

Task<std::shared_ptr<Kernel>> NativeSandbox::create_kernel(Language language, std::string cwd) {
  const auto inhabitant = inhabitant_;
  if (inhabitant->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *inhabitant->ended);
  if (inhabitant->handed.frozen) co_return fail(Code::conflict, "the sandbox is paused");
  auto made = co_await inhabitant->link->create_kernel(language, std::move(cwd));
  if (!made) co_return fail(explained(std::move(made).error(), inhabitant->handed.isolation));
  co_return std::move(*made);
}

std::vector<std::shared_ptr<Kernel>> NativeSandbox::kernels() {
  if (!inhabitant_->link) return {};
  return inhabitant_->link->kernels();
}

Task<void> NativeSandbox::remove_kernel(std::string id) {
  const auto inhabitant = inhabitant_;
  CO_CHECK(check_link());
  co_return co_await inhabitant->link->remove_kernel(std::move(id));
}

Task<std::unique_ptr<ByteStream>> NativeSandbox::connect(std::uint16_t port) {
  const auto inhabitant = inhabitant_;
  // Behind the outlet's ports is this daemon, not a server inside.
  if (inhabitant->handed.spec.network == Network::egress && is_outlet_port(port))
    co_return fail(Code::permission_denied, fmt::format("port {} is the sandbox's own way out", port));
  CO_CHECK(check_link());
  co_return co_await inhabitant->link->connect(port);
}

Task<std::vector<std::uint16_t>> NativeSandbox::listening_ports() {
  const auto inhabitant = inhabitant_;
  CO_CHECK(check_link());
  CO_TRY(auto ports, co_await inhabitant->link->listening_ports());
  if (inhabitant->handed.spec.network == Network::egress) std::erase_if(ports, is_outlet_port);
  co_return ports;
}

Task<void> NativeSandbox::open_network(std::shared_ptr<egress::Proxy> proxy) {
  const auto inhabitant = inhabitant_;
  if (inhabitant->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *inhabitant->ended);
  CO_CHECK(check_link());
  CO_CHECK(co_await open_outlet(inhabitant->link, std::move(proxy)));
  inhabitant->handed.spec.network = Network::egress;
  say_network(inhabitant->handed.isolation, Network::egress);
  co_return Result<void>();
}

Task<void> NativeSandbox::trust(std::string certificate) {
  const auto inhabitant = inhabitant_;
  if (inhabitant->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *inhabitant->ended);
  CO_CHECK(check_link());
  co_return co_await trust_authority(inhabitant->link, std::move(certificate));
}

Task<Usage> NativeSandbox::usage() {
  if (inhabitant_->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *inhabitant_->ended);
  co_return inhabitant_->usage();
}

Task<std::chrono::microseconds> NativeSandbox::cpu_time() {
  if (inhabitant_->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *inhabitant_->ended);
  if (!inhabitant_->cgroups->has(Controller::unified)) co_return inhabitant_->usage().cpu_time;
  co_return std::chrono::microseconds(inhabitant_->cgroups->cpu_micros(inhabitant_->handed.group));
}

Task<void> NativeSandbox::ask(Verb verb, std::string text) {
  const auto inhabitant = inhabitant_;
  if (inhabitant->ended) co_return fail(Code::unavailable, "the sandbox has ended: " + *inhabitant->ended);
  Request request{.verb = verb, .name = inhabitant->name};
  request.text = std::move(text);
  CO_TRY(auto answer, co_await inhabitant->spawner->call(std::move(request)));
  (void)answer;
  co_return Result<void>();
}

Task<void> NativeSandbox::pause() {
  const auto inhabitant = inhabitant_;
  if (inhabitant->handed.frozen) co_return Result<void>();
  inhabitant->link->set_paused(true);
  auto done = co_await ask(Verb::freeze);
  inhabitant->handed.frozen = done.has_value();
  if (done) inhabitant->link->fail_waiting();
  if (!done) inhabitant->link->set_paused(false);
  co_return done;
}

Task<void> NativeSandbox::resume() {
  const auto inhabitant = inhabitant_;
  if (!inhabitant->handed.frozen) co_return Result<void>();
  CO_CHECK(co_await ask(Verb::thaw));
  inhabitant->handed.frozen = false;
  if (inhabitant->link) {
    inhabitant->link->set_paused(false);
    co_return Result<void>();
  }
  // Taken back while it stood still: the guest finds its new stream now. One that does not is of no use to anybody.
  if (auto greeted = co_await inhabitant->greet(); !greeted) {
    auto stopped = co_await stop();
    co_return fail(Code::unavailable, "its guest did not answer after the service was started again: " +
                                          greeted.error().message());
  }
  inhabitant->stir();
  co_return Result<void>();
}

Result<void> NativeSandbox::check_link() const {
  if (inhabitant_->link) return {};
  return fail(Code::conflict, "the sandbox is paused");
}

Task<void> NativeSandbox::snapshot(std::string target) {
  return ask(Verb::snapshot, std::move(target));
}

Task<void> NativeSandbox::stop() {
  const auto inhabitant = inhabitant_;
  if (inhabitant->ended) co_return Result<void>();
  inhabitant->stir();
  auto done = co_await ask(Verb::destroy);
  inhabitant->has_ended("stopped");
  // Ended by itself in the meantime: as good.
  if (!done && done.error().code() == Code::not_found) co_return Result<void>();
  co_return done;
}

Task<std::string> NativeSandbox::ended() {
  const auto inhabitant = inhabitant_;
  while (!inhabitant->ended) CO_CHECK(co_await inhabitant->changed.wait());
  co_return *inhabitant->ended;
}

}  // namespace atl::sandbox::native
