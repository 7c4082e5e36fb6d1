// What children of the spawner write: snapshots, checkpoints, memory of interpreters that come to life.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "guest/zygote/fork_request.h"
#include "os/file.h"
#include "os/fork.h"
#include "os/message.h"
#include "os/process.h"
#include "os/tree_size.h"
#include "sandbox/native/pool.h"
#include "sandbox/native/spawner_loop.h"

namespace atl::sandbox::native {

Result<SnapshotFiles> Spawner::snapshot_files(const SpawnedSandbox& sandbox,
                                              const std::string& target) const {
  SnapshotFiles files{.place = TRY(builder_.roots().snapshot_place(target)), .parent = {}};
  if (sandbox.spec.snapshot) files.parent = TRY(builder_.roots().snapshot(*sandbox.spec.snapshot));
  return files;
}

SnapshotJob Spawner::snapshot_job(const SpawnedSandbox& sandbox, const SnapshotFiles& files,
                                  const SandboxBuilder& builder) {
  return {.upper = sandbox.built.upper.get(),
          .first_id = sandbox.built.parts.slot.ids.first,
          .ids = sandbox.built.parts.slot.ids.count,
          .rootless = builder.privileges().rootless,
          .parent = files.parent.get(),
          .directory = files.place.directory.get(),
          .name = files.place.name};
}

void Spawner::take_snapshot(SpawnedSandbox& sandbox, const Request& request, SnapshotFiles files) {
  ++sandbox.holds;
  const SnapshotJob job = snapshot_job(sandbox, files, builder_);
  Copying copying{.verb = request.verb(), .token = request.token, .name = sandbox.spec.id, .holds = true};
  auto begun = copy(std::move(copying), [&]() -> Result<AnyAnswer> {
    TRY(write_snapshot(job));
    return AnyAnswer{};
  });
  if (begun) return;
  release(sandbox);
  answer_error(request, std::move(begun).error());
}

namespace {

// Which program a process runs. A process that may not be looked at has none, and is then equal to no other.
struct Program {
  dev_t device = 0;
  ino_t file = 0;
  bool ending = false;  // its memory is gone already
  bool same_as(const Program& other) const {
    return file != 0 && file == other.file && device == other.device;
  }
};

Program program_of(int proc, pid_t pid) {
  struct stat found {};
  if (::fstatat(proc, fmt::format("{}/exe", pid).c_str(), &found, 0) != 0) return {.ending = errno == ENOENT};
  return {.device = found.st_dev, .file = found.st_ino};
}

// Its number in the innermost namespace; 0 if the kernel does not say.
std::uint32_t number_inside(const std::string& status) {
  const std::size_t line = status.find("\nNSpid:"), end = status.find('\n', line + 1);
  if (line == std::string::npos) return 0;
  return static_cast<std::uint32_t>(std::atoi(status.c_str() + status.rfind('\t', end)));
}

}  // namespace

// The guest has children of its own that look after files for the daemon: they belong to no workload and are
// no loss.
std::vector<std::string> Spawner::unknown_processes(const SpawnedSandbox& sandbox,
                                                    const ask::Checkpoint& checkpoint) {
  // How many there are is the guest's choice, and everybody waits while they are looked at.
  constexpr std::size_t looked_at_max = 512;
  std::vector<std::string> names;
  const Program guest = program_of(builder_.proc(), sandbox.built.pid);
  std::size_t looked_at = 0;
  for (const pid_t pid : builder_.cgroups().processes(sandbox.built.parts.group)) {
    if (++looked_at > looked_at_max) {
      names.push_back("further processes, which are too many to name");
      break;
    }
    const Program program = program_of(builder_.proc(), pid);
    if (program.ending || program.same_as(guest)) continue;
    const auto status = os::read_file_at(builder_.proc(), fmt::format("{}/status", pid).c_str());
    if (pid == sandbox.built.pid || !status) continue;
    const std::uint32_t inside = number_inside(*status);
    if (inside == 0 || std::ranges::find(checkpoint.known, inside) != checkpoint.known.end()) continue;
    const std::size_t name = status->find('\t') + 1;
    names.push_back(fmt::format("process {} ({})", inside, status->substr(name, status->find('\n') - name)));
    if (names.size() == 100) break;
  }
  return names;
}

// Who went on in place of a dead one has the same zygote: what it shares with that it has by way of the dead
// one.
const SpawnedSandbox::Interpreter* Spawner::find_interpreter(
    SpawnedSandbox& sandbox, const ask::Checkpoint::Interpreter& interpreter) {
  auto& all = sandbox.interpreters;
  const auto forked = all.find(static_cast<pid_t>(interpreter.forked_pid));
  if (forked == all.end()) return nullptr;
  if (interpreter.pid == interpreter.forked_pid) return &forked->second;
  constexpr std::size_t looked_at_max = 2048;
  std::size_t looked_at = 0;
  for (const pid_t pid : builder_.cgroups().processes(sandbox.built.parts.group)) {
    if (++looked_at > looked_at_max) break;
    const auto status = os::read_file_at(builder_.proc(), fmt::format("{}/status", pid).c_str());
    if (!status || number_inside(*status) != interpreter.pid) continue;
    const auto start_time = LiveProcess::started_at(builder_.proc(), pid);
    if (!start_time) continue;
    forked->second.place = {pid, *start_time};
    return &forked->second;
  }
  return nullptr;
}

CheckpointJob Spawner::checkpoint_job(const ask::Checkpoint& wanted, SpawnedSandbox& sandbox,
                                      const SnapshotFiles& files) {
  CheckpointJob job{.proc = builder_.proc(), .files = snapshot_job(sandbox, files, builder_)};
  job.files.durable = wanted.whole;
  job.extent = wanted.whole ? Extent::whole : Extent::difference;
  job.bytes_max = sandbox.spec.limits.memory_bytes + (64ULL << 20);
  job.strict = wanted.strict;
  job.left_behind = wanted.left_behind;
  for (const ask::Checkpoint::Interpreter& interpreter : wanted.interpreters) {
    const SpawnedSandbox::Interpreter* const found = find_interpreter(sandbox, interpreter);
    Zygote* const zygote = found == nullptr ? nullptr : zygote_of(found->generation);
    if (zygote == nullptr) {
      const char* const why = found == nullptr ? "no zygote is known that forked it" : "its zygote is gone";
      job.left_behind.push_back(fmt::format("interpreter {}: {}", interpreter.id, why));
      continue;
    }
    CheckpointedInterpreter checkpointed{.id = interpreter.id,
                                         .directory = interpreter.directory,
                                         .user = interpreter.user,
                                         .zygote = zygote->id()};
    checkpointed.layout = zygote->layout();
    checkpointed.pid = static_cast<std::int32_t>(interpreter.pid);
    checkpointed.control = guest::control_number(sandbox.spec.limits.open_files_max);
    job.interpreters.push_back(
        {std::move(checkpointed), found->place, {zygote->pid(), zygote->start_time()}});
  }
  std::ranges::move(unknown_processes(sandbox, wanted), std::back_inserter(job.left_behind));
  return job;
}

void Spawner::checkpoint(SpawnedSandbox& sandbox, const Request& request, const ask::Checkpoint& wanted,
                         SnapshotFiles files) {
  ++sandbox.holds;
  Copying copying{.verb = request.verb(), .token = request.token, .name = sandbox.spec.id, .holds = true};
  copying.target = wanted.directory;
  const CheckpointJob job = checkpoint_job(wanted, sandbox, files);
  if (!job.interpreters.empty()) copying.first = job.interpreters.front().checkpointed;
  auto begun = give_to_copier(std::move(copying), job);
  if (begun) return;
  release(sandbox);
  answer_error(request, std::move(begun).error());
}

// Nothing of it is seen by anybody until it is asked for. Where it cannot be made, whoever asks will be told
// why.
void Spawner::prepare_fork(const Copying& copying) {
  const SpawnedSandbox* const source = find(copying.name);
  if (source == nullptr || shutting_down_ || builder_.privileges().rootless ||
      !serves(source->spec, source->spec))
    return;
  drop_prepared_fork();
  Spec spec = source->spec;
  // A mount stays where it is when the directory gets its name.
  spec.snapshot = copying.target + kDraftSuffix;
  Disk disk;
  if (const auto size = builder_.image_for(spec)) {
    auto ready = builder_.images().take(*size);
    if (!ready) return;
    disk = {std::move(*ready), *size};
  }
  auto built = builder_.build(spec, std::move(disk));
  if (!built) return;
  PreparedFork prepared{.name = fmt::format("pool-fork-{}", ++prepared_forks_),
                        .since = Clock::machine().steady()};
  spec.snapshot = copying.target;
  prepared.spec = spec;
  SpawnedSandbox& sandbox = add_sandbox(prepared.name, spec, std::move(*built));
  prepared_fork_ = std::move(prepared);
  if (copying.first) fork_prefetched(sandbox, *copying.first);
}

SpawnedSandbox* Spawner::take_prepared_fork(const std::string& name, const Spec& spec) {
  if (!prepared_fork_ || !serves(prepared_fork_->spec, spec) ||
      prepared_fork_->spec.required_walls != spec.required_walls)
    return nullptr;
  const std::string own_name = std::exchange(prepared_fork_, std::nullopt)->name;
  if (find(own_name) == nullptr) return nullptr;
  rename(own_name, name);
  SpawnedSandbox& sandbox = *find(name);
  sandbox.spec = spec;
  if (!spec.with_interpreters) drop_prefetched(sandbox);
  return &sandbox;
}

void Spawner::drop_prepared_fork(const std::optional<std::string>& target) {
  if (!prepared_fork_ || (target && prepared_fork_->spec.snapshot != target)) return;
  if (SpawnedSandbox* const sandbox = find(prepared_fork_->name)) kill(*sandbox);
  prepared_fork_.reset();
}

void Spawner::discard_snapshot(const Request& request, const ask::Discard& wanted) {
  const auto place = builder_.roots().snapshot_place(wanted.directory);
  if (!place) return answer_error(request, place.error());
  drop_prepared_fork(wanted.directory);
  Copying copying{.verb = request.verb(), .token = request.token, .name = request.name};
  const auto begun = copy(std::move(copying), [&]() -> Result<AnyAnswer> {
    TRY(os::remove_tree(place->directory.get(), place->name));
    return AnyAnswer{};
  });
  if (!begun) answer_error(request, begun.error());
}

// Its files belong to ids of sandboxes, and those that are closed to everybody else count as well.
void Spawner::measure_snapshot(const Request& request, const ask::Measure& wanted) {
  const auto snapshot = builder_.roots().snapshot(wanted.directory);
  if (!snapshot) return answer_error(request, snapshot.error());
  Copying copying{.verb = request.verb(), .token = request.token, .name = request.name};
  const auto begun = copy(std::move(copying), [&]() -> Result<AnyAnswer> {
    return answers::Size{TRY(os::measure_tree(snapshot->get())).bytes};
  });
  if (!begun) answer_error(request, begun.error());
}

// What is given out is only what a checkpoint of ours wrote: a daemon that is an ordinary user owns the
// directory above and could have put a directory there with a hard link to any file of the machine.
void Spawner::open_interpreters(const Request& request, const ask::OpenInterpreters& wanted) {
  const auto snapshot = builder_.roots().snapshot(wanted.directory);
  if (!snapshot) return answer_error(request, snapshot.error());
  struct stat directory {};
  constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;
  if (::fstat(snapshot->get(), &directory) < 0 || directory.st_uid != ::geteuid() ||
      (directory.st_mode & writable_by_others) != 0)
    return answer_error(request, Error(Code::permission_denied, "this is no checkpoint of the spawner's"));
  const auto file = os::open_beneath(snapshot->get(), kCheckpointName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return answer_error(request, file.error());
  struct stat info {};
  if (::fstat(file->get(), &info) < 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid() ||
      info.st_nlink != 1)
    return answer_error(request, Error(Code::permission_denied, "this is no file of parked interpreters"));
  const int fd = file->get();
  answer({.verb = request.verb(), .token = request.token, .name = request.name}, std::span(&fd, 1));
}

// In a child: the file is as large as the memory of the interpreters, and the disk takes its time.
void Spawner::discard_interpreters(const Request& request, const ask::DiscardInterpreters& wanted) {
  const auto snapshot = builder_.roots().snapshot(wanted.directory);
  if (!snapshot) return answer_error(request, snapshot.error());
  Copying copying{.verb = request.verb(), .token = request.token, .name = request.name};
  const auto begun = copy(std::move(copying), [&]() -> Result<AnyAnswer> {
    if (::unlinkat(snapshot->get(), kCheckpointName, 0) < 0 && errno != ENOENT)
      return fail(errno_error(errno, "remove parked interpreters"));
    return AnyAnswer{};
  });
  if (!begun) answer_error(request, begun.error());
}

Result<void> Spawner::copy(Copying copying, const std::function<Result<AnyAnswer>()>& work) {
  if (copying_.size() >= kCopyingMax)
    return fail(Code::resource_exhausted,
                "too many snapshots are being written or removed at once: try again");
  os::SocketPair report = TRY(os::socket_pair(os::SocketKind::packets));
  copying.report = std::move(report.first);
  const os::Fd theirs = std::move(report.second);
  const pid_t child = os::fork_alone();
  if (child < 0) return fail(errno_error(errno, "fork what writes or removes a snapshot"));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const sched_param normal{};
    ::sched_setscheduler(0, SCHED_OTHER, &normal);
    Result<AnyAnswer> done =
        builder_.enter_host() ? work() : fail(Code::provider_failed, "the host's files are out of reach");
    Reply reply{.verb = copying.verb};
    if (done)
      reply.answer = std::move(*done);
    else
      reply.error = std::move(done).error();
    ::_exit(os::send_message(theirs.get(), encode(reply)) ? 0 : 1);
  }
  copying.pidfd = TRY(os::pidfd_open(child));
  const int key = copying.report.get();
  watch(key, Source::copying);
  copying_.emplace(key, std::move(copying));
  return {};
}

template <class Job>
Result<void> Spawner::give_to_copier(Copying copying, const Job& job) {
  if (copying_.size() >= kCopyingMax)
    return fail(Code::resource_exhausted, "too many sandboxes are being copied at once: try again");
  Copier copier;
  while (!copier.socket.is_open()) {
    const bool waits = !copiers_.empty();
    copier = waits ? std::move(copiers_.back()) : TRY(make_copier());
    if (waits) copiers_.pop_back();
    auto given = give(copier, job);
    if (given) break;
    // The copier ended while it waited for a job.
    reap(std::move(copier.pidfd));
    copier.socket.reset();
    if (!waits) return given;
  }
  copying.pidfd = std::move(copier.pidfd), copying.report = std::move(copier.socket),
  copying.by_copier = true;
  const int key = copying.report.get();
  watch(key, Source::copying);
  copying_.emplace(key, std::move(copying));
  return {};
}
template Result<void> Spawner::give_to_copier(Copying copying, const CheckpointJob& job);
template Result<void> Spawner::give_to_copier(Copying copying, const ReviveJob& job);

Result<Copier> Spawner::make_copier() {
  const Urgency urgency = builder_.realtime() ? Urgency::realtime : Urgency::none;
  return start_copier(builder_.proc(), urgency, [&] { return builder_.enter_host(); });
}

void Spawner::ensure_copier() {
  if (!copiers_.empty()) return;
  if (auto copier = make_copier()) copiers_.push_back(std::move(*copier));
}

void Spawner::reap(os::Fd pidfd) {
  const int key = pidfd.get();
  watch(key, Source::reaping);
  reaping_.emplace(key, std::move(pidfd));
}

void Spawner::on_reaped(int pidfd) {
  (void)os::pidfd_wait(pidfd);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pidfd, nullptr);
  reaping_.erase(pidfd);
}

