#include "sandbox/native/spawner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
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
// A checkpoint that is taken for a copy is copied at once.
constexpr std::chrono::seconds kPreparedForkPatience{2};

}  // namespace

Spawner::Spawner(SandboxBuilder builder, os::Fd daemon, const SpawnerOptions& options)
    : builder_(std::move(builder)),
      daemon_(std::move(daemon)),
      options_(options),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      standstill_timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {}

void Spawner::watch(int fd, Source source) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = (std::uint64_t{static_cast<std::uint32_t>(source)} << 32) | static_cast<std::uint32_t>(fd);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

SpawnedSandbox* Spawner::find(const std::string& name) {
  const auto found = sandboxes_.find(name);
  return found == sandboxes_.end() || found->second->ended ? nullptr : found->second.get();
}

bool Spawner::is_taken(const std::string& name) const {
  return sandboxes_.contains(name) ||
         std::ranges::any_of(making_, [&](const auto& one) { return one.second.request.name == name; });
}

bool Spawner::should_end() const {
  if (!sandboxes_.empty() || !copying_.empty() || !reaping_.empty()) return false;
  if (shutting_down_) return true;
  return !daemon_.is_open() && !listener_.is_open();
}

// What is paused stays longer, as long as a daemon could find it: who removes the data directory has no
// use for it.
bool Spawner::keeps_paused(SteadyTime now) const {
  return is_findable() && now - *orphan_since_ < options_.paused_orphan_time &&
         std::ranges::any_of(sandboxes_, [](const auto& one) { return one.second->paused; });
}

std::optional<SteadyTime> Spawner::next_deadline() const {
  std::optional<SteadyTime> next;
  const auto at = [&](SteadyTime when) { next = next ? std::min(*next, when) : when; };
  if (orphan_since_) at(std::max(*orphan_since_ + options_.orphan_time, orphan_check_));
  if (prepared_fork_) at(prepared_fork_->since + kPreparedForkPatience);
  if (zygote_due_) at(*zygote_due_);
  for (const auto& [ticket, making] : making_) at(making.since + kImagePatience);
  if (const auto oldest = builder_.images().oldest_expires()) at(*oldest);
  return next;
}

void Spawner::expire_orphans(SteadyTime now) {
  if (!orphan_since_ || now < std::max(*orphan_since_ + options_.orphan_time, orphan_check_)) return;
  for (auto& [name, sandbox] : sandboxes_)
    if (!sandbox->paused) kill(*sandbox);
  orphan_check_ = now + std::chrono::minutes(1);
  if (keeps_paused(now)) return;
  orphan_since_.reset();
  hide();
  for (auto& [name, sandbox] : sandboxes_) kill(*sandbox);
}

void Spawner::expire_making(SteadyTime now) {
  std::vector<Request> late;
  for (const auto& [ticket, making] : making_)
    if (now - making.since >= kImagePatience) late.push_back(making.request);
  for (const Request& request : late) {
    (void)stop_making(request.name);
    answer_error(request,
                 Error(Code::deadline_exceeded, "the sandbox's disk image took too long to be made"));
  }
}

void Spawner::expire(SteadyTime now) {
  expire_orphans(now);
  if (prepared_fork_ && now - prepared_fork_->since >= kPreparedForkPatience) drop_prepared_fork();
  expire_making(now);
  if (zygote_due_ && now >= *zygote_due_) {
    zygote_due_.reset();
    ensure_zygote(kind_of({}));
    tell_zygotes();
  }
  builder_.images().forget_old();
}

static int milliseconds_until(std::optional<SteadyTime> when) {
  if (!when) return -1;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(*when - Clock::machine().steady()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 3'600'000));
}

