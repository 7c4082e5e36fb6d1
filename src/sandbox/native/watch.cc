#include "sandbox/native/watch.h"

#include <fmt/format.h>
#include <unistd.h>

namespace atl::sandbox::native {
namespace {

constexpr std::chrono::milliseconds kSumEvery{100};

// Time and output bind single executions and are kept where those are.
Limits of_the_sandbox(Limits limits) {
  limits.wall_time = std::chrono::milliseconds(0);
  limits.cpu_time.reset();
  limits.output_bytes = 0;
  return limits;
}

// While nothing runs nothing changes, and the last look is as good as a new one.
ResourceMonitor::Source source_of(const std::weak_ptr<NativeState>& weak) {
  return [weak, last = std::optional<Usage>()]() mutable -> Result<Usage> {
    const auto state = weak.lock();
    if (!state || state->ended) return fail(Code::not_found, "the sandbox has ended");
    if (!last || state->is_busy()) last = state->usage();
    return *last;
  };
}

void end_over_limit(NativeState& state, const LimitStatus& status) {
  if (status.resource != Resource::memory || state.cgroups->has(Controller::memory)) return;
  state.end_executions(Ending::out_of_memory, fmt::format("memory limit of {} bytes; the host counted {}",
                                                          status.limit, status.used));
}

}  // namespace

void Watcher::add(const std::shared_ptr<NativeState>& state) {
  const bool sums = !state->cgroups->has(Controller::memory);
  if (!alerts_.on_alert && !sums) return;
  const std::weak_ptr<NativeState> weak = state;
  MonitorOptions options = alerts_;
  if (sums) options.interval = std::min(options.interval, kSumEvery);
  // Over the limit is what the enforcer ends for, whatever the caller wants to hear of.
  if (sums) options.thresholds.push_back(1.0);
  const auto end = [weak](const LimitStatus& status) {
    if (const auto alive = weak.lock()) end_over_limit(*alive, status);
  };
  auto watched = std::make_shared<Watched>();
  watched->enforcer = std::make_unique<LimitEnforcer>(
      monitor_, state->name, source_of(weak), of_the_sandbox(state->spawned.spec.limits), end, options);
  watched_[state->name] = watched;
  if (!alerts_.on_alert) return;
  watch_levels(watched, *state);
  os::Fd event = state->cgroups->watch_memory(state->spawned.group);
  if (!event.is_open()) return;
  watched->oom_kills = state->cgroups->oom_kills(state->spawned.group);
  watched->memory = std::make_unique<boost::asio::posix::stream_descriptor>(executor_, event.release());
  listen(watched, weak);
}

void Watcher::remove(const std::string& name) {
  watched_.erase(name);
}

void Watcher::listen(const std::shared_ptr<Watched>& watched, const std::weak_ptr<NativeState>& state) {
  using boost::asio::posix::stream_descriptor;
  const auto now = state.lock();
  if (!now) return;
  // Version 1 has an eventfd to read, version 2 a file whose change is an exceptional condition.
  const bool v2 = now->cgroups->is_v2(Controller::memory);
  watched->memory->async_wait(v2 ? stream_descriptor::wait_error : stream_descriptor::wait_read,
                              [this, weak = std::weak_ptr(watched), state](boost::system::error_code error) {
                                const auto self = weak.lock();
                                const auto alive = state.lock();
                                if (error || !self || !alive || alive->ended) return;
                                tell_memory(*self, *alive);
                                listen(self, state);
                              });
}

void Watcher::watch_levels(const std::shared_ptr<Watched>& watched, const NativeState& state) {
  std::vector<std::uint64_t> levels;
  for (const double threshold : alerts_.thresholds)
    if (threshold < 1)
      levels.push_back(static_cast<std::uint64_t>(
          threshold * static_cast<double>(state.spawned.spec.limits.memory_bytes)));
  os::Fd event = state.cgroups->watch_memory_levels(state.spawned.group, levels);
  if (!event.is_open()) return;
  watched->levels = std::make_unique<boost::asio::posix::stream_descriptor>(executor_, event.release());
  listen_levels(watched, state.name);
}

void Watcher::listen_levels(const std::shared_ptr<Watched>& watched, const std::string& name) {
  watched->levels->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                              [this, weak = std::weak_ptr(watched), name](boost::system::error_code error) {
                                const auto self = weak.lock();
                                if (error || !self) return;
                                std::uint64_t count = 0;
                                (void)!::read(self->levels->native_handle(), &count, sizeof count);
                                monitor_.look(name);
                                listen_levels(self, name);
                              });
}

void Watcher::tell_memory(Watched& watched, const NativeState& state) {
  // Read so that the next change is news: the eventfd from where it is, the file from its beginning.
  char bytes[4096];
  const int fd = watched.memory->native_handle();
  if (::pread(fd, bytes, sizeof bytes, 0) < 0) (void)!::read(fd, bytes, sizeof(std::uint64_t));
  // Version 1 speaks when the limit is reached, before anything is killed; version 2 of other things as well.
  const std::uint64_t kills = state.cgroups->oom_kills(state.spawned.group);
  const bool more = kills > std::exchange(watched.oom_kills, kills);
  if (!more && state.cgroups->is_v2(Controller::memory)) return;
  const std::uint64_t limit = state.spawned.spec.limits.memory_bytes;
  alerts_.on_alert({state.name, {Resource::memory, limit, limit}, 1.0, state.usage()});
}

}  // namespace atl::sandbox::native
