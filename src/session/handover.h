#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <string>
#include <vector>

#include "session/drafts.h"
#include "session/execution_engine.h"
#include "session/pauses.h"
#include "session/providers.h"
#include "session/session_lifecycle.h"
#include "session/session_networks.h"
#include "session/session_table.h"
#include "store/store.h"

namespace atl::session {

// What one run of the service leaves to the next. At the start it brings the store and the sandboxes that
// still exist into agreement, whatever happened before; at the end it stops or hibernates every session.
//
// Belongs to the loop thread. take_back_all() is called once, before any other call reaches the service.
class Handover {
 public:
  struct Dependencies {
    boost::asio::any_io_executor executor;
    SessionTable* table = nullptr;
    const Drafts* drafts = nullptr;
    SessionLifecycle* lifecycle = nullptr;
    Pauses* pauses = nullptr;
    SessionNetworks* networks = nullptr;
    ExecutionEngine* engine = nullptr;
    LayerUse* layer_use = nullptr;
    Providers providers;
    store::Store* store = nullptr;
    Clock* clock = nullptr;
  };
  // `options` must outlive this.
  Handover(Dependencies dependencies, const ServiceOptions& options)
      : dependencies_(std::move(dependencies)), options_(options) {}

  // Sandboxes that a session owns are taken back; sessions without their sandbox become lost; sandboxes
  // without a session are ended; records of executions that no longer run become interrupted. Fails if the
  // store cannot be read or written.
  Task<void> take_back_all();
  // Ends every session with this reason, all at once. Sessions on the disk stay there, sessions that are
  // paused in memory are hibernated if they can be, and those whose files are in a storage lose only their
  // sandbox: all of them go on with the next service.
  Task<void> end_all(std::string reason);

 private:
  using Adoptable = std::map<std::string, sandbox::Provider*>;  // by incarnation

  Task<Adoptable> find_adoptable() const;
  // Each adds the records of commands that still run.
  Task<void> take_back(const store::SessionRow& row, Adoptable& adoptable,
                       std::vector<std::string>& still_running);
  Task<void> rebuild(LivePtr live);
  Task<void> go_on(LivePtr live, std::vector<std::string>& still_running);
  Task<void> find_commands(LivePtr live, std::vector<std::string>& still_running);
  boost::asio::awaitable<void> end_orphans(Adoptable orphans);
  Task<void> end_one(LivePtr live, std::string reason);

  Dependencies dependencies_;
  const ServiceOptions& options_;
};

}  // namespace atl::session
