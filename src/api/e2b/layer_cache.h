#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/e2b/context.h"

namespace atl::api::e2b {

// Snapshots of the states between the steps of builds, by what led to them. Documents of the store (kind
// "e2b_layer"); the least recently used go first.
class LayerCache {
 public:
  explicit LayerCache(Context& context) : context_(context) {}

  // The snapshot of that state, if it is kept.
  Task<std::optional<std::string>> find(auth::Principal who, std::string name);
  Task<void> put(auth::Principal who, std::string name, std::string snapshot_id);
  // Whether some layer is this snapshot.
  Task<bool> holds(auth::Principal who, std::string snapshot_id);
  // Forgets layers over the number kept. `is_used` tells snapshots that something else needs.
  Task<void> trim(auth::Principal who, const std::vector<std::string>& used_snapshots);

 private:
  Context& context_;
};

}  // namespace atl::api::e2b
