// Copies of a running session, and sessions that wait on the disk.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <filesystem>

#include "base/ids.h"
#include "base/log.h"
#include "os/event.h"
#include "session/local_service.h"
#include "session/retry.h"
#include "store/offload.h"

namespace atl::session {
namespace {

constexpr std::string_view kForkPrefix = "fork_", kHibernationPrefix = "hib_";

// Taken by a fork or a hibernation, for the sessions that stand on it: not a snapshot that a client knows.
bool is_own_state(const std::string& name) {
  return name.starts_with(kForkPrefix) || name.starts_with(kHibernationPrefix);
}

// Nothing but kernels that a capture can carry, as far as the session knows.
bool has_only_python(const Live& live) {
  if (!live.sandbox || !live.sandbox->processes().empty()) return false;
  const auto kernels = live.sandbox->kernels();
  return std::ranges::all_of(
      kernels, [](const auto& kernel) { return kernel->info().language == sandbox::Language::python; });
}

TextMap default_contexts_of(const Live& live) {
  TextMap contexts;
  for (const auto& [language, kernel] : live.default_kernels)
    contexts.emplace(to_string(language), kernel->info().id);
  return contexts;
}

}  // namespace

void LocalService::discard_states(const Live& live, std::vector<std::string> names) {
  for (const std::string& name : names) {
    const bool shared = forking_.contains(name) || std::ranges::any_of(live_, [&](const auto& one) {
                          return one.second.get() != &live && one.second->facts.snapshot == name;
                        });
    if (!is_own_state(name) || shared) continue;
    layer_use_.end_snapshot(name);
    boost::asio::post(disk_, [path = snapshot_path(name)] {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    });
  }
}

Result<LocalService::LivePtr> LocalService::draft_copy(const Principal& who, const Live& source,
                                                       const UpdateRequest& changes) {
  auto child = std::make_shared<Live>(parts_.executor);
  child->facts = source.facts;
  child->provider = source.provider;
  Session& facts = child->facts;
  facts.session_id = new_session_id();
  facts.sandbox_id = new_sandbox_id();
  facts.key_id = who.key_id;
  facts.state = State::creating;
  facts.pausing = false;
  facts.reason.clear();
  facts.created_at = facts.last_used_at = parts_.clock->now();
  facts.parent = source.facts.session_id;
  give_secrets(facts);
  facts.default_contexts = default_contexts_of(source);
  child->lost_kernels = source.lost_kernels;
  child->last_used = parts_.clock->steady();
  child->incarnation = facts.sandbox_id;
  UpdateRequest complete = changes;
  if (!complete.ttl) complete.ttl = facts.ttl;
  TRY(apply(*child, complete));
  return child;
}

// As take_snapshot(), with the kernels.
Task<sandbox::Carried> LocalService::take_state(LivePtr live, std::string name,
                                                sandbox::CheckpointOptions options) {
  if (!live->sandbox) co_return fail(Code::conflict, "the session has ended");
  const std::shared_ptr<sandbox::Sandbox> in = live->sandbox;
  const std::string path = snapshot_path(name);
  auto once = [in, path, options] { return in->checkpoint(path, options); };
  auto go_on = [live, in] { return live->sandbox == in; };
  CO_TRY(sandbox::Carried carried,
         co_await with_retries<sandbox::Carried>(parts_.executor, "capture a sandbox", std::move(once),
                                                 std::move(go_on)));
  auto keep = [this, name, sandbox = live->incarnation] { return layer_use_.keep(name, sandbox); };
  if (auto kept = co_await store::offload<void>(disk_, std::move(keep)); !kept) {
    auto removed = co_await live->provider->discard_snapshot(path);
    co_return fail(std::move(kept).error());
  }
  co_return carried;
}

Task<Forked> LocalService::fork(Principal who, std::string id, ForkRequest request) {
  const SteadyTime began = parts_.clock->steady();
  CO_TRY(LivePtr source, co_await awake(who, std::move(id)));
  if (!source->provider->traits().fork || options_.snapshot_directory.empty()) {
    co_return fail(Code::unsupported,
                   fmt::format("provider {} lacks the trait 'fork'", source->facts.provider));
  }
  std::vector<LivePtr> copies;
  for (const UpdateRequest& changes : request.copies) {
    CO_TRY(LivePtr copy, draft_copy(who, *source, changes));
    copies.push_back(std::move(copy));
  }
  if (copies.empty())
    co_return fail(Error(Code::invalid_argument, "at least one copy is needed").with_field("count"));
  // Where some fit, those are made; where none does, nothing is.
  CO_CHECK(admit(who.tenant, nullptr));
  const std::string state = std::string(kForkPrefix) + copies.front()->facts.sandbox_id;
  const bool with_kernels = source->provider->traits().live_fork && !request.files_only;
  Forked forked;
  {
    CO_TRY(auto hold, co_await source->lifecycle.take());
    if (with_kernels) {
      CO_TRY(forked.carried, co_await take_state(source, state, {.strict = request.strict}));
    } else {
      CO_CHECK(co_await take_snapshot(source, state));
    }
  }
  const Kernels kernels = with_kernels ? Kernels::carried : Kernels::fresh;
  CO_TRY(forked.sessions, co_await bring_up_all(std::move(copies), state, kernels));
  forked.total = std::chrono::duration_cast<std::chrono::microseconds>(parts_.clock->steady() - began);
  co_return forked;
}

// All at once. The state stays until the last of them stands on it, whether or not somebody still waits.
Task<std::vector<Result<Session>>> LocalService::bring_up_all(std::vector<LivePtr> copies, std::string state,
                                                              Kernels kernels) {
  struct Batch {
    explicit Batch(const boost::asio::any_io_executor& executor) : done(executor) {}
    std::vector<Result<Session>> sessions;
    std::size_t left = 0;
    os::Event done;
  };
  auto batch = std::make_shared<Batch>(parts_.executor);
  batch->sessions.assign(copies.size(), fail(Code::internal, "not made"));
  batch->left = copies.size();
  forking_.insert(state);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i]->facts.snapshot = state;
    const auto finish = [this, batch, i, copy = copies[i], state](const std::exception_ptr&,
                                                                  Result<Session> made) {
      batch->sessions[i] = std::move(made);
      if (--batch->left > 0) return;
      forking_.erase(state);
      copy->provider->discard_kernels(snapshot_path(state));
      if (std::ranges::none_of(batch->sessions, [](const auto& one) { return one.has_value(); }))
        discard_states(*copy, {state});
      batch->done.notify();
    };
    boost::asio::co_spawn(parts_.executor, bring_up(copies[i], snapshot_path(state), kernels), finish);
  }
  while (batch->left > 0) CO_CHECK(co_await batch->done.wait());
  co_return std::move(batch->sessions);
}

