#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/types.h"

namespace atl::index {

struct GraphChange {
  enum class What : std::uint8_t { relate, unrelate, forget_tenant } what = What::relate;
  std::string tenant;
  Edge edge;
};

// Where relations are looked up. Like VectorBackend it may lose everything, because it is filled from the
// catalog; it is safe from every thread and its calls block.
class GraphBackend {
 public:
  virtual ~GraphBackend() = default;
  virtual std::string_view name() const = 0;
  virtual bool is_server() const = 0;
  // Applies the changes in their order. Applying one again changes nothing.
  virtual Result<void> apply(std::span<const GraphChange> changes) = 0;
  // The edges of these nodes, at most `limit` of each.
  virtual Result<std::vector<Edge>> edges_of(const std::string& tenant, std::span<const Node> nodes,
                                             const std::vector<std::string>& types, Direction direction,
                                             std::size_t limit) = 0;
  // How many edges it has, of all tenants.
  virtual Result<std::uint64_t> count() = 0;
  // Removes every edge of this catalog.
  virtual Result<void> clear() = 0;
};

// Walks from a node along edges, layer by layer, over any backend; the query's depth and nodes_max bound it.
Result<GraphAnswer> walk(GraphBackend& backend, const std::string& tenant, const GraphQuery& query);

}  // namespace atl::index
