#include "session/pauses.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ids.h"
#include "session/subject.h"

namespace atl::session {
namespace {

// Nothing but interpreters whose memory can be written down, as far as the session knows.
bool has_only_python(const Live& live) {
  if (!live.sandbox() || !live.sandbox()->processes().empty()) return false;
  const auto interpreters = live.sandbox()->interpreters();
  return std::ranges::all_of(interpreters, [](const auto& interpreter) {
    return interpreter->info().language == sandbox::Language::python;
  });
}

}  // namespace

Task<LivePtr> Pauses::running(Principal who, std::string id) {
  const trace::Context trace = who.trace;
  CO_TRY(LivePtr found, co_await dependencies_.table->live(std::move(who), id));
  const Session& facts = found->facts();
  if (facts.pausing && !facts.auto_resume)
    co_return fail(Code::conflict, fmt::format("session {} is being paused", id));
  if ((facts.state == State::paused || facts.pausing) && facts.auto_resume) {
    CO_TRY(auto hold, co_await found->take_turn());
    const OnBehalf asked(*found, trace);
    // Asked again: while this waited for its turn, somebody else may have resumed it.
    if (found->state() == State::paused) CO_CHECK(co_await resume_held(found));
  }
  // The sandbox may have ended by itself meanwhile, in any of the waits above.
  if (found->state() != State::running || !found->sandbox()) co_return fail(found->wrong_state(id));
  found->touch();
  co_return found;
}

Task<Session> Pauses::pause(Principal who, std::string id, PauseRequest request) {
  const trace::Context trace = who.trace;
  CO_TRY(LivePtr found, co_await dependencies_.table->live(std::move(who), id));
  CO_TRY(auto hold, co_await found->take_turn());
  const OnBehalf asked(*found, trace);
  if (found->state() != State::running) co_return fail(found->wrong_state(id));
  if (!found->traits().pause) co_return fail(found->lacks("pause"));
  CO_CHECK(co_await pause_held(found, request));
  co_return found->facts();
}

Task<void> Pauses::pause_held(LivePtr live, PauseRequest request) {
  const During pausing = live->mark_pausing();
  if (request.on_disk) co_return co_await hibernate(live, request, "by request, on disk");
  CO_CHECK(co_await dependencies_.lifecycle->pause_sandbox(live));
  // Its sandbox ended while it was being frozen.
  if (live->state() != State::running) co_return fail(live->wrong_state(live->facts().session_id));
  dependencies_.table->enter(live, State::paused, kByRequest);
  co_return co_await dependencies_.table->save(live);
}

Task<Session> Pauses::resume(Principal who, std::string id, std::optional<std::chrono::milliseconds> ttl) {
  // Before anything waits: a bad request has no effects.
  CO_CHECK(dependencies_.table->check_ttl(ttl));
  const trace::Context trace = who.trace;
  CO_TRY(LivePtr found, co_await dependencies_.table->live(std::move(who), id));
  CO_TRY(auto hold, co_await found->take_turn());
  const OnBehalf asked(*found, trace);
  if (found->state() == State::running) co_return found->facts();
  if (found->state() != State::paused) co_return fail(found->wrong_state(id));
  UpdateRequest change;
  change.ttl = ttl;
  CO_CHECK(dependencies_.table->apply(*found, change));
  CO_CHECK(co_await resume_held(found));
  co_return found->facts();
}

Task<void> Pauses::resume_held(LivePtr live) {
  CO_CHECK(dependencies_.table->admit(live, SessionTable::Begin::resumed));
  const During waking = live->mark_waking();
  // Copies: what follows replaces both.
  const std::string woken = live->facts().hibernation, older = live->facts().snapshot;
  if (woken.empty()) {
    CO_CHECK(co_await dependencies_.lifecycle->resume_sandbox(live));
    CO_CHECK(co_await dependencies_.networks->reopen(live));
  } else {
    CO_CHECK(co_await wake(live));
  }
  dependencies_.table->enter(live, State::running, "");
  live->set_end(live->facts().ttl, false);
  live->set_used_now();
  CO_CHECK(co_await dependencies_.table->save(live));
  if (woken.empty()) co_return Result<void>();
  // The interpreters run now; their stored memory is as large as they are and of no more use.
  dependencies_.states->discard_interpreters(*live->provider(), woken);
  if (older != woken) dependencies_.states->discard(*live, {older});
  co_return Result<void>();
}

Result<void> Pauses::check_room(const Live& live) const {
  const Keeping& keeping = options_.keeping;
  std::uint64_t count = 0, bytes = 0;
  for (const LivePtr& other : dependencies_.table->all()) {
    if (other.get() == &live || other->facts().tenant != live.facts().tenant || !other->is_on_disk())
      continue;
    ++count;
    bytes += other->facts().hibernation_bytes;
  }
  if (keeping.paused_count > 0 && count >= keeping.paused_count)
    return fail(Code::no_space,
                fmt::format("{} sessions are paused on the disk, and {} may be: end or resume one", count,
                            keeping.paused_count));
  if (keeping.paused_bytes > 0 && bytes >= keeping.paused_bytes)
    return fail(Code::no_space,
                fmt::format("sessions that are paused on the disk take {} bytes, and {} may be kept: end or "
                            "resume one",
                            bytes, keeping.paused_bytes));
  return {};
}

Task<void> Pauses::hibernate(LivePtr live, PauseRequest request, std::string reason) {
  SessionTable& table = *dependencies_.table;
  SavedStates& states = *dependencies_.states;
  const bool can = request.files_only ? live->traits().snapshot : live->traits().live_fork;
  if (!can || !states.is_enabled())
    co_return fail(live->lacks(request.files_only ? "snapshot" : "live_fork"));
  // When the service ends, a paused session has no other place to go.
  if (!table.is_ending()) {
    CO_CHECK(check_room(*live));
    // Before the work: whether anything fits at all.
    CO_CHECK(co_await table.reserve_stored(live->facts().tenant, live->facts().key_id, 1));
  }
  const std::string state = SavedStates::name_of_hibernation(live->incarnation());
  const State before = live->state();
  Result<sandbox::Carried> carried = sandbox::Carried();
  if (request.files_only) {
    CO_CHECK(co_await states.take_snapshot(live, state));
  } else {
    carried = co_await states.take_checkpoint(live, state, {.whole = true, .strict = !request.force});
  }
  if (!carried) co_return fail(std::move(carried).error());
  if (live->state() != before)
    co_return fail(Code::conflict, fmt::format("the session is {}", to_string(live->state())));
  // How large it became is known only now, so room is asked for twice.
  const std::uint64_t bytes = (co_await live->provider()->snapshot_bytes(states.path(state))).value_or(0);
  Result<quota::Reservation> room = quota::Reservation();
  if (!table.is_ending())
    room = co_await table.reserve_stored(live->facts().tenant, live->facts().key_id, bytes);
  if (room && live->state() != before)
    // Its sandbox ended while room was asked for: what was written is of a session that is over.
    room = fail(Code::conflict, fmt::format("the session is {}", to_string(live->state())));
  if (!room) {
    states.discard(*live, {state});
    co_return fail(std::move(room).error());
  }
  live->set_hibernated(state, bytes, std::move(carried->left_behind));
  if (before == State::running) table.enter(live, State::paused, "");
  live->set_reason(std::move(reason));
  if (auto saved = co_await table.save(live); !saved) {
    // The store does not know of the state on the disk, so after a crash nobody would find it: the sandbox
    // must go on.
    live->clear_hibernation();
    if (before == State::running) {
      table.enter(live, State::running, "");
      live->set_end(live->facts().ttl, false);
    }
    states.discard(*live, {state});
    co_return fail(std::move(saved).error());
  }
  // Only now that the store has the way back may the sandbox end. Detached first, so that its end is not
  // taken for a loss.
  const std::shared_ptr<sandbox::Sandbox> old = live->detach();
  auto stopped = co_await old->stop();
  dependencies_.layer_use->end_sandbox(live->incarnation());
  if (!stopped)
    log::error(subject_of(*live), "a sandbox did not end cleanly", {{"error", stopped.error().message()}});
  co_return Result<void>{};
}

Task<void> Pauses::hibernate_at_shutdown(LivePtr live) {
  if (!live->sandbox()) co_return fail(Code::conflict, "it has no sandbox");
  // An interpreter must run for a moment to write down its memory.
  CO_CHECK(co_await live->sandbox()->resume());
  co_return co_await hibernate(live, {.on_disk = true, .force = true},
                               live->facts().reason + "; on disk since the service stopped");
}

// An interpreter must run to write down its memory, so the sandbox is resumed for that moment. That is only
// done if, as far as can be told beforehand, nothing else would run in it. Tried once in a pause.
boost::asio::awaitable<void> Pauses::move_to_disk(LivePtr live) {
  auto hold = co_await live->take_turn();
  if (!hold || dependencies_.table->is_ending() || live->state() != State::paused || live->is_on_disk())
    co_return;
  if (!live->traits().live_fork || !has_only_python(*live)) co_return;
  if (auto resumed = co_await live->sandbox()->resume(); !resumed) {
    log::warn(subject_of(*live), "a paused session stays in memory", {{"error", resumed.error().message()}});
    co_return;
  }
  const auto moved =
      co_await hibernate(live, {.on_disk = true}, live->facts().reason + "; on disk meanwhile");
  if (moved || live->state() != State::paused) co_return;
  if (moved.error().code() != Code::conflict)
    log::warn(subject_of(*live), "a paused session could not be written to the disk",
              {{"error", moved.error().message()}});
  if (const auto paused = co_await dependencies_.lifecycle->pause_sandbox(live); !paused) {
    std::string reason = "it could not be paused again: " + paused.error().message();
    co_await dependencies_.lifecycle->stop_or_log(live, State::lost, std::move(reason));
  }
}

// Its saved state stays until a sandbox was built from it.
Task<void> Pauses::wake(LivePtr live) {
  const std::string state = live->facts().hibernation;
  const std::vector<std::string> lost = live->facts().left_behind;
  const std::string before = live->incarnation();
  // A new name for the new sandbox: the old one may not be gone yet.
  live->set_incarnation(fmt::format("{}h{}", live->facts().sandbox_id, random_word(6)));
  if (auto built = co_await dependencies_.lifecycle->build(live, state, Interpreters::carried); !built) {
    live->set_incarnation(before);
    co_return fail(std::move(built).error().context("resume"));
  }
  live->set_woken(lost);
  co_return Result<void>{};
}

bool Pauses::is_kept_too_long(const Live& live) const {
  const auto age = options_.keeping.paused;
  return age.count() > 0 && live.is_on_disk() && live.facts().hibernated_at &&
         *live.facts().hibernated_at + age <= dependencies_.clock->now();
}

boost::asio::awaitable<void> Pauses::end_old(LivePtr live) {
  auto hold = co_await live->take_turn();
  if (!hold || dependencies_.table->is_ending() || live->state() != State::paused || !is_kept_too_long(*live))
    co_return;
  std::string reason = "it was paused for longer than such sessions are kept";
  co_await dependencies_.lifecycle->stop_or_log(live, State::stopped, std::move(reason));
}

}  // namespace atl::session