void Spawner::run() {
  watch(daemon_.get(), Source::daemon);
  if (listener_.is_open()) watch(listener_.get(), Source::listener);
  watch(standstill_timer_.get(), Source::standstill);
  builder_.begin();
  watch(builder_.parts_pool().finished_fd(), Source::parts_pool);
  if (builder_.images().usable()) watch(builder_.images().socket(), Source::images);
  ensure_zygote(kind_of({}));
  while (!should_end()) {
    // There is no daemon, and none can connect any more.
    if (!daemon_.is_open() && !listener_.is_open())
      for (auto& [name, sandbox] : sandboxes_) kill(*sandbox);
    expire(Clock::machine().steady());
    if (should_end()) break;
    epoll_event events[32];
    const int count = ::epoll_wait(epoll_.get(), events, 32, milliseconds_until(next_deadline()));
    for (int i = 0; i < count; ++i) {
      const int fd = static_cast<int>(events[i].data.u64 & 0xFFFF'FFFF);
      switch (static_cast<Source>(events[i].data.u64 >> 32)) {
        case Source::daemon:
          if ((events[i].events & EPOLLOUT) != 0) on_daemon_ready();
          if ((events[i].events & ~unsigned{EPOLLOUT}) != 0) on_daemon();
          break;
        case Source::listener: on_listener(); break;
        case Source::sandbox: on_end(fd); break;
        case Source::copying: on_copied(fd); break;
        case Source::reaping: on_reaped(fd); break;
        case Source::zygote: on_zygote(fd); break;
        case Source::parts_pool: on_gone(); break;
        case Source::images: on_images(); break;
        case Source::standstill: on_standstill_timer(); break;
      }
    }
  }
  zygotes_.clear();
  for (Copier& copier : std::exchange(copiers_, {})) {
    copier.socket.reset();
    (void)os::pidfd_kill(copier.pidfd.get(), SIGKILL);
    (void)os::pidfd_wait(copier.pidfd.get());
  }
  builder_.close();
  if (shutting_down_) answer(Reply{.verb = Verb::shut_down, .token = *shutting_down_});
  flush();
}

void Spawner::serve(const Request& request, os::Fd beside, ZygoteWait wait) {
  SpawnedSandbox* const sandbox = find(request.name);
  const auto on = [&](const auto& wanted) {
    using Wanted = std::decay_t<decltype(wanted)>;
    if constexpr (std::is_same_v<Wanted, ask::Hello> || std::is_same_v<Wanted, ask::List>) {
      hello(request);
    } else if constexpr (std::is_same_v<Wanted, ask::Create>) {
      create(request, wanted.spec);
    } else if constexpr (std::is_same_v<Wanted, ask::Destroy>) {
      destroy(request);
    } else if constexpr (std::is_same_v<Wanted, ask::Discard>) {
      discard_snapshot(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::Measure>) {
      measure_snapshot(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::OpenInterpreters>) {
      open_interpreters(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::DiscardInterpreters>) {
      discard_interpreters(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::OpenVolume>) {
      open_volume(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::CloseVolume>) {
      close_volume(request, wanted);
    } else if constexpr (std::is_same_v<Wanted, ask::SecondConnection>) {
      add_connection(request);
    } else if constexpr (std::is_same_v<Wanted, ask::ShutDown>) {
      begin_shut_down(request.token);
    } else {
      if (sandbox == nullptr) return answer_error(request, Error(Code::not_found, "no such sandbox"));
      serve_sandbox(*sandbox, request, std::move(beside), wait);
    }
  };
  std::visit(on, request.ask);
}

// Requests about one sandbox that exists.
void Spawner::serve_sandbox(SpawnedSandbox& sandbox, const Request& request, os::Fd beside, ZygoteWait wait) {
  if (request.as<ask::Adopt>() != nullptr) return adopt(request, sandbox);
  if (const auto* const wanted = request.as<ask::ForkInterpreter>())
    return fork_interpreter(request, *wanted, wait);
  if (const auto* const wanted = request.as<ask::Revive>())
    return revive(request, *wanted, std::move(beside), wait);
  if (request.as<ask::Thaw>() != nullptr) return thaw(request, sandbox);
  if (const auto* const wanted = request.as<ask::Rename>()) {
    if (is_taken(wanted->to))
      return answer_error(request, Error(Code::already_exists, "a sandbox of that name lives"));
    rename(request.name, wanted->to);
    return answer_done(request);
  }
  stand_still(request);  // freeze, snapshot, checkpoint
}

void Spawner::thaw(const Request& request, SpawnedSandbox& sandbox) {
  sandbox.paused = false;
  if (sandbox.freezing)
    give_up_standstill(sandbox, Error(Code::conflict, "the sandbox was resumed before it stood still"));
  if (sandbox.holds == 0) {
    if (auto done = builder_.thaw(sandbox.built); !done)
      return answer_error(request, std::move(done).error());
    sandbox.frozen = false;
  }
  answer_done(request);
}

void Spawner::begin_shut_down(std::uint64_t token) {
  shutting_down_ = token;
  prepared_fork_.reset();
  making_.clear();
  hide();
  for (auto& [name, each] : sandboxes_) kill(*each);
}

void Spawner::hello(const Request& request) {
  answers::Hello hello;
  for (const auto& [name, sandbox] : sandboxes_)
    if (!sandbox->ended) hello.names.push_back(name);
  hello.parent_group = builder_.cgroup_parent();
  hello.isolation = builder_.probed();
  if (builder_.privileges().rootless || !options_.zygote.enabled)
    hello.isolation.missing.push_back(
        {"python_zygote",
         "Python interpreters are started as any program: forking them from a zygote needs root"});
  hello.pid = static_cast<std::uint32_t>(::getpid());
  hello.zygotes_away = told_zygotes_away_ = zygotes_away();
  answer(Reply{.verb = request.verb(), .token = request.token, .answer = std::move(hello)});
}

static Reply description(const Request& request, const SpawnedSandbox& sandbox) {
  answers::Sandbox answer{.group = sandbox.built.parts.group,
                          .pid = static_cast<std::uint32_t>(sandbox.built.pid),
                          .isolation = sandbox.built.isolation,
                          .frozen = sandbox.paused};
  if (request.verb() == Verb::adopt) answer.spec = sandbox.spec;
  return {.verb = request.verb(), .token = request.token, .name = request.name, .answer = std::move(answer)};
}

// Entered into the table before the daemon gets its answer: if the daemon is gone by now, the sandbox ends
// with all others.
SpawnedSandbox& Spawner::add_sandbox(const std::string& name, const Spec& spec, Built built) {
  SpawnedSandbox& sandbox = *sandboxes_.emplace(name, std::make_unique<SpawnedSandbox>()).first->second;
  sandbox.built = std::move(built);
  sandbox.spec = spec;
  sandbox.spec.id = name;
  watch(sandbox.built.pidfd.get(), Source::sandbox);
  by_pidfd_[sandbox.built.pidfd.get()] = name;
  return sandbox;
}

void Spawner::rename(const std::string& from, const std::string& to) {
  auto node = sandboxes_.extract(from);
  node.key() = to;
  node.mapped()->spec.id = to;
  for (auto& [report, copying] : copying_)
    if (copying.name == from) copying.name = to;
  by_pidfd_[node.mapped()->built.pidfd.get()] = to;
  sandboxes_.insert(std::move(node));
}

// A sandbox takes about eight, for a moment more. The last ones are for those who have theirs already: to
// end, to pause, to be looked at.
static bool are_descriptors_short(int any) {
  constexpr int reserve = 128;
  rlimit files{};
  const os::Fd next(::fcntl(any, F_DUPFD_CLOEXEC, 0));
  return !next.is_open() || (::getrlimit(RLIMIT_NOFILE, &files) == 0 &&
                             static_cast<rlim_t>(next.get()) + reserve > files.rlim_cur);
}

void Spawner::create(const Request& request, const Spec& spec) {
  if (shutting_down_) return answer_error(request, Error(Code::unavailable, "the provider is shutting down"));
  if (is_taken(request.name))
    return answer_error(request, Error(Code::already_exists, "a sandbox of that name lives"));
  if (are_descriptors_short(epoll_.get()))
    return answer_error(
        request, Error(Code::resource_exhausted,
                       "too many sandboxes for the limit of open files: raise it (ulimit -Hn, LimitNOFILE)"));
  if (SpawnedSandbox* const prepared = take_prepared_fork(request.name, spec))
    return hand_out(request, spec, *prepared);
  const auto size = builder_.image_for(spec);
  if (!size) return finish_create(request, spec, {});
  if (auto ready = builder_.images().take(*size))
    return finish_create(request, spec, {std::move(*ready), *size});
  if (making_.size() >= kWaitingMax)
    return answer_error(request,
                        Error(Code::resource_exhausted, "too many sandboxes wait for their disk images"));
  const std::uint64_t ticket = ++tickets_;
  if (auto asked = builder_.images().ask(ticket, *size); !asked)
    return answer_error(request, std::move(asked).error());
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
      reap(builder_.images().give_up_process());
      for (auto& [ticket, making] : std::exchange(making_, {})) answer_error(making.request, made.error());
      if (++maker_losses_ >= losses_max) return;
      builder_.images().restart();
      if (builder_.images().usable()) watch(builder_.images().socket(), Source::images);
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
    const bool is_lacking = !made->mount && (made->mount.error().code() == Code::unsupported ||
                                             made->mount.error().code() == Code::resource_exhausted);
    if (made->mount)
      finish_create(request, spec, {std::move(*made->mount), node.mapped().size});
    else if (is_lacking)
      finish_create(request, spec, {});
    else
      answer_error(request, std::move(made->mount).error().context("disk"));
  }
}

void Spawner::finish_create(const Request& request, const Spec& spec, Disk disk) {
  auto built = builder_.build(spec, std::move(disk));
  if (!built) return answer_error(request, std::move(built).error());
  hand_out(request, spec, add_sandbox(request.name, spec, std::move(*built)));
}

void Spawner::hand_out(const Request& request, const Spec& spec, SpawnedSandbox& sandbox) {
  // The daemon's is the only end of the stream; with a run directory the guest can be given another.
  const os::Fd stream = std::move(sandbox.built.stream);
  if (options_.run_directory.empty()) sandbox.built.handover.reset();
  std::vector<int> fds{stream.get(), sandbox.built.pidfd.get(), sandbox.built.upper.get()};
  // The answer was lost, so nobody owns the sandbox: end it.
  if (answer(description(request, sandbox), fds) == Given::lost) return kill(sandbox);
  // Interpreters of a kind of its own (modules, layers): a zygote for them is on its way by the time one is
  // asked for.
  const bool own_kind = !spec.preimport.empty() || spec.trusted_layers;
  if (own_kind && sandbox.built.plain_usr) ensure_zygote(kind_of(spec));
}

// The guest gets a fresh stream: the old one may have stopped in the middle of a frame.
void Spawner::adopt(const Request& request, SpawnedSandbox& sandbox) {
  auto pair = os::socket_pair(os::SocketKind::stream);
  if (!pair) return answer_error(request, std::move(pair).error());
  if (!sandbox.built.handover.is_open())
    return answer_error(request, Error(Code::unsupported, "this sandbox cannot be taken back"));
  const int theirs = pair->second.get();
  if (auto sent = os::send_message(sandbox.built.handover.get(), "s", {&theirs, 1}, os::Wait::no); !sent)
    return answer_error(request, std::move(sent).error());
  Reply reply = description(request, sandbox);
  std::vector<int> fds{pair->first.get(), sandbox.built.pidfd.get(), sandbox.built.upper.get()};
  answer(std::move(reply), fds);
}

// SIGKILL to process 1 of the namespace ends everything in it; the group catches what could not be in it.
void Spawner::kill(SpawnedSandbox& sandbox) {
  if (sandbox.ended) return;
  (void)os::pidfd_kill(sandbox.built.pidfd.get(), SIGKILL);
  if (sandbox.frozen || sandbox.freezing) (void)builder_.thaw(sandbox.built);
}

void Spawner::destroy(const Request& request) {
  if (const auto making = stop_making(request.name)) {
    answer_error(*making, Error(Code::canceled, "the sandbox was ended before it was made"));
    return answer_done(request);
  }
  const auto known = sandboxes_.find(request.name);
  if (known == sandboxes_.end()) return answer_error(request, Error(Code::not_found, "no such sandbox"));
  // One that ended by itself may not be gone yet: the answer comes when it is.
  known->second->waiting.push_back(request.token);
  kill(*known->second);
}

void Spawner::on_end(int pidfd) {
  const auto named = by_pidfd_.find(pidfd);
  if (named == by_pidfd_.end()) return;
  const std::string name = named->second;
  by_pidfd_.erase(named);
  SpawnedSandbox* const sandbox = find(name);
  if (sandbox == nullptr) return;
  const auto exit = os::pidfd_wait(pidfd);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pidfd, nullptr);
  std::string why = "its guest ended";
  if (exit && exit->signal != 0) why = fmt::format("its guest was ended by signal {}", exit->signal);
  if (exit && exit->signal == 0) why = fmt::format("its guest ended with status {}", exit->code);
  sandbox->ended = std::move(why);
  give_up_standstill(*sandbox, Error(Code::not_found, "the sandbox has ended"));
  const std::uint64_t ticket = ++tickets_;
  if (sandbox->built.on_disk) builder_.images().take_down(std::move(sandbox->built.upper));
  if (builder_.parts_pool().give_back(std::move(sandbox->built.parts), ticket,
                                      std::move(sandbox->built.upper)))
    tell_end(name);
  else
    by_ticket_[ticket] = name;
}

void Spawner::on_gone() {
  for (const std::uint64_t ticket : builder_.parts_pool().finished())
    if (const auto named = by_ticket_.extract(ticket); !named.empty()) tell_end(named.mapped());
}

// The name is free from here on and not earlier, so that the daemon cannot take this message for the end of a
// later sandbox of the same name.
void Spawner::tell_end(const std::string& name) {
  const auto node = sandboxes_.extract(name);
  for (const std::uint64_t token : node.mapped()->waiting)
    answer(Reply{.verb = Verb::destroy, .token = token, .name = name});
  answer(
      Reply{.verb = Verb::ended, .name = name, .answer = answers::Ended{std::move(*node.mapped()->ended)}});
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
  for (const int fd : {0, 1, kStreamFd, kHandoverFd})
    if (::dup3(null.get(), fd, fd > 2 ? O_CLOEXEC : 0) < 0)
      return fail(errno_error(errno, "arrange descriptors"));
  if (::dup3(program.get(), kProgramFd, O_CLOEXEC) < 0)
    return fail(errno_error(errno, "arrange descriptors"));
  return {};
}

[[noreturn]] void spawner_main(os::Fd daemon, const SpawnerOptions& options) {
  ::setsid();
  ::prctl(PR_SET_NAME, "atoll-spawner");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  const int daemon_number = ::fcntl(daemon.get(), F_DUPFD_CLOEXEC, 60);
  (void)daemon.release();
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
