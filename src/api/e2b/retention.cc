#include "api/e2b/retention.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"

namespace atl::api::e2b {
namespace {

// Twice in the shortest time for which anything is kept, within reason.
std::chrono::milliseconds interval(const StoredBounds& bounds) {
  std::chrono::milliseconds every = std::chrono::minutes(10);
  for (const auto& age : {bounds.uploads, bounds.upload_links, bounds.build_logs, bounds.templates})
    if (age.count() > 0) every = std::min(every, age / 2);
  return std::max<std::chrono::milliseconds>(every, std::chrono::seconds(1));
}

}  // namespace

struct Retention::State {
  State(Context& context_, Templates& templates_, Uploads& uploads_)
      : context(context_), templates(templates_), uploads(uploads_), timer(context_.executor) {}
  Context& context;
  Templates& templates;
  Uploads& uploads;
  boost::asio::steady_timer timer;
  bool closed = false;
};

Retention::Retention(Context& context, Templates& templates, Uploads& uploads)
    : state_(std::make_shared<State>(context, templates, uploads)) {
  boost::asio::co_spawn(context.executor, run(state_), boost::asio::detached);
}

Retention::~Retention() {
  state_->closed = true;
  state_->timer.cancel();
}

boost::asio::awaitable<void> Retention::run(std::shared_ptr<State> state) {
  while (!state->closed) {
    state->timer.expires_after(interval(state->context.bounds));
    co_await state->timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (state->closed) co_return;
    co_await sweep(state);
  }
}

boost::asio::awaitable<void> Retention::sweep(std::shared_ptr<State> state) {
  const StoredBounds& bounds = state->context.bounds;
  const WallTime now = state->context.clock.now();
  state->uploads.sweep();
  if (bounds.build_logs.count() > 0) {
    std::string kind = kBuildLogKind;
    auto removed =
        co_await state->context.store.remove_documents_before(std::move(kind), now - bounds.build_logs);
    if (!removed) log::warn("logs of builds could not be removed", {{"error", removed.error().message()}});
  }
  if (state->closed || bounds.templates.count() == 0) co_return;
  auto removed = co_await state->templates.remove_old(now - bounds.templates);
  if (!removed) log::warn("old templates could not be removed", {{"error", removed.error().message()}});
}

}  // namespace atl::api::e2b
