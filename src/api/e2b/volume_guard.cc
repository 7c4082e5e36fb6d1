#include "api/e2b/volume_guard.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>

#include "session/subject.h"

namespace atl::api::e2b {
namespace {

constexpr std::chrono::seconds kEvery{2};
constexpr int kUncountedMax = 5;
constexpr int kShare = 20;  // at most a twentieth of the time is spent counting

}  // namespace

struct VolumeGuard::State {
  explicit State(Context& context_) : context(context_), timer(context_.executor) {}
  Context& context;
  boost::asio::steady_timer timer;
  bool closed = false;
  // Volumes that could not be counted the last times, because directories in them were being moved.
  std::map<std::string, int> uncounted;
};

VolumeGuard::VolumeGuard(Context& context) : state_(std::make_shared<State>(context)) {
  boost::asio::co_spawn(context.executor, watch(state_), boost::asio::detached);
}

VolumeGuard::~VolumeGuard() {
  state_->closed = true;
  state_->timer.cancel();
}

boost::asio::awaitable<void> VolumeGuard::watch(std::shared_ptr<State> state) {
  std::chrono::steady_clock::duration pause = kEvery;
  while (!state->closed) {
    state->timer.expires_after(pause);
    co_await state->timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (state->closed) co_return;
    const auto begun = std::chrono::steady_clock::now();
    co_await look(state);
    pause = std::max<std::chrono::steady_clock::duration>(
        kEvery, (std::chrono::steady_clock::now() - begun) * kShare);
  }
}

Task<bool> VolumeGuard::is_over(std::shared_ptr<State> state, session::Session session) {
  for (const auto& [path, name] : session.volumes) {
    CO_TRY(const volume::Volume volume, co_await state->context.volumes.get(session.tenant, name));
    if (volume.enforced == volume::Enforcement::filesystem) continue;
    auto room = co_await state->context.volumes.mountable(volume);
    if (!room && room.error().code() == Code::no_space) co_return true;
    if (room) state->uncounted.erase(volume.id);
    // Once is chance; who moves directories all the time hides what they hold.
    if (!room && room.error().code() == Code::unavailable && ++state->uncounted[volume.id] >= kUncountedMax)
      co_return true;
    if (state->closed) break;
  }
  co_return false;
}

boost::asio::awaitable<void> VolumeGuard::look(std::shared_ptr<State> state) {
  for (session::Session& session : state->context.service.peek_all()) {
    if (session.volumes.empty() || session.state != session::State::running) continue;
    const auto over = co_await is_over(state, session);
    if (state->closed) co_return;
    if (!over || !*over) continue;
    auto paused =
        co_await state->context.service.pause(session::Service::owner(session), session.session_id, {});
    if (state->closed) co_return;
    if (paused)
      log::warn(session::subject_of(session), "a sandbox was paused: its volume is full",
                {{"sandbox_id", session.sandbox_id}});
  }
}

}  // namespace atl::api::e2b
