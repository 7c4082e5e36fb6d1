#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <set>
#include <string>
#include <vector>

#include "os/task.h"
#include "session/layer_use.h"
#include "session/live.h"
#include "session/providers.h"
#include "session/session_table.h"

namespace atl::session {

// The directories that hold states of sandboxes on the disk: snapshots, which clients know by their ids, and
// the states of forks and hibernations, which only sessions know by these names. This is the one place that
// makes, measures and removes them. The store's rows about snapshots are not kept here (snapshots.h).
//
// Belongs to the loop thread; what waits for the disk runs on a thread of its own. The destructor waits for
// that thread.
class SavedStates {
 public:
  struct Dependencies {
    boost::asio::any_io_executor executor;
    const SessionTable* table = nullptr;
    LayerUse* layer_use = nullptr;
    Providers providers;
  };
  // An empty directory: this service keeps no states, is_enabled() is false and nothing else may be called.
  SavedStates(Dependencies dependencies, std::string directory)
      : dependencies_(std::move(dependencies)), directory_(std::move(directory)) {}
  ~SavedStates() { disk_.join(); }
  SavedStates(const SavedStates&) = delete;
  SavedStates& operator=(const SavedStates&) = delete;

  bool is_enabled() const { return !directory_.empty(); }
  // Makes the directory if there is none. Success without doing anything if !is_enabled().
  Result<void> prepare() const;
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  static std::string name_of_fork(const std::string& sandbox_id) { return "fork_" + sandbox_id; }
  static std::string name_of_hibernation(const std::string& incarnation) { return "hib_" + incarnation; }

  // The files of the session's sandbox, which keeps running. A failure leaves nothing behind. The caller has
  // the turn.
  Task<void> take_snapshot(LivePtr live, std::string name);
  // The same with the memory of its interpreters, where they can be carried.
  Task<sandbox::Carried> take_checkpoint(LivePtr live, std::string name, sandbox::CheckpointOptions options);
  // Removes the state and what the layer store knows of it. `provider` may be null: then the files are
  // removed directly, which fails for files of ids that only the provider has power over.
  Task<void> remove(std::string name, sandbox::Provider* provider);
  // The memory of interpreters beside a state; its files stay.
  void discard_interpreters(sandbox::Provider& provider, const std::string& name) const {
    provider.discard_interpreters(path(name));
  }
  // Of these names, removes the states of forks and hibernations that no session but `live` stands on and
  // that nobody copies just now. In the background; failures are left to sweep().
  void discard(const Live& live, const std::vector<std::string>& names);
  // While copies are made of a state, discard() leaves it.
  void begin_copies(const std::string& name) { copied_.insert(name); }
  void end_copies(const std::string& name) { copied_.erase(name); }
  // Removes directories that are not among `known` and older than an hour: a younger one may be in the
  // making.
  Task<void> sweep(std::set<std::string> known);

 private:
  Task<void> keep_layers(LivePtr live, std::string name);

  Dependencies dependencies_;
  std::string directory_;
  std::set<std::string> copied_;
  boost::asio::thread_pool disk_{1};
  // Apart from it: half a million files are removed in many seconds, and nobody's snapshot waits for that.
  boost::asio::thread_pool removing_{1};
};

}  // namespace atl::session
