#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <optional>
#include <string>
#include <vector>

#include "registry/registry.h"
#include "session/layer_use.h"
#include "session/saved_states.h"
#include "session/session_networks.h"
#include "session/session_skills.h"
#include "session/session_table.h"
#include "volume/volumes.h"

namespace atl::session {

// What becomes of the interpreters of a saved state when a sandbox is built from it.
enum class Interpreters : std::uint8_t { fresh, carried };

// The beginning and the end of sessions: builds the sandbox of a session, brings a draft up to running, stops
// a session, and notices when a sandbox ends by itself.
//
// Belongs to the loop thread. Calls that change a session that is in the table ("held") need the session's
// turn.
class SessionLifecycle {
 public:
  struct Dependencies {
    boost::asio::any_io_executor executor;
    SessionTable* table = nullptr;
    SessionNetworks* networks = nullptr;
    SavedStates* states = nullptr;
    LayerUse* layer_use = nullptr;
    const registry::Registry* registry = nullptr;
    volume::Volumes* volumes = nullptr;  // null: no session can mount one
    Clock* clock = nullptr;
    Observer* observer = nullptr;           // may be null
    const SessionSkills* skills = nullptr;  // null: there are none
  };
  explicit SessionLifecycle(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

  // From a draft to a session that runs and is stored. `state` is the name of the saved state to start from,
  // if any. After a failure the session is not in the table; the store says failed, or nothing if it could
  // not be written either.
  Task<Session> bring_up(LivePtr live, std::optional<std::string> state, Interpreters interpreters);

  // Gives a held session a new sandbox. After a failure it has none.
  Task<void> build(LivePtr live, std::optional<std::string> state, Interpreters interpreters);

  // Freezes or thaws the processes of a held session's sandbox; its state is the caller's matter. Passing
  // failures of the provider are tried again.
  Task<void> pause_sandbox(LivePtr live);
  Task<void> resume_sandbox(LivePtr live);

  // Ends a held session in the final state `end`: its sandbox, what only it has on the disk, its place in the
  // table. One that has ended already stays as it is. The end is true even when the sandbox did not end
  // cleanly (the state is then lost and says so) or when it cannot be stored at once
  // (SessionTable::store_end).
  Task<void> stop(LivePtr live, State end, std::string reason);
  // The same for callers that nobody waits for: a failure is logged.
  boost::asio::awaitable<void> stop_or_log(LivePtr live, State end, std::string reason);

  // Stops the session as lost when its present sandbox ends by itself.
  void watch(const LivePtr& live);

 private:
  Result<sandbox::Spec> spec_of(const Live& live, const registry::Environment& environment,
                                std::optional<std::string> state, Interpreters interpreters);
  Task<std::vector<sandbox::HostMount>> volume_mounts(Session facts) const;
  // Of a session whose skills are mounted.
  Task<std::vector<sandbox::HostMount>> skill_mounts(Session facts, std::string directory) const;
  // Makes what every session has in its sandbox: a directory for output, its network, and copies of its
  // skills where they cannot be mounted in `directory`.
  Task<void> prepare_inside(LivePtr live, std::string directory);
  boost::asio::awaitable<void> watch_end(LivePtr live, std::shared_ptr<sandbox::Sandbox> sandbox);

  Dependencies dependencies_;
};

}  // namespace atl::session
