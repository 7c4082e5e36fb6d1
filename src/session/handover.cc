#include "session/handover.h"

#include <boost/asio/co_spawn.hpp>
#include <set>

#include "base/ids.h"
#include "base/log.h"
#include "os/event.h"
#include "session/codec.h"
#include "session/skill_place.h"

namespace atl::session {

Task<Handover::Adoptable> Handover::find_adoptable() const {
  Adoptable adoptable;
  for (sandbox::Provider* provider : dependencies_.providers) {
    CO_TRY(std::vector<std::string> ids, co_await provider->adoptable());
    for (std::string& id : ids) adoptable.emplace(std::move(id), provider);
  }
  co_return adoptable;
}

Task<void> Handover::take_back_all() {
  std::vector<std::string> still_running;
  CO_TRY(Adoptable adoptable, co_await find_adoptable());
  std::vector<std::string> unfinished = {"creating", "running", "paused", "stopping"};
  CO_TRY(const auto rows, co_await dependencies_.store->sessions_in(std::move(unfinished)));
  for (const store::SessionRow& row : rows) CO_CHECK(co_await take_back(row, adoptable, still_running));
  co_await end_orphans(std::move(adoptable));
  std::set<std::string> sandboxes;
  for (const LivePtr& live : dependencies_.table->all()) sandboxes.insert(live->incarnation());
  dependencies_.layer_use->reconcile(sandboxes);
  std::string reason = "the service ended while it ran";
  CO_TRY(const std::int64_t interrupted,
         co_await dependencies_.store->interrupt_unfinished(dependencies_.clock->now(), std::move(reason),
                                                            std::move(still_running)));
  if (interrupted > 0)
    log::info("unfinished executions marked interrupted", {{"count", std::to_string(interrupted)}});
  co_return Result<void>{};
}

Task<void> Handover::take_back(const store::SessionRow& row, Adoptable& adoptable,
                               std::vector<std::string>& still_running) {
  SessionTable& table = *dependencies_.table;
  CO_TRY(Session facts, from_row(row));
  const bool completed = dependencies_.drafts->complete_secrets(facts);
  auto live = std::make_shared<Live>(dependencies_.executor, *dependencies_.clock, std::move(facts),
                                     row.incarnation, find_provider(dependencies_.providers, row.provider));
  if (completed) CO_CHECK(co_await table.save(live));
  std::string reason = "the service ended and its sandbox with it";
  if (const auto found = adoptable.find(row.incarnation); found != adoptable.end()) {
    auto taken = co_await found->second->adopt(row.incarnation);
    adoptable.erase(found);
    if (taken) live->adopt(std::move(*taken));
    if (!taken) reason = "its sandbox could not be taken back: " + taken.error().message();
  }
  table.add(live);
  if (live->state() == State::paused && live->is_on_disk()) {
    // Its state was on the disk already when the service ended; the sandbox is what was left to end.
    if (const auto old = live->detach()) CO_CHECK(co_await old->stop());
    table.announce(live);
    co_return Result<void>{};
  }
  if (!live->sandbox() && live->state() == State::running && !live->facts().storage.empty()) {
    auto rebuilt = co_await rebuild(live);
    if (rebuilt) co_return Result<void>{};
    reason = "its sandbox could not be made again: " + rebuilt.error().message();
  }
  if (!live->sandbox() || !is_live(live->state())) {
    const bool was_stopping = live->state() == State::stopping;
    if (was_stopping) reason = live->facts().reason;
    co_return co_await dependencies_.lifecycle->stop(live, was_stopping ? State::stopped : State::lost,
                                                     reason);
  }
  co_return co_await go_on(live, still_running);
}

// A session whose files are in a storage goes on with them in a new sandbox; its processes are gone.
Task<void> Handover::rebuild(LivePtr live) {
  live->set_incarnation(new_sandbox_id());
  CO_CHECK(co_await dependencies_.lifecycle->build(live, std::nullopt, Interpreters::fresh));
  live->restore_end();
  live->set_sample_due_now();
  CO_CHECK(co_await dependencies_.table->save(live));
  dependencies_.table->announce(live);
  log::info("a session goes on with the files of its storage", {{"session", live->facts().session_id}});
  co_return Result<void>{};
}

// A session of the earlier service that has its sandbox.
Task<void> Handover::go_on(LivePtr live, std::vector<std::string>& still_running) {
  const bool is_paused = live->state() == State::paused;
  std::string kind(kNetworkLogKind);
  auto decided = co_await dependencies_.store->get_document(std::move(kind), live->facts().tenant,
                                                            live->facts().session_id);
  if (decided) live->network_log().read_json(decided->body);
  // Clients were told the state that the store has. If the service ended between pausing or resuming the
  // sandbox and storing that, the sandbox is brought back to it. Neither call waits for a guest that is
  // frozen.
  auto agreed = is_paused ? co_await live->sandbox()->pause() : co_await live->sandbox()->resume();
  if (!agreed) {
    std::string reason = "its sandbox could not be taken back: " + agreed.error().message();
    co_return co_await dependencies_.lifecycle->stop(live, State::lost, std::move(reason));
  }
  if (!is_paused) lead_to_skills(*live);
  live->egress().open_on_resume = live->facts().network == sandbox::Network::egress;
  if (!is_paused) CO_CHECK(co_await dependencies_.networks->reopen(live));
  CO_CHECK(co_await find_commands(live, still_running));
  live->set_sample_due_now();
  if (is_paused) live->set_to_disk_after(options_.to_disk_after);
  dependencies_.table->announce(live);
  dependencies_.lifecycle->watch(live);
  log::info("a running sandbox was taken back", {{"session", live->facts().session_id}});
  co_return Result<void>{};
}

Task<void> Handover::find_commands(LivePtr live, std::vector<std::string>& still_running) {
  live->restore_end();
  live->find_interpreters("the service was started again, and interpreters end with it");
  for (const auto& process : live->sandbox()->processes()) {
    if (process->info().label.empty()) continue;
    const std::string record = process->info().label;
    auto taken = co_await dependencies_.engine->take_over(live, process);
    if (taken) still_running.push_back(record);
  }
  co_return Result<void>{};
}

boost::asio::awaitable<void> Handover::end_orphans(Adoptable orphans) {
  for (const auto& [id, provider] : orphans) {
    auto orphan = co_await provider->adopt(id);
    if (!orphan) continue;
    auto stopped = co_await (*orphan)->stop();
    log::info("a sandbox without a session was ended", {{"sandbox", id}, {"ok", stopped ? "yes" : "no"}});
  }
}

// All sessions end side by side: none waits for another one's processes.
Task<void> Handover::end_all(std::string reason) {
  std::vector<LivePtr> all;
  for (const LivePtr& live : dependencies_.table->all())
    if (!live->is_on_disk()) all.push_back(live);
  // Shared: the sessions go on ending when this coroutine is canceled.
  auto left = std::make_shared<std::size_t>(all.size());
  auto changed = std::make_shared<os::Event>(dependencies_.executor);
  for (const LivePtr& live : all) {
    boost::asio::co_spawn(dependencies_.executor, end_one(live, reason),
                          [left, changed](const std::exception_ptr&, const Result<void>&) {
                            if (--*left == 0) changed->notify();
                          });
  }
  while (*left > 0) CO_CHECK(co_await changed->wait());
  co_return Result<void>{};
}

Task<void> Handover::end_one(LivePtr live, std::string reason) {
  CO_TRY(auto hold, co_await live->take_turn());
  if (is_final(live->state())) co_return co_await dependencies_.table->store_end(live);
  if (live->state() == State::running && !live->facts().storage.empty()) {
    // The store says running: the next service makes its sandbox again (rebuild).
    if (const auto sandbox = live->detach()) co_return co_await sandbox->stop();
    co_return Result<void>{};
  }
  if (live->state() == State::paused) {
    // A remote sandbox stands still without us, and the next service finds it again.
    if (live->traits().templates && live->sandbox()) co_return co_await dependencies_.table->save(live);
    const auto kept = co_await dependencies_.pauses->hibernate_at_shutdown(live);
    if (kept) co_return Result<void>{};
    log::warn("a paused session could not be kept and ends",
              {{"session", live->facts().session_id}, {"error", kept.error().message()}});
  }
  co_await dependencies_.lifecycle->stop_or_log(live, State::stopped, std::move(reason));
  co_return Result<void>{};
}

}  // namespace atl::session
