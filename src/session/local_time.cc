// What happens by itself: starting up after whatever was, time to live, samples, retention.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <set>

#include "base/log.h"
#include "session/codec.h"
#include "session/local_service.h"
#include "session/network.h"
#include "store/offload.h"

namespace atl::session {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::seconds kSaveEvery{10};
constexpr std::chrono::minutes kCleanUpEvery{10};
constexpr std::chrono::seconds kBlobsSpared{10};
constexpr std::size_t kSamplesMax = 720;  // an hour at 5 s

// Twice in the shortest time for which anything is kept, within reason.
std::chrono::milliseconds clean_up_interval(const ServiceOptions& options) {
  std::chrono::milliseconds every = kCleanUpEvery;
  for (const auto& age : {options.keep_ended, options.keep_records, options.keeping.snapshots})
    if (age.count() > 0) every = std::min(every, age / 2);
  return std::max<std::chrono::milliseconds>(every, std::chrono::seconds(1));
}

}  // namespace

Task<void> LocalService::start() {
  if (!options_.snapshot_directory.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(options_.snapshot_directory, failed);
    if (failed) co_return fail(errno_error(failed.value(), "create the snapshot directory"));
  }
  started_wall_ = parts_.clock->now(), started_steady_ = parts_.clock->steady();
  wall_ahead_ = started_wall_.time_since_epoch() - started_steady_.time_since_epoch();
  CO_TRY(auto still_running, co_await adopt_all());
  CO_TRY(const std::int64_t interrupted,
         co_await parts_.store->interrupt_unfinished(parts_.clock->now(), "the service ended while it ran",
                                                     std::move(still_running)));
  if (interrupted > 0)
    log::info("unfinished executions marked interrupted", {{"count", std::to_string(interrupted)}});
  next_clean_up_ = parts_.clock->steady();
  boost::asio::co_spawn(parts_.executor, keep_time(), boost::asio::detached);
  co_return Result<void>{};
}

Task<void> LocalService::take_back(LivePtr live, std::vector<std::string>& still_running) {
  live->last_used = parts_.clock->steady();
  if (live->facts.expires_at && live->facts.state == State::running)
    live->ends_at = parts_.clock->steady() + (*live->facts.expires_at - parts_.clock->now());
  find_default_kernels(*live, "the service was started again, and interpreters end with it");
  for (const auto& process : live->sandbox->processes()) {
    if (process->info().label.empty()) continue;
    const std::string record = process->info().label;
    auto taken = co_await engine_.take_over(live, process);
    if (taken) still_running.push_back(record);
  }
  co_return Result<void>{};
}

Task<std::vector<std::string>> LocalService::adopt_all() {
  std::vector<std::string> still_running;
  std::map<std::string, sandbox::Provider*> adoptable;
  for (sandbox::Provider* provider : parts_.providers) {
    for (std::string& id : provider->adoptable()) adoptable.emplace(std::move(id), provider);
  }
  std::vector<std::string> unfinished = {"creating", "running", "paused", "stopping"};
  CO_TRY(const auto rows, co_await parts_.store->sessions_in(std::move(unfinished)));
  for (const store::SessionRow& row : rows) {
    auto live = std::make_shared<Live>(parts_.executor);
    CO_TRY(live->facts, from_row(row));
    live->incarnation = row.incarnation;
    if (complete_secrets(live->facts)) CO_CHECK(co_await save(live));
    live->provider = provider_named(row.provider);
    const auto found = adoptable.find(row.incarnation);
    const State was = live->facts.state;
    std::string reason = "the service ended and its sandbox with it";
    if (found != adoptable.end()) {
      auto taken = co_await found->second->adopt(row.incarnation);
      adoptable.erase(found);
      if (taken) live->sandbox = std::move(*taken);
      if (!taken) reason = "its sandbox could not be taken back: " + taken.error().message();
    }
    live_[live->facts.session_id] = live;
    by_sandbox_[live->facts.sandbox_id] = live;
    if (was == State::paused && !live->facts.hibernation.empty()) {
      // On the disk already: the service ended before its sandbox did.
      if (const auto old = std::exchange(live->sandbox, nullptr)) CO_CHECK(co_await old->stop());
      if (parts_.observer != nullptr) parts_.observer->changed(live->facts, was, was);
      continue;
    }
    if (!live->sandbox || !is_live(was)) {
      const State end = was == State::stopping ? State::stopped : State::lost;
      // Not in the awaited call: g++ 12 destroys a temporary of a conditional operator twice there.
      std::string why = end == State::stopped ? live->facts.reason : reason;
      CO_CHECK(co_await stop_held(live, end, std::move(why)));
      continue;
    }
    std::string kind(kNetworkLogKind);
    auto decided =
        co_await parts_.store->get_document(std::move(kind), live->facts.tenant, live->facts.session_id);
    if (decided) live->network_log->read_json(decided->body);
    // The store has the last word that somebody was told: a pause or resume that ended between the sandbox
    // and the store is finished or taken back. Neither waits for a guest that stands still.
    auto agreed = was == State::paused ? co_await live->sandbox->pause() : co_await live->sandbox->resume();
    if (!agreed) {
      CO_CHECK(co_await stop_held(live, State::lost,
                                  "its sandbox could not be taken back: " + agreed.error().message()));
      continue;
    }
    live->network_due = live->facts.network == sandbox::Network::egress;
    if (was != State::paused) CO_CHECK(co_await reopen_network(live));
    CO_CHECK(co_await take_back(live, still_running));
    live->next_sample = parts_.clock->steady();
    if (was == State::paused && options_.to_disk_after.count() > 0)
      live->to_disk_at = parts_.clock->steady() + options_.to_disk_after;
    if (parts_.observer != nullptr) parts_.observer->changed(live->facts, was, was);
    boost::asio::co_spawn(parts_.executor, watch_end(live, live->sandbox), boost::asio::detached);
    log::info("a running sandbox was taken back", {{"session", live->facts.session_id}});
  }
  for (const auto& [id, provider] : adoptable) {
    auto orphan = co_await provider->adopt(id);
    if (orphan) {
      auto stopped = co_await (*orphan)->stop();
      log::info("a sandbox without a session was ended", {{"sandbox", id}, {"ok", stopped ? "yes" : "no"}});
    }
  }
  std::set<std::string> sandboxes;
  for (const auto& [id, live] : live_) sandboxes.insert(live->incarnation);
  layer_use_.reconcile(sandboxes);
  co_return still_running;
}

