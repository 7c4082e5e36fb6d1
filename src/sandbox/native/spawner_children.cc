#include "sandbox/native/spawner_children.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "os/fork.h"
#include "os/message.h"
#include "os/process.h"

namespace atl::sandbox::native {

Result<void> SpawnerChildren::run(Copying copying, const std::function<Result<AnyAnswer>()>& work) {
  if (is_full())
    return fail(Code::resource_exhausted,
                "too many snapshots are being written or removed at once: try again");
  os::SocketPair report = TRY(os::socket_pair(os::SocketKind::packets));
  copying.report = std::move(report.first);
  const os::Fd theirs = std::move(report.second);
  const pid_t child = os::fork_alone();
  if (child < 0) return fail(errno_error(errno, "fork what writes or removes a snapshot"));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The spawner's priority is for answering; what a disk takes must not hold up the machine.
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
  add(std::move(copying));
  return {};
}

template <class Job>
Result<void> SpawnerChildren::give_to_copier(Copying copying, const Job& job) {
  if (is_full())
    return fail(Code::resource_exhausted, "too many sandboxes are being copied at once: try again");
  Copier copier;
  while (!copier.socket.is_open()) {
    const bool waits = !copiers_.empty();
    copier = waits ? std::move(copiers_.back()) : TRY(make_copier());
    if (waits) copiers_.pop_back();
    auto given = native::give(copier, job);
    if (given) break;
    // The copier ended while it waited for a job.
    reap(std::move(copier.pidfd));
    copier.socket.reset();
    if (!waits) return given;
  }
  copying.pidfd = std::move(copier.pidfd), copying.report = std::move(copier.socket),
  copying.by_copier = true;
  add(std::move(copying));
  return {};
}

Result<void> SpawnerChildren::give(Copying copying, const CheckpointJob& job) {
  return give_to_copier(std::move(copying), job);
}

Result<void> SpawnerChildren::give(Copying copying, const ReviveJob& job) {
  return give_to_copier(std::move(copying), job);
}

void SpawnerChildren::add(Copying copying) {
  const int key = copying.report.get();
  events_.watch(key, Source::copying);
  copying_.emplace(key, std::move(copying));
}

const Copying* SpawnerChildren::find(int report) const {
  const auto found = copying_.find(report);
  return found == copying_.end() ? nullptr : &found->second;
}

Copying SpawnerChildren::finish(int report, bool has_reported) {
  Copying copying = std::move(copying_.extract(report).mapped());
  // Children that were made meanwhile have it open too: closing it would not end the events.
  events_.forget(report);
  if (has_reported && copying.by_copier && copiers_.size() < kRevivalsMax)
    copiers_.push_back({std::move(copying.pidfd), std::move(copying.report)});
  else
    reap(std::move(copying.pidfd));
  return copying;
}

Result<Copier> SpawnerChildren::make_copier() {
  const Urgency urgency = builder_.realtime() ? Urgency::realtime : Urgency::none;
  return start_copier(builder_.proc(), urgency, [&] { return builder_.enter_host(); });
}

void SpawnerChildren::ensure_copier() {
  if (!copiers_.empty()) return;
  if (auto copier = make_copier()) copiers_.push_back(std::move(*copier));
}

// The end of a child takes the kernel a moment after its report, and the loop must not wait for it.
void SpawnerChildren::reap(os::Fd pidfd) {
  const int key = pidfd.get();
  events_.watch(key, Source::reaping);
  reaping_.emplace(key, std::move(pidfd));
}

void SpawnerChildren::on_reaped(int pidfd) {
  (void)os::pidfd_wait(pidfd);
  events_.forget(pidfd);
  reaping_.erase(pidfd);
}

void SpawnerChildren::end_copiers() {
  for (Copier& copier : std::exchange(copiers_, {})) {
    copier.socket.reset();
    (void)os::pidfd_kill(copier.pidfd.get(), SIGKILL);
    (void)os::pidfd_wait(copier.pidfd.get());
  }
}

void SpawnerChildren::rename(const std::string& from, const std::string& to) {
  for (auto& [report, copying] : copying_)
    if (copying.name == from) copying.name = to;
}

bool SpawnerChildren::is_reviving_enough() const {
  const auto reviving =
      std::ranges::count_if(copying_, [](const auto& one) { return one.second.forked.has_value(); });
  return static_cast<std::size_t>(reviving) >= kRevivalsMax;
}

bool SpawnerChildren::is_opening_volume(const std::string& directory) const {
  return std::ranges::any_of(copying_, [&](const auto& one) {
    return one.second.verb == Verb::open_volume && one.second.target == directory;
  });
}

}  // namespace atl::sandbox::native