// Written down first, then known to the store, then gone from memory: whenever the service ends in between,
// one of the two states is whole.
Task<void> LocalService::hibernate_held(LivePtr live, PauseRequest request, std::string reason) {
  const sandbox::Traits& traits = live->provider->traits();
  if (!(request.files_only ? traits.snapshot : traits.live_fork) || options_.snapshot_directory.empty()) {
    co_return fail(Code::unsupported, fmt::format("provider {} lacks the trait '{}'", live->facts.provider,
                                                  request.files_only ? "snapshot" : "live_fork"));
  }
  // When the service ends, what is paused has no other place to go.
  if (!ending_) CO_CHECK(check_paused_room(*live));
  const std::string state = std::string(kHibernationPrefix) + live->incarnation;
  const State before = live->facts.state;
  Result<sandbox::Carried> carried = sandbox::Carried();
  if (request.files_only) {
    CO_CHECK(co_await take_snapshot(live, state));
  } else {
    carried = co_await take_state(live, state, {.whole = true, .strict = !request.force});
  }
  if (!carried) co_return fail(std::move(carried).error());
  if (live->facts.state != before)
    co_return fail(Code::conflict, fmt::format("the session is {}", to_string(live->facts.state)));
  live->facts.default_contexts = default_contexts_of(*live);
  live->facts.left_behind = std::move(carried->left_behind);
  live->facts.hibernation = state;
  live->facts.hibernation_bytes = (co_await size_of_state(state)).value_or(0);
  live->facts.hibernated_at = parts_.clock->now();
  if (before == State::running) enter(live, State::paused, "");
  live->facts.reason = std::move(reason);
  if (auto saved = co_await save(live); !saved) {
    live->facts.hibernation.clear();
    if (before == State::running) enter(live, State::running, "");
    discard_states(*live, {state});
    co_return fail(std::move(saved).error());
  }
  const std::shared_ptr<sandbox::Sandbox> old = std::exchange(live->sandbox, nullptr);
  live->default_kernels.clear();
  live->proxy.reset();
  auto stopped = co_await old->stop();
  layer_use_.end_sandbox(live->incarnation);
  if (!stopped)
    log::error("a sandbox did not end cleanly",
               {{"session", live->facts.session_id}, {"error", stopped.error().message()}});
  co_return Result<void>{};
}

