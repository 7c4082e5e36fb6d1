#include "sandbox/native/spawner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "os/file.h"
#include "os/fork.h"
#include "os/message.h"
#include "os/process.h"
#include "sandbox/native/spawner_loop.h"

namespace atl::sandbox::native {
namespace {

constexpr std::chrono::seconds kImagePatience{30};
// Requests that may wait for a disk image; more are refused at once.
constexpr std::size_t kMakingMax = 1024;

}  // namespace

Spawner::Spawner(SandboxBuilder builder, os::Fd daemon, const SpawnerOptions& options)
    : options_(options),
      builder_(std::move(builder)),
      connection_(events_, std::move(daemon),
                  {.lost = [this] { lose_daemon(); },
                   .undelivered =
                       [this](const std::string& name) {
                         if (SpawnedSandbox* const sandbox = sandboxes_.find(name)) sandboxes_.kill(*sandbox);
                       }}),
      sandboxes_(builder_, events_),
      children_(builder_, events_),
      zygotes_(builder_, options_.zygote, events_, sandboxes_, children_, connection_),
      standstill_(builder_, events_, children_, connection_,
                  [this](SpawnedSandbox& sandbox, SpawnerStandstill::Asked asked) {
                    go_on_still(sandbox, std::move(asked));
                  }),
      snapshots_(builder_, children_, connection_, standstill_, zygotes_),
      volumes_(builder_, children_, connection_),
      interpreters_(builder_, children_, connection_, zygotes_),
      ahead_(builder_, sandboxes_, children_, zygotes_, interpreters_,
             [this](const Request& request, os::Fd beside) { serve(request, std::move(beside)); }) {}

void Spawner::listen(os::Fd listener, os::Fd run_directory) {
  connection_.listen(std::move(listener), std::move(run_directory));
}

void Spawner::announce() {
  connection_.answer(Reply{.verb = Verb::hello});
}

bool Spawner::is_taken(const std::string& name) const {
  return sandboxes_.has(name) ||
         std::ranges::any_of(making_, [&](const auto& one) { return one.second.request.name == name; });
}

bool Spawner::should_end() const {
  if (!sandboxes_.is_empty() || !children_.is_idle()) return false;
  if (shutting_down_) return true;
  return !connection_.is_connected() && !connection_.is_listening();
}

// Paused sandboxes are kept longer, as long as a daemon could find them: if the data directory was removed,
// nobody will ask for them.
bool Spawner::keeps_paused(SteadyTime now) const {
  return connection_.is_findable() && now - *orphan_since_ < options_.paused_orphan_time &&
         std::ranges::any_of(sandboxes_.all(), [](const auto& one) { return one.second->paused; });
}

std::optional<SteadyTime> Spawner::next_deadline() const {
  std::optional<SteadyTime> next;
  const auto at = [&](SteadyTime when) { next = next ? std::min(*next, when) : when; };
  // Each row of expire() has its row here, or the loop would sleep through it.
  if (orphan_since_) at(std::max(*orphan_since_ + options_.orphan_time, orphan_check_));
  if (const auto when = ahead_.expires()) at(*when);
  if (const auto when = zygotes_.next_try()) at(*when);
  for (const auto& [ticket, making] : making_) at(making.since + kImagePatience);
  if (const auto oldest = builder_.images().oldest_expires()) at(*oldest);
  return next;
}

void Spawner::expire_orphans(SteadyTime now) {
  if (!orphan_since_ || now < std::max(*orphan_since_ + options_.orphan_time, orphan_check_)) return;
  for (const auto& [name, sandbox] : sandboxes_.all())
    if (!sandbox->paused) sandboxes_.kill(*sandbox);
  orphan_check_ = now + std::chrono::minutes(1);
  if (keeps_paused(now)) return;
  orphan_since_.reset();
  connection_.hide();
  sandboxes_.kill_all();
}

void Spawner::expire_making(SteadyTime now) {
  std::vector<Request> late;
  for (const auto& [ticket, making] : making_)
    if (now - making.since >= kImagePatience) late.push_back(making.request);
  for (const Request& request : late) {
    (void)stop_making(request.name);
    connection_.answer_error(
        request, Error(Code::deadline_exceeded, "the sandbox's disk image took too long to be made"));
  }
}

void Spawner::expire(SteadyTime now) {
  expire_orphans(now);
  ahead_.expire(now);
  expire_making(now);
  zygotes_.try_again(now);
  builder_.images().forget_old();
}

static int milliseconds_until(std::optional<SteadyTime> when) {
  if (!when) return -1;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(*when - Clock::machine().steady()).count();
  // Rounded up: waking a millisecond too soon would turn the loop for nothing.
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 3'600'000));
}

