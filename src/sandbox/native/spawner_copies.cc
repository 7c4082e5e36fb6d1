// What children of the spawner write: snapshots, captures, memory of interpreters that come to life.
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

#include "guest/zygote/birth.h"
#include "os/file.h"
#include "os/fork.h"
#include "os/message.h"
#include "os/process.h"
#include "os/tree_size.h"
#include "sandbox/native/pool.h"
#include "sandbox/native/spawner_loop.h"

namespace atl::sandbox::native {

Result<SnapshotFiles> Spawner::snapshot_files(const Living& living, const std::string& target) const {
  SnapshotFiles files{.place = TRY(shop_.roots().snapshot_place(target)), .parent = {}};
  if (living.spec.snapshot) files.parent = TRY(shop_.roots().snapshot(*living.spec.snapshot));
  return files;
}

SnapshotJob Spawner::snapshot_job(const Living& living, const SnapshotFiles& files, const Workshop& shop) {
  return {.upper = living.built.upper.get(),
          .first_id = living.built.parts.slot.ids.first,
          .ids = living.built.parts.slot.ids.count,
          .rootless = shop.standing().rootless,
          .parent = files.parent.get(),
          .directory = files.place.directory.get(),
          .name = files.place.name};
}

void Spawner::take_snapshot(Living& living, const Request& request, SnapshotFiles files) {
  ++living.holds;
  const SnapshotJob job = snapshot_job(living, files, shop_);
  Copying copying{.verb = request.verb, .token = request.token, .name = living.spec.id, .holds = true};
  auto begun = copy(std::move(copying), [&]() -> Result<Reply> {
    TRY(write_snapshot(job));
    return Reply{};
  });
  if (begun) return;
  release(living);
  answer_error(request, std::move(begun).error());
}

namespace {

// Which program a process runs. One that may not be looked at has none, which is nobody's.
struct Program {
  dev_t device = 0;
  ino_t file = 0;
  bool ending = false;  // its memory is gone already
  bool same_as(const Program& other) const { return file != 0 && file == other.file && device == other.device; }
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
std::vector<std::string> Spawner::strangers(const Living& living, const Capture& capture) {
  // How many there are is the guest's choice, and everybody waits while they are looked at.
  constexpr std::size_t looked_at_max = 512;
  std::vector<std::string> names;
  const Program guest = program_of(shop_.proc(), living.built.pid);
  std::size_t looked_at = 0;
  for (const pid_t pid : shop_.cgroups().processes(living.built.parts.group)) {
    if (++looked_at > looked_at_max) {
      names.push_back("further processes, which are too many to name");
      break;
    }
    const Program program = program_of(shop_.proc(), pid);
    if (program.ending || program.same_as(guest)) continue;
    const auto status = os::read_file_at(shop_.proc(), fmt::format("{}/status", pid).c_str());
    if (pid == living.built.pid || !status) continue;
    const std::uint32_t inside = number_inside(*status);
    if (inside == 0 || std::ranges::find(capture.known, inside) != capture.known.end()) continue;
    const std::size_t name = status->find('\t') + 1;
    names.push_back(fmt::format("process {} ({})", inside, status->substr(name, status->find('\n') - name)));
    if (names.size() == 100) break;
  }
  return names;
}

// Who went on in place of a dead one has the same zygote: what it shares with that it has by way of the dead one.
const Living::Interpreter* Spawner::interpreter(Living& living, const Capture::Kernel& kernel) {
  auto& all = living.interpreters;
  const auto born = all.find(static_cast<pid_t>(kernel.born));
  if (born == all.end()) return nullptr;
  if (kernel.pid == kernel.born) return &born->second;
  constexpr std::size_t looked_at_max = 2048;
  std::size_t looked_at = 0;
  for (const pid_t pid : shop_.cgroups().processes(living.built.parts.group)) {
    if (++looked_at > looked_at_max) break;
    const auto status = os::read_file_at(shop_.proc(), fmt::format("{}/status", pid).c_str());
    if (!status || number_inside(*status) != kernel.pid) continue;
    const auto born_at = Subject::started_at(shop_.proc(), pid);
    if (!born_at) continue;
    born->second.place = {pid, *born_at};
    return &born->second;
  }
  return nullptr;
}

CaptureJob Spawner::capture_job(const Request& request, Living& living, const SnapshotFiles& files) {
  CaptureJob job{.proc = shop_.proc(), .files = snapshot_job(living, files, shop_)};
  job.files.durable = request.capture.whole;
  job.extent = request.capture.whole ? Extent::whole : Extent::difference;
  job.bytes_max = living.spec.limits.memory_bytes + (64ULL << 20);
  job.strict = request.capture.strict;
  job.left_behind = request.capture.left_behind;
  for (const Capture::Kernel& kernel : request.capture.kernels) {
    const Living::Interpreter* const found = interpreter(living, kernel);
    Zygote* const zygote = found == nullptr ? nullptr : zygote_of(found->generation);
    if (zygote == nullptr) {
      const char* const why = found == nullptr ? "no zygote is known to have borne it" : "its zygote is gone";
      job.left_behind.push_back(fmt::format("kernel {}: {}", kernel.id, why));
      continue;
    }
    ParkedKernel parked{.id = kernel.id, .directory = kernel.directory, .user = kernel.user, .zygote = zygote->id()};
    parked.layout = zygote->layout();
    parked.pid = static_cast<std::int32_t>(kernel.pid);
    parked.control = guest::control_number(living.spec.limits.open_files_max);
    job.kernels.push_back({std::move(parked), found->place, {zygote->pid(), zygote->born_at()}});
  }
  std::ranges::move(strangers(living, request.capture), std::back_inserter(job.left_behind));
  return job;
}

void Spawner::capture(Living& living, const Request& request, SnapshotFiles files) {
  ++living.holds;
  Copying copying{.verb = request.verb, .token = request.token, .name = living.spec.id, .holds = true};
  copying.target = request.text;
  const CaptureJob job = capture_job(request, living, files);
  if (!job.kernels.empty()) copying.first = job.kernels.front().parked;
  auto begun = assign(std::move(copying), job);
  if (begun) return;
  release(living);
  answer_error(request, std::move(begun).error());
}

// Nothing of it is seen by anybody until it is asked for. Where it cannot be made, whoever asks will be told why.
void Spawner::make_standby(const Copying& copying) {
  const Living* const source = find(copying.name);
  if (source == nullptr || shutting_down_ || shop_.standing().rootless || !serves(source->spec, source->spec)) return;
  drop_standby();
  Spec spec = source->spec;
  // A mount stays where it is when the directory gets its name.
  spec.snapshot = copying.target + kDraftSuffix;
  Disk disk;
  if (const auto size = shop_.image_for(spec)) {
    auto ready = shop_.images().take(*size);
    if (!ready) return;
    disk = {std::move(*ready), *size};
  }
  auto built = shop_.build(spec, std::move(disk));
  if (!built) return;
  Standby standby{.name = fmt::format("pool-standby-{}", ++standbys_), .since = Clock::machine().steady()};
  spec.snapshot = copying.target;
  standby.spec = spec;
  Living& living = move_in(standby.name, spec, std::move(*built));
  standby_ = std::move(standby);
  if (copying.first) bear_early(living, *copying.first);
}

Living* Spawner::take_standby(const Request& request) {
  if (!standby_ || !serves(standby_->spec, request.spec) || standby_->spec.required_walls != request.spec.required_walls)
    return nullptr;
  const std::string name = std::exchange(standby_, std::nullopt)->name;
  if (find(name) == nullptr) return nullptr;
  rename(name, request.name);
  Living& living = *find(request.name);
  living.spec = request.spec;
  if (!request.spec.with_kernels) drop_early(living);
  return &living;
}

void Spawner::drop_standby(const std::optional<std::string>& target) {
  if (!standby_ || (target && standby_->spec.snapshot != target)) return;
  if (Living* const living = find(standby_->name)) kill(*living);
  standby_.reset();
}

void Spawner::discard_snapshot(const Request& request) {
  const auto place = shop_.roots().snapshot_place(request.text);
  if (!place) return answer_error(request, place.error());
  drop_standby(request.text);
  Copying copying{.verb = request.verb, .token = request.token, .name = request.name};
  const auto begun = copy(std::move(copying), [&]() -> Result<Reply> {
    TRY(os::remove_tree(place->directory.get(), place->name));
    return Reply{};
  });
  if (!begun) answer_error(request, begun.error());
}

// Its files belong to ids of sandboxes, and those that are closed to everybody else count as well.
void Spawner::measure_snapshot(const Request& request) {
  const auto snapshot = shop_.roots().snapshot(request.text);
  if (!snapshot) return answer_error(request, snapshot.error());
  Copying copying{.verb = request.verb, .token = request.token, .name = request.name};
  const auto begun = copy(std::move(copying), [&]() -> Result<Reply> {
    Reply reply;
    reply.bytes = TRY(os::measure_tree(snapshot->get())).bytes;
    return reply;
  });
  if (!begun) answer_error(request, begun.error());
}

Result<void> Spawner::copy(Copying copying, const std::function<Result<Reply>()>& work) {
  if (copying_.size() >= kCopyingMax)
    return fail(Code::resource_exhausted,
                "too many snapshots are being written or removed at once: try again");
  os::SocketPair report = TRY(os::socket_pair(os::SocketKind::packets));
  copying.report = std::move(report.first);
  const os::Fd theirs = std::move(report.second);
  const pid_t child = os::fork_alone();
  if (child < 0) return fail(errno_error(errno, "fork"));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const sched_param normal{};
    ::sched_setscheduler(0, SCHED_OTHER, &normal);
    Result<Reply> done = shop_.enter_host() ? work() : fail(Code::provider_failed, "the host's files are out of reach");
    Reply reply = done ? std::move(*done) : Reply{};
    if (!done) reply.error = std::move(done).error();
    ::_exit(os::send_message(theirs.get(), encode(reply)) ? 0 : 1);
  }
  copying.pidfd = TRY(os::pidfd_open(child));
  const int key = copying.report.get();
  watch(key, Source::copying);
  copying_.emplace(key, std::move(copying));
  return {};
}

template <class Job>
Result<void> Spawner::assign(Copying copying, const Job& job) {
  if (copying_.size() >= kCopyingMax)
    return fail(Code::resource_exhausted, "too many sandboxes are being copied at once: try again");
  Copier copier;
  while (!copier.socket.is_open()) {
    const bool waits = !copiers_.empty();
    copier = waits ? std::move(copiers_.back())
                   : TRY(make_copier());
    if (waits) copiers_.pop_back();
    auto given = give(copier, job);
    if (given) break;
    // It ended while it waited.
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
template Result<void> Spawner::assign(Copying copying, const CaptureJob& job);
template Result<void> Spawner::assign(Copying copying, const ReviveJob& job);

Result<Copier> Spawner::make_copier() {
  const Urgency urgency = shop_.realtime() ? Urgency::realtime : Urgency::none;
  return start_copier(shop_.proc(), urgency, [&] { return shop_.enter_host(); });
}

void Spawner::raise_copier() {
  if (!copiers_.empty()) return;
  if (auto copier = make_copier())
    copiers_.push_back(std::move(*copier));
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

// Its last word, or its end without one. Until it is gone altogether, which takes it a moment, nobody waits.
void Spawner::on_copied(int report) {
  take_over(report);
  revive_next();
}

void Spawner::take_over(int report) {
  const auto found = copying_.find(report);
  if (found == copying_.end()) return;
  auto told = take_report(report);
  if (told && !told->is_last) return make_standby(found->second);
  auto node = copying_.extract(found);
  Copying& copying = node.mapped();
  if (!told || told->reply.error) drop_standby(copying.target);
  // Children that were made meanwhile have it open too: closing it would not end the events.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, report, nullptr);
  if (told && copying.by_copier && copiers_.size() < kRevivalsMax)
    copiers_.push_back({std::move(copying.pidfd), std::move(copying.report)});
  else
    reap(std::move(copying.pidfd));
  if (told && !told->reply.error && copying.first)
    write_early(copying.target, told->reply.carried, told->beside.get());
  Living* const living = find(copying.name);
  if (living != nullptr && copying.holds) release(*living);
  Reply reply = told ? std::move(told->reply) : Reply{};
  if (!told) reply.error = told.error();
  reply.verb = copying.verb, reply.token = copying.token, reply.name = copying.name;
  const auto taken = Clock::machine().steady() - copying.since;
  reply.micros = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
  if (copying.verb == Verb::open_volume)
    return finish_volume(copying, std::move(reply), told ? std::move(told->beside) : os::Fd());
  if (copying.stops) {
    if (living == nullptr || !living->freezing) return;
    return reply.error ? give_up_standstill(*living, *reply.error) : on_still(*living);
  }
  if (copying.is_early) return finish_early(std::move(copying), std::move(reply));
  if (!copying.born) {
    const int beside = told ? told->beside.get() : -1;
    answer(std::move(reply), std::span(&beside, beside >= 0 ? 1 : 0));
    return;
  }
  if (!reply.error && living == nullptr) reply.error = Error(Code::not_found, "the sandbox has ended");
  if (!reply.error) return hand_over(std::move(reply), *living, std::move(*copying.born));
  (void)os::pidfd_kill(copying.born->pidfd.get(), SIGKILL);
  answer(std::move(reply));
}

bool Spawner::is_reviving_enough() const {
  const auto reviving = std::ranges::count_if(copying_, [](const auto& one) { return one.second.born.has_value(); });
  return static_cast<std::size_t>(reviving) >= kRevivalsMax;
}

void Spawner::revive_next() {
  while (!patient_.empty() && !is_reviving_enough()) {
    Expecting next = std::move(patient_.front());
    patient_.pop_front();
    serve(next.request, std::move(next.beside));
  }
}

}  // namespace atl::sandbox::native
