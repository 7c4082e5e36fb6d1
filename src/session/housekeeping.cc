#include "session/housekeeping.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>

#include "session/subject.h"

namespace atl::session {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::seconds kSaveEvery{10};
constexpr std::chrono::seconds kUsageEvery{1};
constexpr std::chrono::minutes kCleanUpEvery{10};
// An artifact is written before the row that names it: one that is so young may be about to be named.
constexpr std::chrono::seconds kArtifactsSpared{10};

// Half of the shortest time for which anything is kept, between one second and ten minutes.
std::chrono::milliseconds clean_up_interval(const ServiceOptions& options) {
  std::chrono::milliseconds every = kCleanUpEvery;
  for (const auto& age : {options.keep_ended, options.keep_records, options.keeping.snapshots})
    if (age.count() > 0) every = std::min(every, age / 2);
  return std::max<std::chrono::milliseconds>(every, std::chrono::seconds(1));
}

}  // namespace

Housekeeping::Housekeeping(Dependencies dependencies, const ServiceOptions& options)
    : dependencies_(std::move(dependencies)),
      options_(options),
      timer_(dependencies_.executor),
      background_(
          {.executor = dependencies_.executor,
           .controller = dependencies_.controller,
           .store = dependencies_.store,
           .clock = dependencies_.clock,
           .put_aside = [this](LivePtr live,
                               std::string reason) { return put_aside(std::move(live), std::move(reason)); },
           .end = [this](LivePtr live,
                         std::string reason) { return end(std::move(live), std::move(reason)); }},
          options.sample_every) {}

template <class Coroutine>
void Housekeeping::spawn(Coroutine coroutine) {
  boost::asio::co_spawn(dependencies_.executor, std::move(coroutine), boost::asio::detached);
}

void Housekeeping::start() {
  started_wall_ = dependencies_.clock->now();
  started_steady_ = dependencies_.clock->steady();
  // How far apart the two clocks are. The difference changes only when the wall clock is set.
  wall_ahead_ = started_wall_.time_since_epoch() - started_steady_.time_since_epoch();
  next_clean_up_ = started_steady_;
  spawn(run());
}

boost::asio::awaitable<void> Housekeeping::run() {
  while (!dependencies_.table->is_ending()) {
    timer_.expires_after(kTick);
    boost::system::error_code stopped;
    co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, stopped));
    if (dependencies_.table->is_ending()) co_return;
    follow_wall_clock();
    // Sessions are looked at without waiting, so that the list cannot change meanwhile; writing comes
    // afterwards.
    std::vector<LivePtr> due = look_at_sessions();
    co_await write(std::move(due));
    if (next_usage_ <= dependencies_.clock->steady()) {
      next_usage_ = dependencies_.clock->steady() + kUsageEvery;
      spawn(background_.save());
    }
    if (is_clean_up_due()) {
      if (dependencies_.blobs != nullptr) dependencies_.blobs->forget_bytes();
      next_clean_up_ = dependencies_.clock->steady() + clean_up_interval(options_);
      spawn(clean_up());
    }
  }
}

void Housekeeping::follow_wall_clock() {
  constexpr std::chrono::milliseconds kJump{500};  // less is the machine's own correction
  const Duration ahead =
      dependencies_.clock->now().time_since_epoch() - dependencies_.clock->steady().time_since_epoch();
  if (std::chrono::abs(ahead - wall_ahead_) < kJump) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ahead - wall_ahead_).count();
  log::info("the wall clock was set", {{"seconds", std::to_string(seconds)}});
  wall_ahead_ = ahead;
  for (const LivePtr& live : dependencies_.table->all()) live->follow_wall_clock();
}

std::vector<LivePtr> Housekeeping::look_at_sessions() {
  std::vector<LivePtr> due;
  // A copy: a coroutine that is spawned here runs at once and may take its session out of the table.
  for (const LivePtr& live : dependencies_.table->copy_all()) {
    if (live->take_due_for_disk()) spawn(dependencies_.pauses->move_to_disk(live));
    if (dependencies_.pauses->is_kept_too_long(*live)) spawn(dependencies_.pauses->end_old(live));
    // Its end could not be stored before.
    if (is_final(live->state()) && live->is_save_due(kSaveEvery)) due.push_back(live);
    if (live->state() != State::running) continue;
    if (live->is_expired()) {
      spawn(expire(live, "its time to live ended"));
      continue;
    }
    if (live->is_idle(options_.idle_after)) {
      spawn(expire(live, "it was idle"));
      continue;
    }
    background_.look(live);
    if (live->take_sample_due(options_.sample_every)) spawn(take_sample(live));
    if (live->is_save_due(kSaveEvery)) due.push_back(live);
  }
  return due;
}

// One after the other: a store that is slow is not asked for everything at once.
boost::asio::awaitable<void> Housekeeping::write(std::vector<LivePtr> due) {
  for (const LivePtr& live : due) {
    if (is_final(live->state())) {
      auto stored = co_await dependencies_.table->store_end(live);
      continue;
    }
    if (auto saved = co_await dependencies_.table->save(live); !saved)
      log::warn(subject_of(*live), "a session could not be stored", {{"error", saved.error().message()}});
  }
}

