#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "index/graph_backend.h"
#include "index/index.h"

namespace atl::index {
namespace {

// Nodes that a backend is asked for at once: those of a dense graph have many edges, and others wait for the
// same database.
constexpr std::size_t kNodesAtOnce = 64;

class Walk {
 public:
  Walk(GraphBackend& backend, const std::string& tenant, const GraphQuery& query)
      : backend_(backend), tenant_(tenant), query_(query), known_({query.from}) {
    answer_.nodes.push_back(query.from);
  }

  Result<GraphAnswer> run() {
    std::vector<Node> front = {query_.from};
    for (std::size_t step = 0; step < std::min(query_.depth, Index::kDepthMax) && !front.empty(); ++step) {
      if (query_.to && known_.contains(*query_.to)) break;
      std::vector<Node> next;
      for (std::size_t at = 0; at < front.size() && !is_full_; at += kNodesAtOnce)
        TRY(step_from(std::span(front).subspan(at, std::min(kNodesAtOnce, front.size() - at)), next));
      front = std::move(next);
      if (is_full_) break;
    }
    if (query_.to) return way_to(*query_.to);
    answer_.edges.assign(edges_.begin(), edges_.end());
    return std::move(answer_);
  }

 private:
  Result<void> step_from(std::span<const Node> front, std::vector<Node>& next) {
    auto edges = TRY(backend_.edges_of(tenant_, front, query_.types, query_.direction, query_.nodes_max + 1));
    // The same order, whoever answered.
    std::ranges::sort(edges);
    const std::set<Node> from(front.begin(), front.end());
    for (const Edge& edge : edges) {
      if (query_.direction != Direction::in && from.contains(edge.from)) take(edge, edge.to, next);
      if (query_.direction != Direction::out && from.contains(edge.to)) take(edge, edge.from, next);
    }
    return {};
  }

  void take(const Edge& edge, const Node& other, std::vector<Node>& next) {
    if (edges_.size() >= query_.edges_max && !edges_.contains(edge)) {
      answer_.truncated = is_full_ = true;
      return;
    }
    if (!known_.contains(other)) {
      if (known_.size() >= query_.nodes_max) {
        answer_.truncated = true;
        return;
      }
      known_.insert(other);
      came_by_.emplace(other, edge);
      answer_.nodes.push_back(other);
      next.push_back(other);
    }
    edges_.insert(edge);
  }

  // Back from the end to where it began; nothing if the end was not reached.
  GraphAnswer way_to(const Node& end) {
    GraphAnswer way;
    way.truncated = answer_.truncated;
    if (!known_.contains(end)) return way;
    for (Node at = end; at != query_.from;) {
      const Edge& edge = came_by_.at(at);
      way.nodes.push_back(at);
      way.edges.push_back(edge);
      at = edge.from == at ? edge.to : edge.from;
    }
    way.nodes.push_back(query_.from);
    std::ranges::reverse(way.nodes);
    std::ranges::reverse(way.edges);
    return way;
  }

  GraphBackend& backend_;
  const std::string& tenant_;
  const GraphQuery& query_;
  GraphAnswer answer_;
  std::set<Node> known_;
  std::set<Edge> edges_;
  std::map<Node, Edge> came_by_;
  bool is_full_ = false;  // of edges
};

}  // namespace

Result<GraphAnswer> walk(GraphBackend& backend, const std::string& tenant, const GraphQuery& query) {
  return Walk(backend, tenant, query).run();
}

}  // namespace atl::index
