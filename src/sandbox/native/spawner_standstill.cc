#include "sandbox/native/spawner_standstill.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sandbox/native/process_tree.h"

namespace atl::sandbox::native {
namespace {

constexpr std::chrono::seconds kFreezePatience{3};
// Mostly it takes microseconds; on a machine that is busy each process must first get its turn.
constexpr std::chrono::microseconds kPauseMax{50'000};
constexpr std::size_t kAskedMax = 8;

}  // namespace

SpawnerStandstill::SpawnerStandstill(SandboxBuilder& builder, SpawnerEvents& events,
                                     SpawnerChildren& children, SpawnerConnection& connection, GoesOn goes_on)
    : builder_(builder),
      events_(events),
      children_(children),
      connection_(connection),
      goes_on_(std::move(goes_on)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {}

void SpawnerStandstill::begin() {
  events_.watch(timer_.get(), Source::standstill);
}

void SpawnerStandstill::ask(SpawnedSandbox& sandbox, Asked asked) {
  if (sandbox.frozen) return goes_on_(sandbox, std::move(asked));
  if (sandbox.freezing && sandbox.freezing->asked.size() >= kAskedMax)
    return connection_.answer_error(asked.request,
                                    Error(Code::conflict, "the sandbox is being paused already"));
  if (!sandbox.freezing) {
    if (auto begun = begin_to_stop(sandbox); !begun)
      return connection_.answer_error(asked.request, std::move(begun).error());
  }
  sandbox.freezing->asked.push_back(std::move(asked));
  // Mostly the freezer is done before anybody looks: then no timer is waited for.
  if (builder_.cgroups().has(Controller::unified) && builder_.cgroups().is_frozen(sandbox.built.parts.group))
    on_still(sandbox);
}

Result<void> SpawnerStandstill::begin_to_stop(SpawnedSandbox& sandbox) {
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
    TRY(children_.run(std::move(copying), stop));
  }
  sandbox.freezing.emplace().since = Clock::machine().steady();
  if (builder_.cgroups().has(Controller::unified)) {
    freezing_.insert(&sandbox);
    look_again();
  }
  return {};
}

void SpawnerStandstill::on_stopped(SpawnedSandbox& sandbox, const std::optional<Error>& failed) {
  // Resumed meanwhile: those who asked have their answers.
  if (!sandbox.freezing) return;
  return failed ? give_up(sandbox, *failed) : on_still(sandbox);
}

void SpawnerStandstill::on_still(SpawnedSandbox& sandbox) {
  freezing_.erase(&sandbox);
  sandbox.frozen = true;
  // Hold it frozen here: the first job may be done before the last one has begun.
  hold(sandbox);
  SpawnedSandbox::Freezing freezing = std::move(*std::exchange(sandbox.freezing, std::nullopt));
  for (Asked& asked : freezing.asked) goes_on_(sandbox, std::move(asked));
  release(sandbox);
}

void SpawnerStandstill::give_up(SpawnedSandbox& sandbox, const Error& why) {
  freezing_.erase(&sandbox);
  const auto freezing = std::exchange(sandbox.freezing, std::nullopt);
  if (!sandbox.ended) (void)builder_.thaw(sandbox.built);
  if (!freezing) return;
  for (const Asked& asked : freezing->asked) connection_.answer_error(asked.request, why);
}

void SpawnerStandstill::release(SpawnedSandbox& sandbox) {
  if (sandbox.holds > 0) --sandbox.holds;
  if (sandbox.holds > 0 || sandbox.paused || !sandbox.frozen) return;
  (void)builder_.thaw(sandbox.built);
  sandbox.frozen = false;
}

Result<void> SpawnerStandstill::resume(SpawnedSandbox& sandbox) {
  sandbox.paused = false;
  if (sandbox.freezing)
    give_up(sandbox, Error(Code::conflict, "the sandbox was resumed before it stood still"));
  if (sandbox.holds > 0) return {};
  TRY(builder_.thaw(sandbox.built));
  sandbox.frozen = false;
  return {};
}

void SpawnerStandstill::on_timer() {
  std::uint64_t count = 0;
  (void)!::read(timer_.get(), &count, sizeof count);
  // A copy: what goes on may freeze others, and one that ends takes itself out.
  for (SpawnedSandbox* const sandbox : std::set(freezing_)) {
    if (!freezing_.contains(sandbox)) continue;
    if (builder_.cgroups().is_frozen(sandbox->built.parts.group))
      on_still(*sandbox);
    else if (Clock::machine().steady() - sandbox->freezing->since >= kFreezePatience)
      give_up(*sandbox, Error(Code::deadline_exceeded, "the sandbox did not come to a standstill"));
    else
      sandbox->freezing->pause = std::min(sandbox->freezing->pause * 2, kPauseMax);
  }
  look_again();
}

void SpawnerStandstill::look_again() {
  if (freezing_.empty()) return;
  auto pause = kPauseMax;
  for (const SpawnedSandbox* const sandbox : freezing_) pause = std::min(pause, sandbox->freezing->pause);
  itimerspec when{};
  when.it_value.tv_nsec = std::chrono::nanoseconds(pause).count();
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

}  // namespace atl::sandbox::native
