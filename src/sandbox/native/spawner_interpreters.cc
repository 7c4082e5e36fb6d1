// Interpreters: zygotes, and the interpreters that are forked from them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "guest/zygote/fork_request.h"
#include "os/file.h"
#include "os/process.h"
#include "sandbox/native/process_image.h"
#include "sandbox/native/spawner_loop.h"

namespace atl::sandbox::native {

// A zygote that fails is tried again at once, so often; then after each of these pauses.
static constexpr std::uint32_t kZygoteAttempts = 3;
static constexpr std::chrono::seconds kZygotePause{10};

Zygote* Spawner::last_zygote(const ZygoteKind& kind, std::optional<Zygote::State> state) const {
  for (auto one = zygotes_.rbegin(); one != zygotes_.rend(); ++one)
    if ((*one)->kind() == kind && (!state || (*one)->state() == *state)) return one->get();
  return nullptr;
}

Result<std::unique_ptr<Zygote>> Spawner::start_zygote(const ZygoteKind& kind, std::uint64_t layout) {
  if (builder_.privileges().rootless) return fail(Code::unsupported, "a zygote needs root");
  if (!options_.zygote.enabled) return fail(Code::unsupported, "zygotes are turned off");
  if (zygotes_.size() >= kZygotesMax && !drop_idle_zygote())
    return fail(Code::resource_exhausted, "there are too many kinds of zygotes");
  Zygote::Start start{.kind = kind, .proc = builder_.proc(), .generation = ++generations_, .layout = layout};
  start.layers = TRY(builder_.zygote_layers(kind.layers));
  auto zygote = TRY(Zygote::start(std::move(start)));
  watch(zygote->socket(), Source::zygote);
  return zygote;
}

bool Spawner::has_children(const Zygote& zygote) const {
  return std::ranges::any_of(sandboxes_, [&](const auto& sandbox) {
    return std::ranges::any_of(sandbox.second->interpreters,
                               [&](const auto& one) { return one.second.generation == zygote.generation(); });
  });
}

bool Spawner::drop_idle_zygote() {
  const auto idle = std::ranges::find_if(zygotes_, [&](const auto& one) {
    return one->state() != Zygote::State::starting && one.get() != last_zygote(kind_of({}), std::nullopt) &&
           !has_children(*one);
  });
  if (idle == zygotes_.end()) return false;
  if (os::Fd process = (*idle)->end(); process.is_open()) reap(std::move(process));
  zygotes_.erase(idle);
  return true;
}

void Spawner::ensure_zygote(const ZygoteKind& kind) {
  constexpr std::size_t remembered_max = 256;
  if (failed_zygotes_.size() > remembered_max) failed_zygotes_.clear();
  Failure& failure = failed_zygotes_[kind];
  Zygote* const last = last_zygote(kind, std::nullopt);
  const bool is_useful =
      last != nullptr && last->state() != Zygote::State::dead && !last->is_worn(options_.zygote);
  const bool is_resting =
      failure.count >= kZygoteAttempts && Clock::machine().steady() < failure.last + kZygotePause;
  if (is_resting || is_useful) return;
  // Of the older ones those stay that can still be asked for siblings of living interpreters.
  std::erase_if(zygotes_, [&](const auto& zygote) {
    const bool is_over = zygote->kind() == kind &&
                         (zygote->state() == Zygote::State::dead || !has_children(*zygote)) &&
                         zygote->state() != Zygote::State::starting;
    if (os::Fd process = is_over ? zygote->end() : os::Fd(); process.is_open()) reap(std::move(process));
    return is_over;
  });
  auto zygote = start_zygote(kind, Zygote::new_layout());
  if (!zygote) return note_zygote_failure(kind, kZygoteAttempts, zygote.error().message());
  zygotes_.push_back(std::move(*zygote));
}

void Spawner::note_zygote_failure(const ZygoteKind& kind, std::uint32_t failures, std::string why) {
  Failure& failure = failed_zygotes_[kind];
  failure.count += failures, failure.reason = std::move(why), failure.last = Clock::machine().steady();
  const bool can_be = !builder_.privileges().rootless && options_.zygote.enabled;
  if (can_be && failure.count >= kZygoteAttempts && kind == kind_of({}))
    zygote_due_ = failure.last + kZygotePause;
}

std::string Spawner::zygotes_away() const {
  const ZygoteKind kind = kind_of({});
  const auto found = failed_zygotes_.find(kind);
  const bool can_be = !builder_.privileges().rootless && options_.zygote.enabled;
  if (!can_be || found == failed_zygotes_.end() || found->second.count == 0) return {};
  if (last_zygote(kind, Zygote::State::ready) != nullptr) return {};
  return found->second.reason.empty() ? "no zygote is ready" : found->second.reason;
}

void Spawner::tell_zygotes() {
  std::string away = zygotes_away();
  if (away == told_zygotes_away_) return;
  told_zygotes_away_ = away;
  answer(Reply{.verb = Verb::zygotes, .answer = answers::Zygotes{std::move(away)}});
}

void Spawner::on_zygote(int fd) {
  for (const auto& zygote : zygotes_) {
    if (zygote->socket() != fd) continue;
    zygote->hear();
    const ZygoteKind kind = zygote->kind();
    if (zygote->state() == Zygote::State::ready) {
      // From here on it only forks, and those who wait for a fork wait for the spawner as well.
      const sched_param priority{.sched_priority = 1};
      if (builder_.realtime()) ::sched_setscheduler(zygote->pid(), SCHED_FIFO, &priority);
      ensure_copier();
    }
    if (zygote->state() == Zygote::State::dead) {
      note_zygote_failure(kind, 1, zygote->complaint());
      ensure_zygote(kind);
    }
    break;
  }
  tell_zygotes();
  if (std::ranges::any_of(zygotes_, [](const auto& one) { return one->state() == Zygote::State::starting; }))
    return;
  for (PendingRequest& waiting : std::exchange(awaiting_zygote_, {})) {
    serve(waiting.request, std::move(waiting.beside), ZygoteWait::over);
  }
}

void Spawner::fork_interpreter(const Request& request, const ask::ForkInterpreter& wanted, ZygoteWait wait) {
  SpawnedSandbox& sandbox = *find(request.name);
  os::Fd users;
  auto fork_target = fork_target_in(sandbox, wanted.user, wanted.directory, users);
  if (!fork_target) return answer_error(request, std::move(fork_target).error());
  const ZygoteKind kind = kind_of(sandbox.spec);
  Zygote* const ready = last_zygote(kind, Zygote::State::ready);
  if (ready == nullptr) {
    ensure_zygote(kind);
    if (wait == ZygoteWait::allowed && last_zygote(kind, Zygote::State::starting) != nullptr &&
        awaiting_zygote_.size() < kWaitingMax)
      return awaiting_zygote_.push_back({request, os::Fd()});
    tell_zygotes();
    const std::string& why = failed_zygotes_[kind].reason;
    return answer_error(request, Error(Code::unavailable, why.empty() ? "no zygote is ready" : why));
  }
  auto forked = ready->fork_interpreter(*fork_target);
  if (!forked) {
    if (ready->state() == Zygote::State::dead) note_zygote_failure(kind, 1, ready->complaint());
    tell_zygotes();
    return answer_error(request, std::move(forked).error());
  }
  if (const auto failed = failed_zygotes_.find(kind); failed != failed_zygotes_.end()) failed->second = {};
  hand_over({.verb = request.verb(), .token = request.token, .name = request.name}, sandbox,
            std::move(*forked));
  ensure_zygote(kind);
  tell_zygotes();
}

ZygoteKind Spawner::kind_of(const Spec& spec) const {
  ZygoteKind kind{.modules = options_.zygote.modules};
  kind.modules.insert(kind.modules.end(), spec.preimport.begin(), spec.preimport.end());
  if (spec.trusted_layers) kind.layers = spec.layers;
  return kind;
}

Result<ForkTarget> Spawner::fork_target_in(const SpawnedSandbox& sandbox, const std::string& user,
                                           const std::string& directory, os::Fd& users) {
  const char* const programs = sandbox.spec.layers.empty() ? "usr" : "root/usr";
  if (!sandbox.built.plain_usr || !is_empty(sandbox.built.upper.get(), programs))
    return fail(Code::unsupported, "the sandbox's programs are not the zygote's");
  if (sandbox.frozen || sandbox.freezing) return fail(Code::conflict, "the sandbox is paused");
  // Not kept for each sandbox: a thousand descriptors would be copied with every helper.
  users = TRY(os::open_at(builder_.proc(), fmt::format("{}/ns/user", sandbox.built.pid).c_str(), O_RDONLY));
  return ForkTarget{.guest_pidfd = sandbox.built.pidfd.get(),
                    .user_namespace = users.get(),
                    .filter = builder_.filter(),
                    .open_files = sandbox.spec.limits.open_files_max,
                    .set_uid = sandbox.spec.sudo,
                    .groups = TRY(builder_.cgroups().open_group(sandbox.built.parts.group)),
                    .user = user,
                    .directory = directory};
}

void Spawner::hand_over(Reply reply, SpawnedSandbox& sandbox, ForkedChild forked) {
  // Those that ended are forgotten when they have become many.
  if (sandbox.interpreters.size() >= 16)
    std::erase_if(sandbox.interpreters, [&](const auto& one) {
      return !LiveProcess::open(builder_.proc(), one.second.place.pid, one.second.place.start_time);
    });
  sandbox.interpreters[forked.pid] = {forked.generation, {forked.host_pid, forked.start_time}};
  reply.answer = answers::Interpreter{static_cast<std::uint32_t>(forked.pid)};
  const int fds[] = {forked.control.get(), forked.out.get(), forked.err.get()};
  answer(std::move(reply), fds);
}

Zygote* Spawner::zygote_of(std::uint64_t generation) {
  for (const auto& zygote : zygotes_)
    if (zygote->generation() == generation && zygote->state() == Zygote::State::ready) return zygote.get();
  return nullptr;
}

Zygote* Spawner::zygote_for(const CheckpointedInterpreter& interpreter, const ZygoteKind& kind,
                            bool& is_coming) {
  const auto fits = [&](const auto& one) {
    return interpreter.extent == Extent::whole ? one->layout() == interpreter.layout && one->kind() == kind
                                               : one->id() == interpreter.zygote;
  };
  const bool may_come = is_coming && interpreter.extent == Extent::whole;
  is_coming = false;
  for (const auto& one : zygotes_) {
    if (one->state() == Zygote::State::ready && fits(one)) return one.get();
    is_coming |= may_come && one->state() == Zygote::State::starting && fits(one);
  }
  if (is_coming || !may_come) return nullptr;
  auto zygote = start_zygote(kind, interpreter.layout);
  if (!zygote) return nullptr;
  is_coming = true;
  // Not at the end of the list: the last zygote of a kind is the one in general use.
  zygotes_.insert(zygotes_.begin(), std::move(*zygote));
  return nullptr;
}

Result<ForkedChild> Spawner::fork_copy(Zygote& zygote, const SpawnedSandbox& sandbox,
                                       const CheckpointedInterpreter& interpreter) {
  if (guest::control_number(sandbox.spec.limits.open_files_max) != interpreter.control)
    return fail(Code::conflict, "the limit of open files is another one");
  os::Fd users;
  ForkTarget fork_target = TRY(fork_target_in(sandbox, interpreter.user, "/", users));
  fork_target.pid = interpreter.pid, fork_target.copy = true;
  auto forked = zygote.fork_interpreter(fork_target);
  // The helper process may have got that very number; the next attempt gets another helper.
  for (int again = 0; again < 3 && !forked && forked.error().code() == Code::already_exists; ++again)
    forked = zygote.fork_interpreter(fork_target);
  if (!forked) return forked;
  constexpr timeval patience{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(forked->control.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return forked;
}

Result<void> Spawner::write_copy(Copying copying, int file, std::uint32_t index) {
  const ForkedChild& forked = *copying.forked;
  const Zygote* const zygote = zygote_of(forked.generation);
  if (zygote == nullptr) return fail(Code::conflict, "its zygote is gone");
  const ReviveJob job{.proc = builder_.proc(),
                      .file = file,
                      .index = index,
                      .process = {forked.host_pid, forked.start_time},
                      .zygote = {zygote->pid(), zygote->start_time()},
                      .control = forked.control.get()};
  return give_to_copier(std::move(copying), job);
}

// A child of the interpreter's own zygote, of the interpreter's own number, is made into it by a process of
// ours.
void Spawner::revive(const Request& request, const ask::Revive& wanted, os::Fd file, ZygoteWait wait) {
  SpawnedSandbox& sandbox = *find(request.name);
  if (!file.is_open())
    return answer_error(request, Error(Code::internal, "the file of parked interpreters is missing"));
  // Reading a pipe or a device could wait for ever.
  struct stat info {};
  if (::fstat(file.get(), &info) < 0 || !S_ISREG(info.st_mode))
    return answer_error(request, Error(Code::invalid_argument, "parked interpreters come in a file"));
  if (awaiting_zygote_.size() + awaiting_turn_.size() >= kWaitingMax)
    return answer_error(request,
                        Error(Code::resource_exhausted, "too many interpreters are coming back at once"));
  const CheckpointedInterpreter& interpreter = wanted.interpreter;
  if (take_prefetched(sandbox, request, wanted, file)) return;
  bool is_coming = wait == ZygoteWait::allowed;
  Zygote* const zygote = zygote_for(interpreter, kind_of(sandbox.spec), is_coming);
  if (zygote == nullptr && is_coming) return awaiting_zygote_.push_back({request, std::move(file)});
  if (zygote == nullptr) return answer_error(request, Error(Code::conflict, "its zygote is gone"));
  if (is_reviving_enough()) return awaiting_turn_.push_back({request, std::move(file)});
  auto forked = fork_copy(*zygote, sandbox, interpreter);
  if (!forked) return answer_error(request, std::move(forked).error());
  Copying copying{.verb = request.verb(), .token = request.token, .name = request.name};
  copying.forked = std::move(*forked);
  if (auto begun = write_copy(std::move(copying), file.get(), wanted.index); !begun)
    answer_error(request, std::move(begun).error());
}

// Where this fails, whoever asks for the copy will be told why.
void Spawner::fork_prefetched(SpawnedSandbox& sandbox, const CheckpointedInterpreter& interpreter) {
  bool is_coming = false;
  Zygote* const zygote = zygote_for(interpreter, kind_of(sandbox.spec), is_coming);
  if (zygote == nullptr || is_reviving_enough()) return;
  auto forked = fork_copy(*zygote, sandbox, interpreter);
  if (forked)
    sandbox.prefetched = SpawnedSandbox::Prefetched{.interpreter = interpreter, .forked = std::move(*forked)};
}

void Spawner::write_prefetched(const std::string& target, const std::vector<std::string>& carried, int file) {
  SpawnedSandbox* const sandbox =
      prepared_fork_ && prepared_fork_->spec.snapshot == target ? find(prepared_fork_->name) : nullptr;
  if (sandbox == nullptr || !sandbox->prefetched) return;
  SpawnedSandbox::Prefetched& prefetched = *sandbox->prefetched;
  struct stat info {};
  // A checkpoint that is large lies on the disk.
  if (carried.empty() || carried.front() != prefetched.interpreter.id || file < 0 || ::fstat(file, &info) < 0)
    return drop_prefetched(*sandbox);
  prefetched.device = info.st_dev, prefetched.file = info.st_ino;
  Copying copying{.verb = Verb::revive, .name = prepared_fork_->name};
  copying.is_prefetched = true, copying.forked = std::exchange(prefetched.forked, std::nullopt);
  if (!write_copy(std::move(copying), file, 0)) drop_prefetched(*sandbox);
}

void Spawner::finish_prefetched(Copying copying, Reply reply) {
  SpawnedSandbox* const sandbox = find(copying.name);
  if (reply.error || sandbox == nullptr || !sandbox->prefetched) {
    (void)os::pidfd_kill(copying.forked->pidfd.get(), SIGKILL);
    if (sandbox == nullptr || !sandbox->prefetched) return;
    SpawnedSandbox::Prefetched prefetched = std::move(*std::exchange(sandbox->prefetched, std::nullopt));
    if (prefetched.asked) serve(*prefetched.asked, std::move(prefetched.beside));
    return;
  }
  SpawnedSandbox::Prefetched& prefetched = *sandbox->prefetched;
  prefetched.forked = std::move(copying.forked), prefetched.is_alive = true;
  if (!prefetched.asked) return;
  reply.token = prefetched.asked->token, reply.name = prefetched.asked->name;
  ForkedChild forked = std::move(*prefetched.forked);
  sandbox->prefetched.reset();
  hand_over(std::move(reply), *sandbox, std::move(forked));
}

bool Spawner::take_prefetched(SpawnedSandbox& sandbox, const Request& request, const ask::Revive& wanted,
                              os::Fd& file) {
  if (!sandbox.prefetched) return false;
  SpawnedSandbox::Prefetched& prefetched = *sandbox.prefetched;
  struct stat info {};
  const bool is_it = ::fstat(file.get(), &info) == 0 && info.st_dev == prefetched.device &&
                     info.st_ino == prefetched.file && wanted.index == 0 &&
                     wanted.interpreter.id == prefetched.interpreter.id;
  if (!is_it) return false;
  if (!prefetched.is_alive) {
    prefetched.asked = request, prefetched.beside = std::move(file);
    return true;
  }
  ForkedChild forked = std::move(*prefetched.forked);
  sandbox.prefetched.reset();
  hand_over({.verb = request.verb(), .token = request.token, .name = request.name}, sandbox,
            std::move(forked));
  return true;
}

void Spawner::drop_prefetched(SpawnedSandbox& sandbox) {
  if (sandbox.prefetched && sandbox.prefetched->forked)
    (void)os::pidfd_kill(sandbox.prefetched->forked->pidfd.get(), SIGKILL);
  sandbox.prefetched.reset();
}

}  // namespace atl::sandbox::native
