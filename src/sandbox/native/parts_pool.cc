#include "sandbox/native/parts_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <utility>

#include "os/file.h"
#include "os/process.h"

namespace atl::sandbox::native {
namespace {

constexpr std::chrono::milliseconds kAgain{5};
// A group whose tasks do not die is tried for ever; the request that waits for it is answered after this many
// attempts.
constexpr int kLeavingAttempts = 400;
// Each is some hundred KiB of the kernel's memory.
constexpr std::size_t kNetworksKept = 32;

}  // namespace

PartsPool::PartsPool(const Setting& setting)
    : setting_(setting), finished_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { work(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::unique_lock lock(lock_);
  changed_.wait(lock, [&] { return working_; });
  // What was said of the worker is as true of this thread: a sanitizer's own thread shares with it too.
  (void)::unshare(CLONE_FS);
}

PartsPool::~PartsPool() {
  close();
}

void PartsPool::work() {
  // Its own working directory and root: while they are shared, nobody here can enter a mount namespace.
  (void)::unshare(CLONE_FS);
  std::unique_lock lock(lock_);
  working_ = true;
  changed_.notify_all();
  lock.unlock();
  learn_network();
  lock.lock();
  while (!closing_ || !leaving_.empty()) {
    if (!leaving_.empty()) {
      retire(lock);
      continue;
    }
    if (ready_.size() < setting_.ready && !exhausted_ && !closing_) {
      lock.unlock();
      auto parts = make();
      lock.lock();
      exhausted_ = !parts;
      if (parts && closing_)
        leaving_.push_back({std::move(*parts)});
      else if (parts)
        ready_.push_back(std::move(*parts));
      continue;
    }
    changed_.wait(lock);
  }
}

void PartsPool::retire(std::unique_lock<std::mutex>& lock) {
  Leaving leaving = std::move(leaving_.front());
  leaving_.pop_front();
  const bool room = slots_.size() < kNetworksKept;
  lock.unlock();
  const bool gone = take_apart(leaving);
  lock.lock();
  const bool over = gone || ++leaving.attempts == kLeavingAttempts;
  if (over && leaving.ticket != 0) finish(leaving.ticket);
  if (gone) {
    // The request that waited for its end has been answered.
    lock.unlock();
    leaving.behind.reset();
    os::Fd& network = leaving.parts.slot.network_namespace;
    if (!room || !is_untouched(network)) network.reset();
    lock.lock();
    // It may have had ids of its own (SandboxBuilder::map_layers).
    Slot& slot = leaving.parts.slot;
    if (setting_.privileges->rootless && slot.ids != rootless_ids(*setting_.privileges))
      slot.ids = rootless_ids(*setting_.privileges), slot.user_namespace.reset();
    slots_.push_back(std::move(slot));
  } else if (!closing_ || leaving.attempts < kLeavingAttempts) {
    leaving_.push_back(std::move(leaving));
    changed_.wait_for(lock, kAgain);
  }
}

Result<Parts> PartsPool::take(const Limits& limits) {
  std::optional<Parts> parts;
  {
    const std::lock_guard lock(lock_);
    exhausted_ = false;
    usual_ = limits;
    // Anything may remove an empty group: a tool that tidies up the machine, or another service that took us
    // for dead. Parts that lost their group get a new one.
    while (!parts && !ready_.empty()) {
      Parts next = std::move(ready_.front());
      ready_.pop_front();
      if (setting_.cgroups->exists(next.group))
        parts = std::move(next);
      else
        slots_.push_back(std::move(next.slot));
      changed_.notify_one();
    }
  }
  if (!parts) return make();
  if (parts->limits == limits) return std::move(*parts);
  if (auto done = limit(*parts, limits); !done) {
    give_back(std::move(*parts), 0);
    return fail(std::move(done).error());
  }
  return std::move(*parts);
}

Result<void> PartsPool::limit(Parts& parts, const Limits& limits) {
  parts.limit_walls.clear();
  parts.limits = limits;
  return setting_.cgroups->apply(parts.group, limits, parts.limit_walls);
}

// The group goes at once, here: on the other thread, the answer would wait for two changes of threads more.
// Where many end, the thread has it all to do, because the caller has others to serve. The rest is the
// thread's in any case.
bool PartsPool::give_back(Parts parts, std::uint64_t ticket, os::Fd behind) {
  std::unique_lock lock(lock_);
  bool gone = false;
  if (leaving_.empty()) {
    lock.unlock();
    gone = setting_.cgroups->remove_group(parts.group).has_value();
    lock.lock();
  }
  if (gone) parts.group.clear();
  leaving_.push_back({std::move(parts), gone ? 0 : ticket, 0, std::move(behind)});
  changed_.notify_one();
  return gone;
}

std::vector<std::uint64_t> PartsPool::finished() {
  std::uint64_t count = 0;
  (void)!::read(finished_event_.get(), &count, sizeof count);
  const std::lock_guard lock(lock_);
  return std::exchange(finished_, {});
}

void PartsPool::finish(std::uint64_t ticket) {
  finished_.push_back(ticket);
  const std::uint64_t one = 1;
  (void)!::write(finished_event_.get(), &one, sizeof one);
}

void PartsPool::close() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(lock_);
    closing_ = true;
    for (Parts& parts : std::exchange(ready_, {})) leaving_.push_back({std::move(parts)});
    changed_.notify_one();
  }
  thread_.join();
}

