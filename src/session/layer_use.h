#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "layer/store.h"
#include "registry/registry.h"

namespace atl::session {

// Which layers sandboxes and snapshots need, told to the layer store so that nobody removes them: a sandbox
// from before it is made until it ended, a snapshot as long as it is stored. A snapshot stands on the layers
// that its sandbox had, whatever its environment became since.
class LayerUse {
 public:
  // Null: there is no store; environments have the directories they name.
  explicit LayerUse(layer::Store* store) : store_(store) {}

  struct Taken {
    std::vector<std::string> paths;  // lowest first
    std::string recipe;              // that made them; empty: not one recipe alone
  };
  // The layers for a new sandbox; `snapshot` is what it starts from, or empty.
  Result<Taken> take(const std::string& sandbox, const registry::Environment& environment,
                     const std::string& snapshot);
  // What the snapshot needs is what its sandbox has. Waits for the disk.
  Result<void> keep(const std::string& snapshot, const std::string& sandbox);
  void end_sandbox(const std::string& sandbox);
  void end_snapshot(const std::string& snapshot);
  // Forgets sandboxes that are not among these: they ended without us.
  void reconcile(const std::set<std::string>& sandboxes);

 private:
  layer::Store* store_;
};

}  // namespace atl::session
