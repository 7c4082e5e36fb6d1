#include "sandbox/container/watch.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

namespace atl::sandbox::container {
namespace {

using Clock = std::chrono::steady_clock;

// An engine walks through all files of a container to say how large they are.
constexpr std::chrono::seconds kMeasureInterval{2};

// Time and output bind single executions and are kept where those are.
Limits sandbox_bounds(Limits limits) {
  limits.wall_time = std::chrono::milliseconds(0);
  limits.cpu_time.reset();
  limits.output_bytes = 0;
  return limits;
}

// What is known of one sandbox between two looks.
struct Looked {
  std::optional<Usage> last;
  Clock::time_point measured_at;
  std::uint64_t oom_kills = 0;
  bool is_measuring = false;
};

boost::asio::awaitable<void> measure(std::shared_ptr<ContainerState> state, std::shared_ptr<Looked> looked) {
  // A failure leaves the numbers of the last time.
  auto measured = co_await state->walls->measure();
  (void)measured;
  looked->measured_at = Clock::now();
  looked->is_measuring = false;
  // Read once more, also if nothing runs by now.
  looked->last.reset();
}

}  // namespace

Watcher::Watcher(boost::asio::any_io_executor executor, MonitorOptions alerts)
    : executor_(executor), alerts_(std::move(alerts)), monitor_(std::move(executor)) {}

void Watcher::add(const std::shared_ptr<ContainerState>& state) {
  if (!alerts_.on_alert) return;
  const std::string id = state->made.spec.id;
  const auto looked = std::make_shared<Looked>();
  looked->oom_kills = state->walls->oom_kills();
  const auto tell_memory = [alerts = alerts_, id](const ContainerState& of) {
    const std::uint64_t limit = of.made.spec.limits.memory_bytes;
    alerts.on_alert({id, {Resource::memory, limit, limit}, 1.0, of.usage()});
  };
  const auto source = [weak = std::weak_ptr(state), looked, tell_memory,
                       executor = executor_]() -> Result<Usage> {
    const auto alive = weak.lock();
    if (!alive || alive->ended) return fail(Code::not_found, "the sandbox has ended");
    if (const std::uint64_t kills = alive->walls->oom_kills();
        kills > std::exchange(looked->oom_kills, kills))
      tell_memory(*alive);
    const bool is_busy = alive->is_executing();
    // While nothing runs nothing changes, and the last look is as good as a new one.
    if (looked->last && !is_busy) return *looked->last;
    if (is_busy && !looked->is_measuring && Clock::now() - looked->measured_at > kMeasureInterval) {
      looked->is_measuring = true;
      boost::asio::co_spawn(executor, measure(alive, looked), boost::asio::detached);
    }
    looked->last = alive->usage();
    return *looked->last;
  };
  // One of the same id was there before, and its end was not seen yet.
  monitor_.stop(id);
  (void)monitor_.start(id, source, sandbox_bounds(state->made.spec.limits), alerts_);
}

}  // namespace atl::sandbox::container