Task<void> LocalService::keep_paused(LivePtr live) {
  if (!live->sandbox) co_return fail(Code::conflict, "it has no sandbox");
  // Interpreters must be able to park.
  CO_CHECK(co_await live->sandbox->resume());
  co_return co_await hibernate_held(live, {.on_disk = true, .force = true},
                                    live->facts.reason + "; on disk since the service stopped");
}

// Interpreters park only while they run, so the sandbox goes on for the moment that this takes: not one in
// which anything else could run, as far as can be told beforehand. Tried once a pause.
boost::asio::awaitable<void> LocalService::move_to_disk(LivePtr live) {
  auto hold = co_await live->lifecycle.take();
  if (!hold || ending_ || live->facts.state != State::paused || !live->facts.hibernation.empty()) co_return;
  if (!live->provider->traits().live_fork || !has_only_python(*live)) co_return;
  if (auto resumed = co_await live->sandbox->resume(); !resumed) {
    log::warn("a paused session stays in memory", {{"error", resumed.error().message()}});
    co_return;
  }
  const auto moved =
      co_await hibernate_held(live, {.on_disk = true}, live->facts.reason + "; on disk meanwhile");
  if (moved || live->facts.state != State::paused) co_return;
  if (moved.error().code() != Code::conflict)
    log::warn("a paused session could not be written to the disk", {{"error", moved.error().message()}});
  if (const auto paused = co_await pause_sandbox(live); !paused) {
    const auto ended =
        co_await stop_held(live, State::lost, "it could not be paused again: " + paused.error().message());
    if (!ended) log::error("a lost session could not be stored", {{"error", ended.error().message()}});
  }
}

// It stays as it is on the disk until a sandbox stands on it.
Task<void> LocalService::wake_held(LivePtr live) {
  const std::string state = live->facts.hibernation;
  std::vector<std::string> lost = live->facts.left_behind;
  const std::string before = live->incarnation;
  live->incarnation = fmt::format("{}h{}", live->facts.sandbox_id, random_word(6));
  if (auto built = co_await build(live, snapshot_path(state), Kernels::carried); !built) {
    live->incarnation = before;
    co_return fail(std::move(built).error().context("resume"));
  }
  // What the pause could not take is as lost as what could not be brought back.
  live->facts.left_behind.insert(live->facts.left_behind.begin(), lost.begin(), lost.end());
  live->facts.snapshot = state;
  live->facts.hibernation.clear();
  co_return Result<void>{};
}

}  // namespace atl::session
