#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "index/embedder.h"
#include "index/vector_index.h"
#include "store/sqlite.h"

namespace atl::index {

// Something that can be found. In collections of tenants `kind` is "point".
struct Document {
  std::string kind, id, title;
  std::string body;                   // what is searched in, beside the title
  std::string payload = "{}";         // a JSON object, for filters and for whoever finds it
  std::optional<Vector> vector = {};  // unset: the embedder makes one of title and body
};

struct Collection {
  std::string name, model;
  std::size_t dimension = 0;
  std::uint64_t points = 0;
  WallTime created_at;
};

struct SearchRequest {
  std::string query;                          // text; empty: only `vector`
  std::optional<Vector> vector;               // instead of the query's own
  std::vector<std::string> kinds;             // empty: all
  std::map<std::string, std::string> filter;  // members of the payload that must be equal, as JSON text
  std::size_t limit = 10, offset = 0;
};

struct Hit {
  std::string kind, id, title, snippet, payload;
  double score = 0;  // 1 the best there can be
};

struct Found {
  std::vector<Hit> hits;
  std::string degraded_because;  // what was left out, and why; empty: nothing
};

// A node is named by kind and id; what it is, others know.
struct Node {
  std::string kind, id;
  auto operator<=>(const Node&) const = default;
};
struct Edge {
  Node from, to;
  std::string type;
  auto operator<=>(const Edge&) const = default;
};
struct GraphQuery {
  Node from;
  std::vector<std::string> types;  // empty: all
  std::size_t depth = 1;           // at most kDepthMax
  std::size_t nodes_max = 1000;
};
struct GraphAnswer {
  std::vector<Node> nodes;  // the first is where it began
  std::vector<Edge> edges;
  bool truncated = false;  // there is more than nodes_max
};

struct Options {
  std::string directory;                 // made if it is missing; empty: in memory
  std::size_t collections_max = 100;     // of a tenant
  std::uint64_t points_max = 1'000'000;  // of a collection
  std::uint64_t documents_max =
      50'000;  // of one kind of a tenant in the service's own collection; the oldest go first
  Clock* clock = &Clock::machine();
};

// What can be found by words, by likeness and by relations: documents of the service (in the collection ""),
// and collections of tenants. A database of its own is the truth; the graphs of vectors are made from it and
// kept beside it, so that a damaged one costs time and nothing else. A tenant's documents are seen by that
// tenant alone, those of the tenant "" by everybody.
//
// Safe from every thread. Calls block: never on the loop.
class Index {
 public:
  static constexpr std::size_t kDepthMax = 8;

  static Result<std::unique_ptr<Index>> open(Options options, std::unique_ptr<Embedder> embedder);
  // Stores the graphs of vectors that changed.
  ~Index();

  const Embedder& embedder() const { return *embedder_; }

  // Collections of a tenant. Making one that is there with the same dimension changes nothing, with another
  // is Code::conflict. Dimension 0: the embedder's.
  Result<Collection> make_collection(const std::string& tenant, const std::string& name,
                                     std::size_t dimension);
  Result<std::vector<Collection>> collections(const std::string& tenant) const;
  Result<Collection> collection(const std::string& tenant, const std::string& name) const;
  Result<void> drop_collection(const std::string& tenant, const std::string& name);

  // All or none of them. Code::not_found for a collection that is not there, Code::invalid_argument for a
  // vector of another dimension, or none where only the caller can make one.
  Result<void> put(const std::string& tenant, const std::string& collection, std::vector<Document> documents);
  // Gives how many there were.
  Result<std::uint64_t> remove(const std::string& tenant, const std::string& collection,
                               const std::vector<std::string>& ids);
  // Replaces all documents of one kind in the service's own collection.
  Result<void> replace_kind(const std::string& tenant, const std::string& kind,
                            std::vector<Document> documents);
  Result<Found> search(const std::string& tenant, const std::string& collection,
                       const SearchRequest& request);

  // Relations. One that is there already stays as it is.
  Result<void> relate(const std::string& tenant, const std::vector<Edge>& edges);
  Result<std::uint64_t> unrelate(const std::string& tenant, const std::vector<Edge>& edges);
  // Along edges in both directions.
  Result<GraphAnswer> walk(const std::string& tenant, const GraphQuery& query) const;

  // Everything of a tenant that is gone.
  Result<void> forget_tenant(const std::string& tenant);
  // Makes the graphs of vectors anew from the database. Gives how many vectors there are.
  Result<std::uint64_t> rebuild();

 private:
  struct Graph {
    std::unique_ptr<VectorIndex> vectors;
    bool is_changed = false;
  };
  using Place = std::pair<std::string, std::string>;  // tenant, collection

  Index(Options options, std::unique_ptr<Embedder> embedder, store::Connection database)
      : options_(std::move(options)), embedder_(std::move(embedder)), database_(std::move(database)) {}
  // All of these belong to a holder of mutex_.
  Result<std::size_t> dimension_of(const Place& place) const;
  Result<VectorIndex*> graph_of(const Place& place);
  Result<std::unique_ptr<VectorIndex>> load_graph(const Place& place, std::size_t dimension) const;
  Result<std::unique_ptr<VectorIndex>> build_graph(const Place& place, std::size_t dimension) const;
  Result<void> store_graph(const Place& place, const VectorIndex& vectors);
  Result<void> put_locked(const Place& place, const std::vector<Document>& documents);
  Result<void> remove_one(const Place& place, std::int64_t number);
  Result<void> forget_oldest(const Place& place);
  Result<void> in_transaction(const std::function<Result<void>()>& work);
  Result<void> rank_by_words(const Place& place, const SearchRequest& request,
                             std::map<std::int64_t, double>& ranks) const;
  Result<void> rank_by_likeness(const Place& place, const SearchRequest& request, const Vector& vector,
                                std::map<std::int64_t, double>& ranks);
  Result<std::optional<Hit>> hit_of(std::int64_t number, const SearchRequest& request) const;
  std::string path_of(const Place& place) const;

  Options options_;
  std::unique_ptr<Embedder> embedder_;
  mutable std::mutex mutex_;
  mutable store::Connection database_;
  std::map<Place, Graph> graphs_;
};

}  // namespace atl::index
