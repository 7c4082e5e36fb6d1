#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <unordered_map>
#include <vector>

#include "auth/principal.h"
#include "base/clock.h"
#include "quota/controller.h"
#include "quota/inventory.h"
#include "session/live.h"
#include "session/observer.h"
#include "session/service_options.h"
#include "store/store.h"

namespace atl::session {

using auth::Principal;

// The sessions of this machine: which are live, whose they are, in which state, and what the store knows of
// them. All other parts of the service find sessions here and change their states here; none of them keeps
// sessions itself.
//
// Owns the Live of every session until forget(). Belongs to the loop thread. Iterating needs care: a session
// may be added or forgotten during every co_await, so loops that wait copy first (copy_all).
class SessionTable {
 public:
  struct Dependencies {
    store::Store* store = nullptr;
    Clock* clock = nullptr;
    Observer* observer = nullptr;                     // may be null
    quota::ResourceController* controller = nullptr;  // null: only the bounds of `options` hold
    quota::Inventory* inventory = nullptr;            // null: what is stored has no quota
  };
  // `options` must outlive this.
  SessionTable(Dependencies dependencies, const ServiceOptions& options);

  // Look-up. An `id` is a session_id or a sandbox_id. Another tenant's session gets the same answer as one
  // that does not exist: Code::not_found.

  // Null if no live session has this id. Asks for no tenant.
  LivePtr find(const std::string& id) const;
  // The live session. Code::conflict naming the state if it has ended.
  Task<LivePtr> live(Principal who, std::string id);
  // Also of a session that has ended, as long as the store has it.
  Task<Session> get(Principal who, std::string id);
  // From the store, whether or not the session is live.
  Task<Session> stored(Principal who, std::string id);
  Task<Page<Session>> list(Principal who, ListRequest request);
  auto all() const { return std::views::values(by_session_); }
  std::vector<LivePtr> copy_all() const { return {all().begin(), all().end()}; }
  std::size_t size() const { return by_session_.size(); }

  void add(const LivePtr& live);
  void forget(const LivePtr& live);

  // Code::resource_exhausted or Code::unavailable if one more session of the tenant may not run. `one` is
  // that session if it is in the table already. Nothing may be awaited between this call and the change that
  // makes it count.
  Result<void> admit(const std::string& tenant, const Live* one) const;

  // Whether the session is a new one or goes on.
  enum class Begin : std::uint8_t { created, resumed };
  // The same for this session, which is about to run, and counts it against the quotas of its tenant and key:
  // Code::resource_exhausted with the facts of auth::over_quota. Held until the session no longer runs.
  Result<void> admit(const LivePtr& live, Begin begin);
  // Counts the session against quotas as it is now.
  void count(const Live& live);
  // Room for so many bytes more on the disk of what the tenant keeps (quota/inventory.h): auth::over_quota.
  Task<quota::Reservation> reserve_stored(std::string tenant, std::string key_id, std::uint64_t bytes) const;
  // Of the tenant's sessions that are paused on the disk.
  std::uint64_t bytes_on_disk(std::string_view tenant) const;

  // Changes the state and tells the observer. A change that the table of state.h does not have is logged as a
  // defect and not made.
  void enter(const LivePtr& live, State state, std::string reason);
  // Tells the observer that this session is here, in the state that it has.
  void announce(const LivePtr& live);
  // Code::invalid_argument with the field if a session may not live so long, or not at all.
  Result<void> check_ttl(std::optional<std::chrono::milliseconds> ttl) const;
  // Code::invalid_argument if the time to live is out of range; then nothing is changed.
  Result<void> apply(Live& live, const UpdateRequest& request) const;
  // Writes the facts, and the network log if it changed. A failure leaves the session marked as changed, so
  // that housekeeping writes it later.
  Task<void> save(LivePtr live);
  // Writes a session in a final state and forgets it. If it cannot be written, the session stays in memory,
  // where it is seen as ended, and housekeeping tries again; that is no failure of this call.
  Task<void> store_end(LivePtr live);

  // Set once, when the service shuts down: from then on no session begins.
  bool is_ending() const { return ending_; }
  void begin_ending() { ending_ = true; }

 private:
  Dependencies dependencies_;
  const ServiceOptions& options_;
  std::unordered_map<std::string, LivePtr> by_session_;
  std::unordered_map<std::string, LivePtr> by_sandbox_;
  bool ending_ = false;
};

}  // namespace atl::session