void Spawner::run() {
  connection_.begin();
  standstill_.begin();
  builder_.begin();
  events_.watch(builder_.parts_pool().finished_fd(), Source::parts_pool);
  if (builder_.images().usable()) events_.watch(builder_.images().socket(), Source::images);
  // The zygote of plain sandboxes starts with the spawner, so that the first interpreter need not wait for
  // it.
  zygotes_.ensure(zygotes_.kind_of({}));
  while (!should_end()) {
    // There is no daemon, and none can connect any more.
    if (!connection_.is_connected() && !connection_.is_listening()) sandboxes_.kill_all();
    expire(Clock::machine().steady());
    if (should_end()) break;
    for (const SpawnerEvents::Event& event : events_.wait(milliseconds_until(next_deadline()))) handle(event);
  }
  zygotes_.clear();
  children_.end_copiers();
  builder_.close();
  if (shutting_down_) connection_.answer(Reply{.verb = Verb::shut_down, .token = *shutting_down_});
  connection_.flush();
}

void Spawner::handle(const SpawnerEvents::Event& event) {
  switch (event.source) {
    case Source::daemon:
      if (event.has_room) connection_.send_kept();
      if (event.is_readable) on_daemon();
      break;
    case Source::listener:
      if (connection_.accept()) orphan_since_.reset();
      break;
    case Source::sandbox: on_end(event.fd); break;
    case Source::copying:
      on_report(event.fd);
      revive_next();
      break;
    case Source::reaping: children_.on_reaped(event.fd); break;
    case Source::zygote: on_zygote(event.fd); break;
    case Source::parts_pool: on_parts_gone(); break;
    case Source::images: on_images(); break;
    case Source::standstill: standstill_.on_timer(); break;
  }
}

void Spawner::on_daemon() {
  if (auto incoming = connection_.receive()) serve(incoming->request, std::move(incoming->beside));
}

void Spawner::on_zygote(int socket) {
  zygotes_.on_readable(socket);
  if (zygotes_.is_any_starting()) return;
  for (SpawnerInterpreters::Pending& waiting : interpreters_.take_awaiting_zygote())
    serve(waiting.request, std::move(waiting.beside), ZygoteWait::over);
}

void Spawner::revive_next() {
  while (auto next = interpreters_.take_next_turn()) serve(next->request, std::move(next->beside));
}