void LocalService::follow_wall_clock(WallTime now, SteadyTime steady) {
  constexpr std::chrono::milliseconds kJump{500};  // less is the machine's own correction
  const Duration ahead = now.time_since_epoch() - steady.time_since_epoch();
  if (std::chrono::abs(ahead - wall_ahead_) < kJump) return;
  log::info("the wall clock was set", {{"seconds", std::to_string(std::chrono::duration_cast<std::chrono::seconds>(
                                                                      ahead - wall_ahead_).count())}});
  wall_ahead_ = ahead;
  for (const auto& [id, live] : live_) {
    if (!live->ends_at) continue;
    live->facts.expires_at = now + (*live->ends_at - steady);
    live->unsaved = true;
  }
}

Task<void> LocalService::reopen_network(LivePtr live) {
  if (!std::exchange(live->network_due, false)) co_return Result<void>{};
  auto rules = compile_rules(live->facts.egress, parts_.outside);
  auto opened = rules ? co_await open_network(live, std::move(*rules)) : fail(rules.error());
  // It runs on without a way out, and says so.
  if (!opened) {
    log::error("a network could not be opened again", {{"error", opened.error().message()}});
    live->facts.isolation = live->sandbox->isolation();
  }
  co_return Result<void>{};
}

boost::asio::awaitable<void> LocalService::keep_time() {
  while (!ending_) {
    clockwork_.expires_after(kTick);
    boost::system::error_code stopped;
    co_await clockwork_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, stopped));
    if (ending_) co_return;
    const WallTime now = parts_.clock->now();
    const SteadyTime steady = parts_.clock->steady();
    follow_wall_clock(now, steady);
    std::vector<LivePtr> due, old;
    std::vector<std::pair<LivePtr, std::string>> over;
    for (const auto& [id, live] : live_) {
      if (live->to_disk_at && *live->to_disk_at <= steady) {
        live->to_disk_at.reset();
        boost::asio::co_spawn(parts_.executor, move_to_disk(live), boost::asio::detached);
      }
      if (is_paused_for_long(*live)) old.push_back(live);
      if (is_final(live->facts.state) && live->unsaved && live->saved_at + kSaveEvery <= steady) due.push_back(live);
      if (live->facts.state != State::running) continue;
      const bool expired = live->ends_at && *live->ends_at <= steady;
      const bool idle = options_.idle_after.count() > 0 && live->busy == 0 &&
                        live->last_used + options_.idle_after <= steady;
      if (expired || idle) {
        over.emplace_back(live, expired ? "its time to live ended" : "it was idle");
        continue;
      }
      if (live->next_sample <= steady) {
        live->next_sample = steady + options_.sample_every;
        boost::asio::co_spawn(parts_.executor, take_sample(live), boost::asio::detached);
      }
      if (live->unsaved && live->saved_at + kSaveEvery <= steady) due.push_back(live);
    }
    for (const LivePtr& live : old)
      boost::asio::co_spawn(parts_.executor, end_old_pause(live), boost::asio::detached);
    // After the walk: an end may take a session out of the map before it waits for anything.
    for (auto& [live, why] : over) {
      boost::asio::co_spawn(parts_.executor, expire(live, std::move(why)), boost::asio::detached);
    }
    for (const LivePtr& live : due) {
      if (is_final(live->facts.state)) {
        auto stored = co_await store_end(live);
        continue;
      }
      if (auto saved = co_await save(live); !saved) {
        live->saved_at = steady;
        log::warn("a session could not be stored", {{"error", saved.error().message()}});
      }
    }
    // Much has come since the last time: it may be more than is kept.
    const bool is_much = parts_.blobs != nullptr && options_.keeping.artifact_bytes > 0 &&
                         parts_.blobs->bytes_since() > options_.keeping.artifact_bytes / 8;
    if (next_clean_up_ <= steady || is_much) {
      if (parts_.blobs != nullptr) parts_.blobs->forget_bytes();
      next_clean_up_ = steady + clean_up_interval(options_);
      boost::asio::co_spawn(parts_.executor, clean_up(), boost::asio::detached);
    }
  }
}

