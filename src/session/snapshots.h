#pragma once

#include <string>

#include "session/pauses.h"
#include "session/providers.h"
#include "session/saved_states.h"
#include "session/session_lifecycle.h"
#include "session/session_table.h"
#include "store/store.h"

namespace atl::session {

// Snapshots as clients know them: a row of the store and a saved state with the same id, of one tenant. The
// calls are those of Service; see service.h for what they promise. A failure leaves neither a row without its
// state nor a state without its row, except that a state which cannot be removed stays until
// SavedStates::sweep().
//
// Belongs to the loop thread.
class Snapshots {
 public:
  struct Dependencies {
    SessionTable* table = nullptr;
    SessionLifecycle* lifecycle = nullptr;
    Pauses* pauses = nullptr;
    SavedStates* states = nullptr;
    LayerUse* layer_use = nullptr;
    Providers providers;
    store::Store* store = nullptr;
    Clock* clock = nullptr;
  };
  // `options` must outlive this.
  Snapshots(Dependencies dependencies, const ServiceOptions& options)
      : dependencies_(std::move(dependencies)), options_(options) {}

  Task<Snapshot> take(Principal who, std::string id, std::string name, TextMap attributes);
  Task<Session> restore(Principal who, std::string id, std::string snapshot_id);
  Task<Page<Snapshot>> list(Principal who, std::string id, std::uint32_t limit, std::string cursor) const;
  Task<Snapshot> get(Principal who, std::string snapshot_id) const;
  Task<void> remove(Principal who, std::string snapshot_id);

  // Removes snapshots that are older than the operator keeps them. One that a session stands on stays, and so
  // does one that is part of something else (kPartAttribute).
  Task<void> remove_old();
  // The states of all snapshots that the store knows.
  Task<std::vector<std::string>> ids() const { return dependencies_.store->snapshot_ids(); }

 private:
  // Code::no_space, with what there is, what may be and what to do, if one more of that size would be too
  // much.
  Task<void> check_room(std::string tenant, std::uint64_t more_bytes) const;

  Dependencies dependencies_;
  const ServiceOptions& options_;
};

}  // namespace atl::session