boost::asio::awaitable<void> Housekeeping::expire(LivePtr live, std::string reason) {
  auto hold = co_await live->take_turn();
  // Somebody was first: ended it, paused it, used it or gave it more time while this waited.
  if (!hold || live->state() != State::running) co_return;
  if (!live->is_expired() && !live->is_idle(options_.idle_after)) co_return;
  if (live->facts().on_expiry == OnExpiry::pause) co_return co_await put_aside_held(live, std::move(reason));
  co_await dependencies_.lifecycle->stop_or_log(live, State::stopped, std::move(reason));
}

boost::asio::awaitable<void> Housekeeping::put_aside(LivePtr live, std::string reason) {
  auto hold = co_await live->take_turn();
  if (hold && live->state() == State::running) co_await put_aside_held(live, std::move(reason));
}

boost::asio::awaitable<void> Housekeeping::end(LivePtr live, std::string reason) {
  auto hold = co_await live->take_turn();
  if (hold && live->state() == State::running)
    co_await dependencies_.lifecycle->stop_or_log(live, State::stopped, std::move(reason));
}

boost::asio::awaitable<void> Housekeeping::put_aside_held(LivePtr live, std::string reason) {
  if (live->traits().pause) {
    const During pausing = live->mark_pausing();
    auto paused = co_await dependencies_.lifecycle->pause_sandbox(live);
    if (paused) {
      dependencies_.table->enter(live, State::paused, reason);
      auto saved = co_await dependencies_.table->save(live);
      co_return;
    }
    log::warn(subject_of(*live), "a session could not be paused and ends instead",
              {{"error", paused.error().message()}});
  }
  co_await dependencies_.lifecycle->stop_or_log(live, State::stopped, std::move(reason));
}

boost::asio::awaitable<void> Housekeeping::take_sample(LivePtr live) {
  const std::shared_ptr<sandbox::Sandbox> sandbox = live->sandbox();
  if (!sandbox) co_return;
  const auto usage = co_await sandbox->usage();
  if (!usage) co_return;
  live->samples().add(dependencies_.clock->now(), *usage);
  if (dependencies_.observer != nullptr) dependencies_.observer->sampled(live->facts(), *usage);
}

// Early, too, if so many artifacts came since the last time that they may be more than are kept.
bool Housekeeping::is_clean_up_due() const {
  const bool is_much = dependencies_.blobs != nullptr && options_.keeping.artifact_bytes > 0 &&
                       dependencies_.blobs->bytes_since() > options_.keeping.artifact_bytes / 8;
  return is_much || next_clean_up_ <= dependencies_.clock->steady();
}

boost::asio::awaitable<void> Housekeeping::clean_up() {
  // A wall clock that was set ahead does not make anything old.
  const Duration passed = dependencies_.clock->steady() - started_steady_;
  const WallTime now = std::min(dependencies_.clock->now(), started_wall_ + passed);
  const auto removed = co_await remove_old_rows(now);
  if (!removed) {
    log::warn("retention could not be applied", {{"error", removed.error().message()}});
    co_return;
  }
  const bool trimmed = co_await trim_artifacts();
  // An artifact that is too young to go now goes in one of the next rounds.
  if (*removed || trimmed) artifacts_due_until_ = dependencies_.clock->steady() + std::chrono::minutes(20);
  if (dependencies_.blobs != nullptr && dependencies_.clock->steady() < artifacts_due_until_)
    co_await collect_artifacts();
  if (dependencies_.states->is_enabled()) co_await collect_states();
}

Task<bool> Housekeeping::remove_old_rows(WallTime now) {
  store::Store& store = *dependencies_.store;
  CO_TRY(const auto sessions, co_await store.remove_sessions_ended_before(now - options_.keep_ended));
  CO_TRY(const auto records,
         co_await store.remove_records(now - options_.keep_records, options_.record_bytes_max));
  if (sessions > 0) {
    std::string kind(kNetworkLogKind);
    auto logs = co_await store.remove_documents_before(std::move(kind), now - options_.keep_ended);
    if (!logs) log::warn("retention could not be applied", {{"error", logs.error().message()}});
  }
  co_return sessions > 0 || records > 0;
}

boost::asio::awaitable<bool> Housekeeping::trim_artifacts() {
  if (options_.keeping.artifact_bytes == 0) co_return false;
  const auto bytes = static_cast<std::int64_t>(options_.keeping.artifact_bytes);
  auto trimmed = co_await dependencies_.store->trim_artifacts(bytes);
  if (!trimmed) log::warn("artifacts could not be trimmed", {{"error", trimmed.error().message()}});
  co_return trimmed.value_or(0) > 0;
}

boost::asio::awaitable<void> Housekeeping::collect_artifacts() {
  auto digests = co_await dependencies_.store->artifact_digests();
  if (!digests) co_return;
  auto removed = co_await dependencies_.blobs->collect_garbage(std::move(*digests), kArtifactsSpared);
  if (!removed) log::warn("artifacts could not be removed", {{"error", removed.error().message()}});
}

boost::asio::awaitable<void> Housekeeping::collect_states() {
  if (auto removed = co_await dependencies_.snapshots->remove_old(); !removed)
    log::warn("old snapshots could not be removed", {{"error", removed.error().message()}});
  // If it is not known what must stay, nothing may go.
  auto ids = co_await dependencies_.snapshots->ids();
  if (!ids) co_return;
  std::set<std::string> known(ids->begin(), ids->end());
  for (const LivePtr& live : dependencies_.table->all())
    known.insert(live->facts().snapshot), known.insert(live->facts().hibernation);
  auto swept = co_await dependencies_.states->sweep(std::move(known));
}

}  // namespace atl::session
