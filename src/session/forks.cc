#include "session/forks.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

#include "os/event.h"

namespace atl::session {

Task<Forked> Forks::fork(Principal who, std::string id, ForkRequest request) {
  SavedStates& states = *dependencies_.states;
  const SteadyTime began = dependencies_.clock->steady();
  CO_TRY(LivePtr source, co_await dependencies_.pauses->running(who, std::move(id)));
  if (!source->traits().fork || !states.is_enabled()) co_return fail(source->lacks("fork"));
  std::vector<LivePtr> copies;
  for (const UpdateRequest& changes : request.copies) {
    CO_TRY(LivePtr copy, dependencies_.drafts->copy(who, *source, changes));
    copies.push_back(std::move(copy));
  }
  if (copies.empty())
    co_return fail(Error(Code::invalid_argument, "at least one copy is needed").with_field("count"));
  CO_CHECK(dependencies_.table->admit(who.tenant, nullptr));
  const std::string state = SavedStates::name_of_fork(copies.front()->facts().sandbox_id);
  const bool with_interpreters = source->traits().live_fork && !request.files_only;
  Forked forked;
  {
    CO_TRY(auto hold, co_await source->take_turn());
    const OnBehalf asked(*source, who.trace);
    if (with_interpreters) {
      CO_TRY(forked.carried, co_await states.take_checkpoint(source, state, {.strict = request.strict}));
    } else {
      CO_CHECK(co_await states.take_snapshot(source, state));
    }
  }
  const Interpreters interpreters = with_interpreters ? Interpreters::carried : Interpreters::fresh;
  CO_TRY(forked.sessions, co_await bring_up_all(std::move(copies), state, interpreters));
  // Where a quota left room for none of them, nothing was forked.
  const auto is_over_quota = [](const Result<Session>& one) {
    return !one && one.error().code() == Code::resource_exhausted;
  };
  if (std::ranges::all_of(forked.sessions, is_over_quota)) co_return fail(forked.sessions.front().error());
  const auto took = dependencies_.clock->steady() - began;
  forked.total = std::chrono::duration_cast<std::chrono::microseconds>(took);
  co_return forked;
}

// The state stays until the last copy was built from it, even if nobody waits for the copies any more.
Task<std::vector<Result<Session>>> Forks::bring_up_all(std::vector<LivePtr> copies, std::string state,
                                                       Interpreters interpreters) {
  struct Batch {
    explicit Batch(const boost::asio::any_io_executor& executor) : done(executor) {}
    std::vector<Result<Session>> sessions;
    std::size_t left = 0;
    os::Event done;
  };
  // Shared: the copies go on when this coroutine is canceled.
  auto batch = std::make_shared<Batch>(dependencies_.executor);
  batch->sessions.assign(copies.size(), fail(Code::internal, "not made"));
  batch->left = copies.size();
  dependencies_.states->begin_copies(state);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i]->set_snapshot(state);
    const auto finish = [states = dependencies_.states, batch, i, copy = copies[i], state](
                            const std::exception_ptr&, Result<Session> made) {
      batch->sessions[i] = std::move(made);
      if (--batch->left > 0) return;
      states->end_copies(state);
      states->discard_interpreters(*copy->provider(), state);
      if (std::ranges::none_of(batch->sessions, [](const auto& one) { return one.has_value(); }))
        states->discard(*copy, {state});
      batch->done.notify();
    };
    boost::asio::co_spawn(dependencies_.executor,
                          dependencies_.lifecycle->bring_up(copies[i], state, interpreters), finish);
  }
  while (batch->left > 0) CO_CHECK(co_await batch->done.wait());
  co_return std::move(batch->sessions);
}

}  // namespace atl::session
