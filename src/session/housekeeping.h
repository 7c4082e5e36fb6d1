#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <string>

#include "session/background_cpu.h"
#include "session/pauses.h"
#include "session/saved_states.h"
#include "session/session_lifecycle.h"
#include "session/session_table.h"
#include "session/snapshots.h"
#include "store/blobs.h"
#include "store/store.h"

namespace atl::session {

// What happens without being asked for: ends of time to live and of idle sessions, metrics samples, CPU time
// in the background, late writes, pauses that move to the disk, and the removal of what is kept for long
// enough.
//
// Belongs to the loop thread. Works in one loop that looks every 100 ms, so everything may come that much
// late. Nobody waits for it: failures are logged and what failed is tried again later.
class Housekeeping {
 public:
  struct Dependencies {
    boost::asio::any_io_executor executor;
    SessionTable* table = nullptr;
    SessionLifecycle* lifecycle = nullptr;
    Pauses* pauses = nullptr;
    Snapshots* snapshots = nullptr;
    SavedStates* states = nullptr;
    store::Store* store = nullptr;
    store::Blobs* blobs = nullptr;  // null: no artifacts are kept
    Clock* clock = nullptr;
    quota::ResourceController* controller = nullptr;  // null: CPU time in the background is not counted
    Observer* observer = nullptr;                     // may be null
  };
  // `options` must outlive this.
  Housekeeping(Dependencies dependencies, const ServiceOptions& options);

  // Once. Ends by itself when the table is ending; stop() makes that happen at once. This must outlive the
  // loop.
  void start();
  void stop() { timer_.cancel(); }

 private:
  boost::asio::awaitable<void> run();
  // What is due among the sessions now. Starts it, and gives those that must be written.
  std::vector<LivePtr> look_at_sessions();
  boost::asio::awaitable<void> write(std::vector<LivePtr> due);
  // If the wall clock was set, tells the sessions.
  void follow_wall_clock();
  boost::asio::awaitable<void> expire(LivePtr live, std::string reason);
  // Pauses a running session, or ends it where that cannot be.
  boost::asio::awaitable<void> put_aside(LivePtr live, std::string reason);
  boost::asio::awaitable<void> end(LivePtr live, std::string reason);
  // The same with the session's turn held.
  boost::asio::awaitable<void> put_aside_held(LivePtr live, std::string reason);
  boost::asio::awaitable<void> take_sample(LivePtr live);

  bool is_clean_up_due() const;
  boost::asio::awaitable<void> clean_up();
  // Each gives true if something was removed that may have been the last to name an artifact.
  Task<bool> remove_old_rows(WallTime now);
  boost::asio::awaitable<bool> trim_artifacts();
  boost::asio::awaitable<void> collect_artifacts();
  boost::asio::awaitable<void> collect_states();

  template <class Coroutine>
  void spawn(Coroutine coroutine);

  Dependencies dependencies_;
  const ServiceOptions& options_;
  boost::asio::steady_timer timer_;
  BackgroundCpu background_;
  SteadyTime artifacts_due_until_{};  // until then there may be artifacts that nothing names
  SteadyTime next_clean_up_{}, next_usage_{};
  WallTime started_wall_{};
  SteadyTime started_steady_{};
  Duration wall_ahead_{};  // the wall clock's lead over the steady one, when last looked at
};

}  // namespace atl::session
