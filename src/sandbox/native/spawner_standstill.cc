// Sandboxes that are to stand still. What runs inside decides how long that takes, so nobody waits for it:
// the kernel is told, and looked at now and then until it is so or has taken too long.
#include <sys/timerfd.h>

#include <algorithm>
#include <utility>

#include "sandbox/native/process_tree.h"
#include "sandbox/native/spawner_loop.h"

namespace atl::sandbox::native {
namespace {

constexpr std::chrono::seconds kPatience{3};
// Mostly it takes microseconds; on a machine that is busy each process must first get its turn.
constexpr std::chrono::microseconds kPauseMax{50'000};
constexpr std::size_t kAskedMax = 8;

}  // namespace

void Spawner::stand_still(const Request& request) {
  Living& living = *find(request.name);
  if (request.verb == Verb::capture && (living.frozen || living.freezing))
    return answer_error(request, Error(Code::conflict, "the sandbox is paused"));
  Living::Freezing::Asked asked{.request = request, .files = {}};
  if (request.verb != Verb::freeze) {
    auto files = snapshot_files(living, request.text);
    if (!files) return answer_error(request, std::move(files).error());
    asked.files = std::move(*files);
  }
  if (living.frozen) return go_on_still(living, std::move(asked));
  if (living.freezing && living.freezing->asked.size() >= kAskedMax)
    return answer_error(request, Error(Code::conflict, "the sandbox is being paused already"));
  if (!living.freezing) {
    if (auto begun = begin_standstill(living); !begun) return answer_error(request, std::move(begun).error());
  }
  living.freezing->asked.push_back(std::move(asked));
  if (shop_.cgroups().has(Controller::unified) && shop_.cgroups().is_frozen(living.built.parts.group))
    on_still(living);
}

Result<void> Spawner::begin_standstill(Living& living) {
  if (shop_.cgroups().has(Controller::unified)) {
    TRY(shop_.cgroups().begin_freeze(living.built.parts.group));
  } else {
    // By signals, from a process of its own: it walks the tree until nothing in it moves.
    Copying copying{.verb = Verb::freeze, .name = living.spec.id};
    copying.stops = true;
    const auto stop = [&]() -> Result<Reply> {
      TRY(stop_tree(shop_.proc(), living.built.pid));
      return Reply{};
    };
    TRY(copy(std::move(copying), stop));
  }
  living.freezing.emplace().since = Clock::machine().steady();
  if (shop_.cgroups().has(Controller::unified)) {
    freezing_.insert(&living);
    look_again();
  }
  return {};
}

void Spawner::go_on_still(Living& living, Living::Freezing::Asked asked) {
  switch (asked.request.verb) {
    case Verb::freeze:
      living.paused = true;
      return answer_done(asked.request);
    case Verb::snapshot:
      return take_snapshot(living, asked.request, std::move(asked.files));
    default:
      return capture(living, asked.request, std::move(asked.files));
  }
}

void Spawner::on_still(Living& living) {
  freezing_.erase(&living);
  living.frozen = true;
  // Held while the first of them may be over before the last has begun.
  ++living.holds;
  Living::Freezing freezing = std::move(*std::exchange(living.freezing, std::nullopt));
  for (Living::Freezing::Asked& asked : freezing.asked) go_on_still(living, std::move(asked));
  release(living);
}

void Spawner::give_up_standstill(Living& living, const Error& why) {
  freezing_.erase(&living);
  const auto freezing = std::exchange(living.freezing, std::nullopt);
  if (!living.ended) (void)shop_.thaw(living.built);
  if (!freezing) return;
  for (const Living::Freezing::Asked& asked : freezing->asked) answer_error(asked.request, why);
}

void Spawner::release(Living& living) {
  if (living.holds > 0) --living.holds;
  if (living.holds > 0 || living.paused || !living.frozen) return;
  (void)shop_.thaw(living.built);
  living.frozen = false;
}

void Spawner::on_standstill_timer() {
  std::uint64_t count = 0;
  (void)!::read(standstill_timer_.get(), &count, sizeof count);
  for (Living* const living : std::set(freezing_)) {
    if (!freezing_.contains(living)) continue;
    if (shop_.cgroups().is_frozen(living->built.parts.group))
      on_still(*living);
    else if (Clock::machine().steady() - living->freezing->since >= kPatience)
      give_up_standstill(*living, Error(Code::deadline_exceeded, "the sandbox did not come to a standstill"));
    else
      living->freezing->pause = std::min(living->freezing->pause * 2, kPauseMax);
  }
  look_again();
}

void Spawner::look_again() {
  if (freezing_.empty()) return;
  auto pause = kPauseMax;
  for (const Living* const living : freezing_) pause = std::min(pause, living->freezing->pause);
  itimerspec when{};
  when.it_value.tv_nsec = std::chrono::nanoseconds(pause).count();
  ::timerfd_settime(standstill_timer_.get(), 0, &when, nullptr);
}

}  // namespace atl::sandbox::native
