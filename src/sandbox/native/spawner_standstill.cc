// Sandboxes that are to stand still. What runs inside decides how long that takes, so nobody waits for it:
// the kernel is told, and looked at now and then until it is so or has taken too long.
#include <sys/timerfd.h>

#include <algorithm>
#include <utility>

#include "sandbox/native/process_tree.h"
#include "sandbox/native/spawner_loop.h"

namespace atl::sandbox::native {
namespace {

constexpr std::chrono::seconds kFreezePatience{3};
// Mostly it takes microseconds; on a machine that is busy each process must first get its turn.
constexpr std::chrono::microseconds kPauseMax{50'000};
constexpr std::size_t kAskedMax = 8;

}  // namespace

void Spawner::stand_still(const Request& request) {
  SpawnedSandbox& sandbox = *find(request.name);
  if (request.as<ask::Checkpoint>() != nullptr && (sandbox.frozen || sandbox.freezing))
    return answer_error(request, Error(Code::conflict, "the sandbox is paused"));
  SpawnedSandbox::Freezing::Asked asked{.request = request, .files = {}};
  const auto* const snapshot = request.as<ask::Snapshot>();
  const auto* const checkpoint = request.as<ask::Checkpoint>();
  if (snapshot != nullptr || checkpoint != nullptr) {
    auto files = snapshot_files(sandbox, snapshot != nullptr ? snapshot->directory : checkpoint->directory);
    if (!files) return answer_error(request, std::move(files).error());
    asked.files = std::move(*files);
  }
  if (sandbox.frozen) return go_on_still(sandbox, std::move(asked));
  if (sandbox.freezing && sandbox.freezing->asked.size() >= kAskedMax)
    return answer_error(request, Error(Code::conflict, "the sandbox is being paused already"));
  if (!sandbox.freezing) {
    if (auto begun = begin_standstill(sandbox); !begun)
      return answer_error(request, std::move(begun).error());
  }
  sandbox.freezing->asked.push_back(std::move(asked));
  if (builder_.cgroups().has(Controller::unified) && builder_.cgroups().is_frozen(sandbox.built.parts.group))
    on_still(sandbox);
}

Result<void> Spawner::begin_standstill(SpawnedSandbox& sandbox) {
  if (builder_.cgroups().has(Controller::unified)) {
    TRY(builder_.cgroups().begin_freeze(sandbox.built.parts.group));
  } else {
    // By signals, from a process of its own: it walks the tree until nothing in it moves.
    Copying copying{.verb = Verb::freeze, .name = sandbox.spec.id};
    copying.stops = true;
    const auto stop = [&]() -> Result<AnyAnswer> {
      TRY(stop_tree(builder_.proc(), sandbox.built.pid));
      return AnyAnswer{};
    };
    TRY(copy(std::move(copying), stop));
  }
  sandbox.freezing.emplace().since = Clock::machine().steady();
  if (builder_.cgroups().has(Controller::unified)) {
    freezing_.insert(&sandbox);
    look_again();
  }
  return {};
}

void Spawner::go_on_still(SpawnedSandbox& sandbox, SpawnedSandbox::Freezing::Asked asked) {
  if (const auto* const wanted = asked.request.as<ask::Checkpoint>())
    return checkpoint(sandbox, asked.request, *wanted, std::move(asked.files));
  if (asked.request.as<ask::Snapshot>() != nullptr)
    return take_snapshot(sandbox, asked.request, std::move(asked.files));
  sandbox.paused = true;
  answer_done(asked.request);
}

void Spawner::on_still(SpawnedSandbox& sandbox) {
  freezing_.erase(&sandbox);
  sandbox.frozen = true;
  // Hold it frozen here: the first job may be done before the last one has begun.
  ++sandbox.holds;
  SpawnedSandbox::Freezing freezing = std::move(*std::exchange(sandbox.freezing, std::nullopt));
  for (SpawnedSandbox::Freezing::Asked& asked : freezing.asked) go_on_still(sandbox, std::move(asked));
  release(sandbox);
}

void Spawner::give_up_standstill(SpawnedSandbox& sandbox, const Error& why) {
  freezing_.erase(&sandbox);
  const auto freezing = std::exchange(sandbox.freezing, std::nullopt);
  if (!sandbox.ended) (void)builder_.thaw(sandbox.built);
  if (!freezing) return;
  for (const SpawnedSandbox::Freezing::Asked& asked : freezing->asked) answer_error(asked.request, why);
}

void Spawner::release(SpawnedSandbox& sandbox) {
  if (sandbox.holds > 0) --sandbox.holds;
  if (sandbox.holds > 0 || sandbox.paused || !sandbox.frozen) return;
  (void)builder_.thaw(sandbox.built);
  sandbox.frozen = false;
}

void Spawner::on_standstill_timer() {
  std::uint64_t count = 0;
  (void)!::read(standstill_timer_.get(), &count, sizeof count);
  for (SpawnedSandbox* const sandbox : std::set(freezing_)) {
    if (!freezing_.contains(sandbox)) continue;
    if (builder_.cgroups().is_frozen(sandbox->built.parts.group))
      on_still(*sandbox);
    else if (Clock::machine().steady() - sandbox->freezing->since >= kFreezePatience)
      give_up_standstill(*sandbox,
                         Error(Code::deadline_exceeded, "the sandbox did not come to a standstill"));
    else
      sandbox->freezing->pause = std::min(sandbox->freezing->pause * 2, kPauseMax);
  }
  look_again();
}

void Spawner::look_again() {
  if (freezing_.empty()) return;
  auto pause = kPauseMax;
  for (const SpawnedSandbox* const sandbox : freezing_) pause = std::min(pause, sandbox->freezing->pause);
  itimerspec when{};
  when.it_value.tv_nsec = std::chrono::nanoseconds(pause).count();
  ::timerfd_settime(standstill_timer_.get(), 0, &when, nullptr);
}

}  // namespace atl::sandbox::native
