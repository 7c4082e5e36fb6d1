#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <string>
#include <vector>

#include "session/drafts.h"
#include "session/pauses.h"
#include "session/saved_states.h"
#include "session/service.h"
#include "session/session_lifecycle.h"

namespace atl::session {

// Copies of running sessions. A fork writes one state of its source and builds all copies from it at once.
//
// Belongs to the loop thread. Must outlive the copies that are being made, whether or not the caller still
// waits.
class Forks {
 public:
  struct Dependencies {
    boost::asio::any_io_executor executor;
    SessionTable* table = nullptr;
    const Drafts* drafts = nullptr;
    SessionLifecycle* lifecycle = nullptr;
    Pauses* pauses = nullptr;
    SavedStates* states = nullptr;
    Clock* clock = nullptr;
  };
  explicit Forks(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

  // For Service::fork(). Takes the source's turn while its state is written, not while the copies are built.
  // If there is room for some of the copies, those are made; if there is none, nothing is.
  Task<Forked> fork(Principal who, std::string id, ForkRequest request);

 private:
  Task<std::vector<Result<Session>>> bring_up_all(std::vector<LivePtr> copies, std::string state,
                                                  Interpreters interpreters);

  Dependencies dependencies_;
};

}  // namespace atl::session