void Spawner::serve(const Request& request, os::Fd beside, ZygoteWait wait) {
  SpawnedSandbox* const sandbox = sandboxes_.find(request.name);
  const auto on = [&](const auto& wanted) {
    using Wanted = std::decay_t<decltype(wanted)>;
    if constexpr (std::is_same_v<Wanted, ask::Hello> || std::is_same_v<Wanted, ask::List>) {
      hello(request);
    } else if constexpr (std::is_same_v<Wanted, ask::Create>) {
      create(request, wanted.spec);
    } else if constexpr (std::is_same_v<Wanted, ask::Destroy>) {
      destroy(request);
    } else if constexpr (std::is_same_v<Wanted, ask::Discard>) {
      ahead_.drop(wanted.directory);
      snapshots_.discard(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::Measure>) {
      snapshots_.measure(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::OpenInterpreters>) {
      snapshots_.open_interpreters(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::DiscardInterpreters>) {
      snapshots_.discard_interpreters(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::OpenVolume>) {
      volumes_.open(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::CloseVolume>) {
      volumes_.close(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::SecondConnection>) {
      connection_.add_second(request);
    } else if constexpr (std::is_same_v<Wanted, ask::ShutDown>) {
      begin_shut_down(request.token);
    } else {
      if (sandbox == nullptr)
        return connection_.answer_error(request, Error(Code::not_found, "no such sandbox"));
      serve_sandbox(*sandbox, request, std::move(beside), wait);
    }
  };
  std::visit(on, request.ask);
}

// Requests about one sandbox that exists.
void Spawner::serve_sandbox(SpawnedSandbox& sandbox, const Request& request, os::Fd beside, ZygoteWait wait) {
  if (request.as<ask::Adopt>() != nullptr) return adopt(request, sandbox);
  if (const auto* const wanted = request.as<ask::ForkInterpreter>())
    return interpreters_.fork(request, sandbox, *wanted, wait);
  if (const auto* const wanted = request.as<ask::Revive>()) {
    if (ahead_.take_interpreter(sandbox, request, *wanted, beside)) return;
    return interpreters_.revive(request, sandbox, *wanted, std::move(beside), wait);
  }
  if (request.as<ask::Thaw>() != nullptr) return thaw(request, sandbox);
  if (const auto* const wanted = request.as<ask::Rename>()) return rename(request, *wanted);
  stand_still(request, sandbox);  // freeze, snapshot, checkpoint
}

void Spawner::rename(const Request& request, const ask::Rename& wanted) {
  if (is_taken(wanted.to))
    return connection_.answer_error(request, Error(Code::already_exists, "a sandbox of that name lives"));
  sandboxes_.rename(request.name, wanted.to);
  children_.rename(request.name, wanted.to);
  connection_.answer_done(request);
}

void Spawner::stand_still(const Request& request, SpawnedSandbox& sandbox) {
  const auto* const snapshot = request.as<ask::Snapshot>();
  const auto* const checkpoint = request.as<ask::Checkpoint>();
  if (checkpoint != nullptr && (sandbox.frozen || sandbox.freezing))
    return connection_.answer_error(request, Error(Code::conflict, "the sandbox is paused"));
  SpawnerStandstill::Asked asked{.request = request, .files = {}};
  if (snapshot != nullptr || checkpoint != nullptr) {
    auto files =
        snapshots_.open_files(sandbox, snapshot != nullptr ? snapshot->directory : checkpoint->directory);
    if (!files) return connection_.answer_error(request, std::move(files).error());
    asked.files = std::move(*files);
  }
  standstill_.ask(sandbox, std::move(asked));
}

void Spawner::go_on_still(SpawnedSandbox& sandbox, SpawnerStandstill::Asked asked) {
  if (const auto* const wanted = asked.request.as<ask::Checkpoint>())
    return snapshots_.checkpoint(sandbox, asked.request, *wanted, std::move(asked.files));
  if (asked.request.as<ask::Snapshot>() != nullptr)
    return snapshots_.take(sandbox, asked.request, std::move(asked.files));
  sandbox.paused = true;
  connection_.answer_done(asked.request);
}

void Spawner::thaw(const Request& request, SpawnedSandbox& sandbox) {
  if (auto done = standstill_.resume(sandbox); !done)
    return connection_.answer_error(request, std::move(done).error());
  connection_.answer_done(request);
}

// A child has reported its result, or has ended without one.
void Spawner::on_report(int report) {
  const Copying* const begun = children_.find(report);
  if (begun == nullptr) return;
  auto told = take_report(report);
  // The files of a checkpoint are complete before the memory of its interpreters is: the sandbox of the first
  // copy can be made meanwhile.
  if (told && !told->is_last) {
    if (!shutting_down_) ahead_.prepare(*begun);
    return;
  }
  if (!told || told->reply.error) ahead_.drop(begun->target);
  Copying copying = children_.finish(report, told.has_value());
  if (told && !told->reply.error && copying.first)
    ahead_.write(copying.target, told->reply.as<answers::Checkpoint>().carried, told->beside.get());
  SpawnedSandbox* const sandbox = sandboxes_.find(copying.name);
  if (sandbox != nullptr && copying.holds) standstill_.release(*sandbox);
  Reply reply = told ? std::move(told->reply) : Reply{};
  if (!told) reply.error = told.error();
  // The child knows only its work; whom it is for is remembered here.
  reply.verb = copying.verb, reply.token = copying.token, reply.name = copying.name;
  const auto taken = Clock::machine().steady() - copying.since;
  if (auto* const checkpoint = std::get_if<answers::Checkpoint>(&reply.answer))
    checkpoint->micros =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
  if (copying.verb == Verb::open_volume)
    return volumes_.finish(copying, std::move(reply), told ? std::move(told->beside) : os::Fd());
  if (copying.stops) {
    if (sandbox != nullptr) standstill_.on_stopped(*sandbox, reply.error);
    return;
  }
  if (copying.is_prefetched) return ahead_.finish(std::move(copying), std::move(reply));
  if (!copying.forked) {
    const int beside = told ? told->beside.get() : -1;
    connection_.answer(std::move(reply), std::span(&beside, beside >= 0 ? 1 : 0));
    return;
  }
  if (!reply.error && sandbox == nullptr) reply.error = Error(Code::not_found, "the sandbox has ended");
  if (!reply.error) return interpreters_.hand_over(std::move(reply), *sandbox, std::move(*copying.forked));
  // Nobody will be told of it, so nobody would ever end it.
  (void)os::pidfd_kill(copying.forked->pidfd.get(), SIGKILL);
  connection_.answer(std::move(reply));
}

void Spawner::begin_shut_down(std::uint64_t token) {
  shutting_down_ = token;
  ahead_.forget();
  making_.clear();
  connection_.hide();
  sandboxes_.kill_all();
}

// Without a place to be found again, the sandboxes end with the daemon.
void Spawner::lose_daemon() {
  making_.clear();
  ahead_.drop();
  if (connection_.is_listening() && !shutting_down_ && !sandboxes_.is_empty()) {
    orphan_since_ = Clock::machine().steady(), orphan_check_ = {};
    return;
  }
  connection_.hide();
  sandboxes_.kill_all();
}

void Spawner::hello(const Request& request) {
  answers::Hello hello;
  for (const auto& [name, sandbox] : sandboxes_.all())
    if (!sandbox->ended) hello.names.push_back(name);
  hello.parent_group = builder_.cgroup_parent();
  hello.isolation = builder_.probed();
  if (builder_.privileges().rootless || !options_.zygote.enabled)
    hello.isolation.missing.push_back(
        {"python_zygote",
         "Python interpreters are started as any program: forking them from a zygote needs root"});
  hello.pid = static_cast<std::uint32_t>(::getpid());
  hello.zygotes_away = zygotes_.away_now();
  connection_.answer(Reply{.verb = request.verb(), .token = request.token, .answer = std::move(hello)});
}

static Reply description(const Request& request, const SpawnedSandbox& sandbox) {
  answers::Sandbox answer{.group = sandbox.built.parts.group,
                          .pid = static_cast<std::uint32_t>(sandbox.built.pid),
                          .isolation = sandbox.built.isolation,
                          .frozen = sandbox.paused};
  if (request.verb() == Verb::adopt) answer.spec = sandbox.spec;
  return {.verb = request.verb(), .token = request.token, .name = request.name, .answer = std::move(answer)};
}

void Spawner::create(const Request& request, const Spec& spec) {
  if (shutting_down_)
    return connection_.answer_error(request, Error(Code::unavailable, "the provider is shutting down"));
  if (is_taken(request.name))
    return connection_.answer_error(request, Error(Code::already_exists, "a sandbox of that name lives"));
  if (events_.are_descriptors_short())
    return connection_.answer_error(
        request, Error(Code::resource_exhausted,
                       "too many sandboxes for the limit of open files: raise it (ulimit -Hn, LimitNOFILE)"));
  if (SpawnedSandbox* const prepared = ahead_.take(request.name, spec))
    return hand_out(request, spec, *prepared);
  // A disk image takes tenths of a second to make: the request waits in making_, the loop goes on.
  const auto size = builder_.image_for(spec);
  if (!size) return finish_create(request, spec, {});
  if (auto ready = builder_.images().take(*size))
    return finish_create(request, spec, {std::move(*ready), *size});
  if (making_.size() >= kMakingMax)
    return connection_.answer_error(
        request, Error(Code::resource_exhausted, "too many sandboxes wait for their disk images"));
  const std::uint64_t ticket = ++tickets_;
  if (auto asked = builder_.images().ask(ticket, *size); !asked)
    return connection_.answer_error(request, std::move(asked).error());
  making_.emplace(ticket, Making{request, *size, Clock::machine().steady()});
}

std::optional<Request> Spawner::stop_making(const std::string& name) {
  const auto found =
      std::ranges::find(making_, name, [](const auto& one) { return one.second.request.name; });
  if (found == making_.end()) return std::nullopt;
  return std::move(making_.extract(found).mapped().request);
}

void Spawner::on_images() {
  for (;;) {
    auto made = builder_.images().hear();
    if (!made && made.error().code() == Code::unavailable) return;
    if (!made) {
      constexpr std::uint32_t losses_max = 5;
      // The process that makes images has died. Those who wait are told; it is started again a few times.
      children_.reap(builder_.images().give_up_process());
      for (auto& [ticket, making] : std::exchange(making_, {}))
        connection_.answer_error(making.request, made.error());
      if (++maker_losses_ >= losses_max) return;
      builder_.images().restart();
      if (builder_.images().usable()) events_.watch(builder_.images().socket(), Source::images);
      return;
    }
    auto node = making_.extract(made->ticket);
    if (node.empty()) {
      // The caller has given up.
      if (made->mount) builder_.images().take_down(std::move(*made->mount));
      continue;
    }
    const Request& request = node.mapped().request;
    const Spec& spec = std::get<ask::Create>(request.ask).spec;
    // The machine cannot make images at all: the sandbox gets its writable layer in memory and reports that.
    const bool is_lacking = !made->mount && (made->mount.error().code() == Code::unsupported ||
                                             made->mount.error().code() == Code::resource_exhausted);
    if (made->mount)
      finish_create(request, spec, {std::move(*made->mount), node.mapped().size});
    else if (is_lacking)
      finish_create(request, spec, {});
    else
      connection_.answer_error(request, std::move(made->mount).error().context("disk"));
  }
}

void Spawner::finish_create(const Request& request, const Spec& spec, Disk disk) {
  auto built = builder_.build(spec, std::move(disk));
  if (!built) return connection_.answer_error(request, std::move(built).error());
  hand_out(request, spec, sandboxes_.add(request.name, spec, std::move(*built)));
}

void Spawner::hand_out(const Request& request, const Spec& spec, SpawnedSandbox& sandbox) {
  // The daemon's is the only end of the stream; with a run directory the guest can be given another.
  const os::Fd stream = std::move(sandbox.built.stream);
  if (options_.run_directory.empty()) sandbox.built.handover.reset();
  std::vector<int> fds{stream.get(), sandbox.built.pidfd.get(), sandbox.built.upper.get()};
  // The answer was lost, so nobody owns the sandbox: end it.
  if (connection_.answer(description(request, sandbox), fds) == SpawnerConnection::Given::lost)
    return sandboxes_.kill(sandbox);
  // Interpreters of a kind of its own (modules, layers): a zygote for them is on its way by the time one is
  // asked for.
  const bool own_kind = !spec.preimport.empty() || spec.trusted_layers;
  if (own_kind && sandbox.built.plain_usr) zygotes_.ensure(zygotes_.kind_of(spec));
}

// The guest gets a fresh stream: the old one may have stopped in the middle of a frame.
void Spawner::adopt(const Request& request, SpawnedSandbox& sandbox) {
  auto pair = os::socket_pair(os::SocketKind::stream);
  if (!pair) return connection_.answer_error(request, std::move(pair).error());
  if (!sandbox.built.handover.is_open())
    return connection_.answer_error(request, Error(Code::unsupported, "this sandbox cannot be taken back"));
  const int theirs = pair->second.get();
  if (auto sent = os::send_message(sandbox.built.handover.get(), "s", {&theirs, 1}, os::Wait::no); !sent)
    return connection_.answer_error(request, std::move(sent).error());
  Reply reply = description(request, sandbox);
  std::vector<int> fds{pair->first.get(), sandbox.built.pidfd.get(), sandbox.built.upper.get()};
  connection_.answer(std::move(reply), fds);
}

void Spawner::destroy(const Request& request) {
  if (const auto making = stop_making(request.name)) {
    connection_.answer_error(*making, Error(Code::canceled, "the sandbox was ended before it was made"));
    return connection_.answer_done(request);
  }
  SpawnedSandbox* const sandbox = sandboxes_.find_any(request.name);
  if (sandbox == nullptr) return connection_.answer_error(request, Error(Code::not_found, "no such sandbox"));
  // One that ended by itself may not be gone yet: the answer comes when it is.
  sandbox->waiting.push_back(request.token);
  sandboxes_.kill(*sandbox);
}

void Spawner::on_end(int pidfd) {
  const auto name = sandboxes_.take_ended(pidfd);
  SpawnedSandbox* const sandbox = name ? sandboxes_.find(*name) : nullptr;
  if (sandbox == nullptr) return;
  const auto exit = os::pidfd_wait(pidfd);
  std::string why = "its guest ended";
  if (exit && exit->signal != 0) why = fmt::format("its guest was ended by signal {}", exit->signal);
  if (exit && exit->signal == 0) why = fmt::format("its guest ended with status {}", exit->code);
  sandbox->ended = std::move(why);
  standstill_.give_up(*sandbox, Error(Code::not_found, "the sandbox has ended"));
  const std::uint64_t ticket = ++tickets_;
  if (sandbox->built.on_disk) builder_.images().take_down(std::move(sandbox->built.upper));
  if (builder_.parts_pool().give_back(std::move(sandbox->built.parts), ticket,
                                      std::move(sandbox->built.upper)))
    tell_end(*name);
  else
    sandboxes_.note_ticket(ticket, *name);
}

void Spawner::on_parts_gone() {
  for (const std::uint64_t ticket : builder_.parts_pool().finished())
    if (const auto name = sandboxes_.take_ticket(ticket)) tell_end(*name);
}

// The name is free from here on and not earlier, so that the daemon cannot take this message for the end of a
// later sandbox of the same name.
void Spawner::tell_end(const std::string& name) {
  const auto gone = sandboxes_.remove(name);
  for (const std::uint64_t token : gone->waiting)
    connection_.answer(Reply{.verb = Verb::destroy, .token = token, .name = name});
  connection_.answer(
      Reply{.verb = Verb::ended, .name = name, .answer = answers::Ended{std::move(*gone->ended)}});
  zygotes_.on_sandbox_gone();
}

namespace {

// Through the directory's descriptor: the path itself may be longer than an address can be.
sockaddr_un socket_address(int directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/spawner.sock", directory);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<os::Fd> listen_at(int directory) {
  ::unlinkat(directory, "spawner.sock", 0);
  os::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = socket_address(directory);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ||
      ::fchmodat(directory, "spawner.sock", 0600, 0) < 0 || ::listen(socket.get(), 4) < 0)
    return fail(errno_error(errno, "listen for a daemon"));
  return socket;
}

// One spawner a run directory: a new one waits until the old one has cleared up and is gone. A daemon that
// was killed meanwhile needs none.
Result<os::Fd> lock_directory(const std::string& directory, int daemon) {
  TRY(os::make_directories(directory, 0700));
  os::Fd lock = TRY(os::open((directory + "/spawner.lock").c_str(), O_RDWR | O_CREAT, 0600));
  for (int round = 0; ::flock(lock.get(), LOCK_EX | LOCK_NB) < 0; ++round) {
    // Ten seconds: an old spawner has to end its sandboxes first.
    if (round == 2000) return fail(Code::conflict, "another spawner works in this run directory");
    ::usleep(5000);
  }
  if (has_left(daemon)) return fail(Code::unavailable, "the daemon has left");
  return lock;
}

// A copy out of the way of the numbers that have a meaning.
os::Fd high(os::Fd fd) {
  return os::Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 20));
}

// Numbers that parent and child agree on: 0 to 2 nothing, 3 and 4 kept free for the guest, 5 the program.
Result<void> arrange_descriptors(os::Fd& daemon, const SpawnerOptions& options) {
  daemon = high(std::move(daemon));
  const os::Fd writable = high(TRY(os::sealed_program("atoll-guest", options.guest_program)));
  // A program that is open for writing anywhere cannot be executed.
  const std::string path = fmt::format("/proc/self/fd/{}", writable.get());
  const os::Fd program = high(TRY(os::open(path.c_str(), O_RDONLY)));
  const os::Fd null = high(TRY(os::open("/dev/null", O_RDWR)));
  // Taken now, so that no descriptor that is opened later gets one of these numbers.
  for (const int fd : {0, 1, kStreamFd, kHandoverFd})
    if (::dup3(null.get(), fd, fd > 2 ? O_CLOEXEC : 0) < 0)
      return fail(errno_error(errno, "arrange descriptors"));
  if (::dup3(program.get(), kProgramFd, O_CLOEXEC) < 0)
    return fail(errno_error(errno, "arrange descriptors"));
  return {};
}

[[noreturn]] void spawner_main(os::Fd daemon, const SpawnerOptions& options) {
  // Ctrl-C at the daemon's terminal is not for the sandboxes.
  ::setsid();
  ::prctl(PR_SET_NAME, "atoll-spawner");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  const int daemon_number = ::fcntl(daemon.get(), F_DUPFD_CLOEXEC, 60);
  (void)daemon.release();
  // Everything of the daemon but the connection, which waits at 60, is closed: databases, sockets, keys.
  (void)os::close_range(3, 59, os::UnshareTable::no);
  (void)os::close_range(61, ~0U, os::UnshareTable::no);
  daemon = os::Fd(daemon_number);
  ::umask(022);
  // Several descriptors a sandbox.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  const auto prepared = [&]() -> Result<std::unique_ptr<Spawner>> {
    TRY(arrange_descriptors(daemon, options));
    os::Fd listener, run_directory;
    if (!options.run_directory.empty()) {
      // Held until this process ends.
      (void)high(TRY(lock_directory(options.run_directory, daemon.get()))).release();
      run_directory = high(TRY(os::open(options.run_directory.c_str(), O_RDONLY | O_DIRECTORY)));
      listener = TRY(listen_at(run_directory.get()));
    }
    SandboxBuilder builder = TRY(SandboxBuilder::open(options));
    auto spawner = std::make_unique<Spawner>(std::move(builder), std::move(daemon), options);
    spawner->listen(std::move(listener), std::move(run_directory));
    return spawner;
  }();
  if (!prepared) {
    Reply reply{.verb = Verb::hello, .error = prepared.error()};
    if (daemon.is_open()) (void)os::send_message(daemon.get(), encode(reply));
    ::_exit(1);
  }
  (*prepared)->announce();
  (*prepared)->run();
  ::_exit(0);
}

}  // namespace

Result<os::Fd> start_spawner(const SpawnerOptions& options) {
  if (options.guest_program.empty()) return fail(Code::internal, "the guest's program is not in this build");
  os::SocketPair pair = TRY(os::socket_pair(os::SocketKind::packets));
  TRY(os::fork_detached("fork the spawner", [&] {
    pair.first.reset();
    spawner_main(std::move(pair.second), options);
  }));
  pair.second.reset();
  const os::Message message = TRY(os::receive_message(pair.first.get()));
  if (message.bytes.empty()) return fail(Code::provider_failed, "the spawner ended before it was ready");
  Reply ready = TRY(decode_reply(message.bytes));
  if (ready.error) return fail(std::move(*ready.error).context("start the spawner"));
  return std::move(pair.first);
}

Result<os::Fd> find_spawner(const std::string& run_directory) {
  auto directory = os::open(run_directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!directory) return fail(Code::not_found, "no spawner is there");
  os::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const sockaddr_un address = socket_address(directory->get());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return fail(Code::not_found, "no spawner is there");
  return socket;
}

}  // namespace atl::sandbox::native
