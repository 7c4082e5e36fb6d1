#pragma once

#include <string>

#include "session/layer_use.h"
#include "session/saved_states.h"
#include "session/session_lifecycle.h"
#include "session/session_networks.h"
#include "session/session_table.h"

namespace atl::session {

// Sessions that are paused, in memory or on the disk. A session that is paused in memory keeps its sandbox,
// whose processes are frozen. One that is paused on the disk (hibernated) has no sandbox: its files and
// interpreters are a saved state, from which the next sandbox is built when it wakes.
//
// Belongs to the loop thread. Calls that take only a Live need the session's turn unless they say that they
// take it.
class Pauses {
 public:
  struct Dependencies {
    SessionTable* table = nullptr;
    SessionLifecycle* lifecycle = nullptr;
    SessionNetworks* networks = nullptr;
    SavedStates* states = nullptr;
    LayerUse* layer_use = nullptr;
    Clock* clock = nullptr;
  };
  // `options` must outlive this.
  Pauses(Dependencies dependencies, const ServiceOptions& options)
      : dependencies_(dependencies), options_(options) {}

  // The session of that id, running, and counted as used now. A paused one that asks for it is resumed first;
  // otherwise Code::conflict naming the state.
  Task<LivePtr> running(Principal who, std::string id);

  // For the calls of Service with these names. They take the turn.
  Task<Session> pause(Principal who, std::string id, PauseRequest request);
  Task<Session> resume(Principal who, std::string id, std::optional<std::chrono::milliseconds> ttl);

  // Writes the state of a running or paused session to the disk and ends its sandbox. The order is: write the
  // state, tell the store, end the sandbox; whenever the service dies in between, either the sandbox or the
  // state is whole. A failure leaves the session as it was.
  Task<void> hibernate(LivePtr live, PauseRequest request, std::string reason);
  // For a session that is paused in memory when the service ends: hibernates as much of it as the disk can
  // hold.
  Task<void> hibernate_at_shutdown(LivePtr live);
  // For a session that is paused in memory for long: hibernates it if nothing would be lost, otherwise leaves
  // it. Takes the turn. If it can neither be written nor paused again, it ends as lost.
  boost::asio::awaitable<void> move_to_disk(LivePtr live);

  // True if it is on the disk for longer than the operator keeps such sessions.
  bool is_kept_too_long(const Live& live) const;
  // Ends such a session. Takes the turn.
  boost::asio::awaitable<void> end_old(LivePtr live);

 private:
  Task<void> pause_held(LivePtr live, PauseRequest request);
  Task<void> resume_held(LivePtr live);
  Task<void> wake(LivePtr live);
  // Code::no_space, with what there is, what may be and what to do, if one more session may not be on the
  // disk.
  Result<void> check_room(const Live& live) const;

  Dependencies dependencies_;
  const ServiceOptions& options_;
};

}  // namespace atl::session
