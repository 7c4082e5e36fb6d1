#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <string>

#include "quota/controller.h"
#include "session/live.h"
#include "store/store.h"

namespace atl::session {

// CPU time that no execution answers for: of programs that were left in the background, and of threads that
// an interpreter left running. It is charged to the session's owner. Once the owner has no CPU time left for
// today, a session that goes on using some is put aside, and one whose execution cannot be ended is ended.
// Belongs to the loop thread.
class BackgroundCpu {
 public:
  // What a session may still use when nothing is left, all its life until there is some again: reading a few
  // files takes a little. It is charged as well.
  static constexpr std::chrono::milliseconds kAllowance{100};

  struct Dependencies {
    boost::asio::any_io_executor executor;
    quota::ResourceController* controller = nullptr;  // null: nothing is counted
    store::Store* store = nullptr;
    Clock* clock = nullptr;
    // Pauses the session, or ends it where it cannot be paused.
    std::function<boost::asio::awaitable<void>(LivePtr, std::string reason)> put_aside;
    // Ends it.
    std::function<boost::asio::awaitable<void>(LivePtr, std::string reason)> end;
  };
  // Sessions of owners whose CPU time nobody bounds are looked at every `unbounded_pause`.
  BackgroundCpu(Dependencies dependencies, std::chrono::milliseconds unbounded_pause)
      : dependencies_(std::move(dependencies)), unbounded_pause_(unbounded_pause) {}

  // For every running session, often: starts a look if one is due. This must outlive the looks.
  void look(const LivePtr& live);
  // Stores what was charged since the last call; what cannot be stored is tried again with the next. Usage
  // that records tell of is stored with them.
  boost::asio::awaitable<void> save();

 private:
  boost::asio::awaitable<void> measure(LivePtr live, std::shared_ptr<sandbox::Sandbox> in);
  void charge(const Live& live, std::chrono::microseconds used);
  boost::asio::awaitable<void> hold_to_quota(LivePtr live, std::chrono::microseconds used);

  Dependencies dependencies_;
  std::chrono::milliseconds unbounded_pause_;
  std::map<std::string, store::UsageRow> unsaved_;  // by session
};

}  // namespace atl::session
