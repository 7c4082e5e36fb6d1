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

// Where relations are looked up. Like VectorBackend: filled from the catalog, safe from every thread.
class GraphBackend {
 public:
  virtual ~GraphBackend() = default;
  virtual std::string_view name() const = 0;
  virtual bool is_server() const = 0;
  // In their order; again changes nothing.
  virtual Result<void> apply(std::span<const GraphChange> changes) = 0;
  // The edges of these nodes, at most `limit` of each.
  virtual Result<std::vector<Edge>> edges_of(const std::string& tenant, std::span<const Node> nodes,
                                             const std::vector<std::string>& types, Direction direction,
                                             std::size_t limit) = 0;
  virtual Result<std::uint64_t> count() = 0;
  virtual Result<void> clear() = 0;
};

// From a node along edges, layer by layer, over any backend: bounded by depth and by nodes.
Result<GraphAnswer> walk(GraphBackend& backend, const std::string& tenant, const GraphQuery& query);

}  // namespace atl::index