boost::asio::awaitable<void> LocalService::expire(LivePtr live, std::string reason) {
  auto hold = co_await live->lifecycle.take();
  if (!hold || live->facts.state != State::running) co_return;
  if (live->facts.on_expiry == OnExpiry::pause && live->provider->traits().pause) {
    const During pausing(live->facts.pausing);
    auto paused = co_await pause_sandbox(live);
    if (paused) {
      enter(live, State::paused, reason);
      auto saved = co_await save(live);
      co_return;
    }
    log::warn("a session could not be paused and ends instead", {{"error", paused.error().message()}});
  }
  if (auto ended = co_await stop_held(live, State::stopped, reason); !ended) {
    log::error("an ended session could not be stored", {{"error", ended.error().message()}});
  }
}

boost::asio::awaitable<void> LocalService::take_sample(LivePtr live) {
  const std::shared_ptr<sandbox::Sandbox> sandbox = live->sandbox;
  if (!sandbox) co_return;
  auto usage = co_await sandbox->usage();
  if (!usage) co_return;
  Sample sample{parts_.clock->now(), 0, *usage};
  if (!live->samples.empty()) {
    const Sample& last = live->samples.back();
    const double passed = std::chrono::duration<double, std::micro>(sample.at - last.at).count();
    const auto used = static_cast<double>((usage->cpu_time - last.usage.cpu_time).count());
    if (passed > 0 && used > 0) sample.cpu_percent = used / passed * 100;
  }
  live->samples.push_back(std::move(sample));
  if (live->samples.size() > kSamplesMax) live->samples.pop_front();
}

boost::asio::awaitable<void> LocalService::clean_up() {
  // A wall clock that was set ahead does not make anything old.
  const WallTime now = std::min(parts_.clock->now(), started_wall_ + (parts_.clock->steady() - started_steady_));
  auto sessions = co_await parts_.store->remove_sessions_ended_before(now - options_.keep_ended);
  auto records =
      co_await parts_.store->remove_records(now - options_.keep_records, options_.record_bytes_max);
  if (!sessions || !records) {
    log::warn("retention could not be applied",
              {{"error", sessions ? records.error().message() : sessions.error().message()}});
    co_return;
  }
  std::int64_t trimmed = 0;
  if (options_.keeping.artifact_bytes > 0) {
    auto went =
        co_await parts_.store->trim_artifacts(static_cast<std::int64_t>(options_.keeping.artifact_bytes));
    if (went) trimmed = *went;
    if (!went) log::warn("artifacts could not be trimmed", {{"error", went.error().message()}});
  }
  if (*sessions > 0) {
    std::string kind(kNetworkLogKind);
    auto logs = co_await parts_.store->remove_documents_before(std::move(kind), now - options_.keep_ended);
    if (!logs) log::warn("retention could not be applied", {{"error", logs.error().message()}});
  }
  // What is too young to go now goes in one of the next rounds.
  if (*sessions > 0 || *records > 0 || trimmed > 0)
    blobs_due_until_ = parts_.clock->steady() + std::chrono::minutes(20);
  if (parts_.blobs != nullptr && parts_.clock->steady() < blobs_due_until_) {
    auto digests = co_await parts_.store->artifact_digests();
    if (digests) {
      auto removed = co_await parts_.blobs->collect_garbage(std::move(*digests), kBlobsSpared);
      if (!removed) log::warn("artifacts could not be removed", {{"error", removed.error().message()}});
    }
  }
  if (options_.snapshot_directory.empty()) co_return;
  if (auto removed = co_await remove_old_snapshots(); !removed)
    log::warn("old snapshots could not be removed", {{"error", removed.error().message()}});
  auto ids = co_await parts_.store->snapshot_ids();
  if (!ids) co_return;
  std::set<std::string> known(ids->begin(), ids->end());
  for (const auto& [id, live] : live_)
    known.insert(live->facts.snapshot), known.insert(live->facts.hibernation);
  auto sweep = [directory = options_.snapshot_directory, known = std::move(known)]() -> Result<void> {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
      // A young directory may be a snapshot that is being taken.
      const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(failed);
      if (!known.contains(entry.path().filename().string()) && age > std::chrono::hours(1)) {
        std::filesystem::remove_all(entry.path(), failed);
      }
    }
    return {};
  };
  auto swept = co_await store::offload<void>(disk_, std::move(sweep));
}

}  // namespace atl::session