Result<Slot> PartsPool::take_slot() {
  const std::lock_guard lock(lock_);
  if (!slots_.empty()) {
    Slot slot = std::move(slots_.back());
    slots_.pop_back();
    return slot;
  }
  Slot slot;
  if (setting_.privileges->rootless)
    slot.ids = rootless_ids(*setting_.privileges);
  else
    slot.ids.first = TRY(ids_.take());
  return slot;
}

// An ordinary user could not come back from another network.
void PartsPool::learn_network() {
  if (setting_.privileges->rootless) return;
  auto own = os::open_at(setting_.proc, "thread-self/ns/net", O_RDONLY);
  const auto fresh = make_network_namespace(setting_.proc);
  if (!own || !fresh || !os::enter_namespace(fresh->get(), CLONE_NEWNET)) return;
  std::string seen = network_traces(setting_.proc);
  if (!os::enter_namespace(own->get(), CLONE_NEWNET) || seen.empty()) return;
  own_network_ = std::move(*own);
  pristine_ = std::move(seen);
}

// Nothing inside can change the namespace's settings; what was sent, refused or left behind shows in these
// counters and lists.
bool PartsPool::is_untouched(const os::Fd& network) const {
  if (!own_network_.is_open() || !network.is_open() || !os::enter_namespace(network.get(), CLONE_NEWNET))
    return false;
  const bool same = network_traces(setting_.proc) == pristine_;
  return os::enter_namespace(own_network_.get(), CLONE_NEWNET).has_value() && same;
}

Result<Parts> PartsPool::make() {
  Parts parts;
  parts.slot = TRY(take_slot());
  if (auto made = complete(parts); !made) {
    if (!parts.group.empty()) (void)setting_.cgroups->remove_group(parts.group);
    const std::lock_guard lock(lock_);
    slots_.push_back(std::move(parts.slot));
    return fail(std::move(made).error());
  }
  return parts;
}

Result<void> PartsPool::complete(Parts& parts) {
  if (!parts.slot.user_namespace.is_open()) {
    const std::lock_guard lock(users_);
    parts.slot.user_namespace =
        TRY(setting_.privileges->rootless ? make_user_namespace(setting_.proc, parts.slot.ids)
                                          : make_counted_namespace(setting_.proc, parts.slot.ids));
  }
  if (!parts.slot.network_namespace.is_open())
    parts.slot.network_namespace = TRY(make_network_namespace(setting_.proc));
  Limits limits;
  {
    const std::lock_guard lock(lock_);
    parts.group = fmt::format("s{}", serial_++);
    limits = usual_;
  }
  TRY(setting_.cgroups->make_group(parts.group));
  return limit(parts, limits);
}

bool PartsPool::take_apart(Leaving& leaving) {
  if (leaving.parts.group.empty()) return true;
  if (leaving.attempts > 0) setting_.cgroups->kill(leaving.parts.group);
  return setting_.cgroups->remove_group(leaving.parts.group).has_value();
}

}  // namespace atl::sandbox::native