// A child has reported its result, or has ended without one. Its end is awaited elsewhere (on_reaped),
// because it takes a moment.
void Spawner::on_copied(int report) {
  on_report(report);
  revive_next();
}

void Spawner::on_report(int report) {
  const auto found = copying_.find(report);
  if (found == copying_.end()) return;
  auto told = take_report(report);
  if (told && !told->is_last) return prepare_fork(found->second);
  auto node = copying_.extract(found);
  Copying& copying = node.mapped();
  if (!told || told->reply.error) drop_prepared_fork(copying.target);
  // Children that were made meanwhile have it open too: closing it would not end the events.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, report, nullptr);
  if (told && copying.by_copier && copiers_.size() < kRevivalsMax)
    copiers_.push_back({std::move(copying.pidfd), std::move(copying.report)});
  else
    reap(std::move(copying.pidfd));
  if (told && !told->reply.error && copying.first)
    write_prefetched(copying.target, told->reply.as<answers::Checkpoint>().carried, told->beside.get());
  SpawnedSandbox* const sandbox = find(copying.name);
  if (sandbox != nullptr && copying.holds) release(*sandbox);
  Reply reply = told ? std::move(told->reply) : Reply{};
  if (!told) reply.error = told.error();
  reply.verb = copying.verb, reply.token = copying.token, reply.name = copying.name;
  const auto taken = Clock::machine().steady() - copying.since;
  if (auto* const checkpoint = std::get_if<answers::Checkpoint>(&reply.answer))
    checkpoint->micros =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
  if (copying.verb == Verb::open_volume)
    return finish_volume(copying, std::move(reply), told ? std::move(told->beside) : os::Fd());
  if (copying.stops) {
    if (sandbox == nullptr || !sandbox->freezing) return;
    return reply.error ? give_up_standstill(*sandbox, *reply.error) : on_still(*sandbox);
  }
  if (copying.is_prefetched) return finish_prefetched(std::move(copying), std::move(reply));
  if (!copying.forked) {
    const int beside = told ? told->beside.get() : -1;
    answer(std::move(reply), std::span(&beside, beside >= 0 ? 1 : 0));
    return;
  }
  if (!reply.error && sandbox == nullptr) reply.error = Error(Code::not_found, "the sandbox has ended");
  if (!reply.error) return hand_over(std::move(reply), *sandbox, std::move(*copying.forked));
  (void)os::pidfd_kill(copying.forked->pidfd.get(), SIGKILL);
  answer(std::move(reply));
}

bool Spawner::is_reviving_enough() const {
  const auto reviving =
      std::ranges::count_if(copying_, [](const auto& one) { return one.second.forked.has_value(); });
  return static_cast<std::size_t>(reviving) >= kRevivalsMax;
}

void Spawner::revive_next() {
  while (!awaiting_turn_.empty() && !is_reviving_enough()) {
    PendingRequest next = std::move(awaiting_turn_.front());
    awaiting_turn_.pop_front();
    serve(next.request, std::move(next.beside));
  }
}

}  // namespace atl::sandbox::native
