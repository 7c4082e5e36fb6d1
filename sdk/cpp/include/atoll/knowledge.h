#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "atoll/client.h"

/// @file
/// What agents know: search by meaning over tools, skills, prompts and history, collections of one's own, and
/// relations.
///
///     atl::client::Knowledge knowledge{client};
///     for (const auto& hit : knowledge.search("something that reads tables", {.kinds = {"tool"}}).hits)
///       std::cout << hit.id << '\n';
///     knowledge.make_collection("notes");
///     knowledge.put_points("notes", {{.id = "1", .text = "The tide is high at noon."}});
///     knowledge.search_points("notes", {.query = "when is high water"});
namespace atl::client {

/// One thing that was found.
struct Hit {
  std::string kind;
  std::string id;    ///< of a tool or a skill its name
  double score = 0;  ///< 0 to 1
  std::string title;
  std::string snippet;
  Json payload;  ///< of a point, as it was put; null if it has none
};

/// What was found, the best first.
struct Found {
  std::vector<Hit> hits;
  bool degraded = false;  ///< something was left out
  std::string reason;     ///< what, and why
};

struct SearchOptions {
  /// session, execution, artifact, snapshot, tool, skill, agent, prompt; none: all of them
  std::vector<std::string> kinds;
  std::optional<int> limit;   ///< 1 to 100; the service's choice is 10
  std::optional<int> offset;  ///< how many of the best to leave out
};

struct Collection {
  std::string name;
  std::int64_t dimension = 0;
  std::string model;  ///< what makes vectors of text; empty: the caller makes them
  std::int64_t points = 0;
  std::string created_at;
};

/// Something in a collection: a text, or a vector that the caller made, or both.
struct Point {
  std::string id;
  std::string title = {};
  std::string text = {};
  std::vector<float> vector = {};
  Json payload = {};  ///< an object, or null for none
};

/// By words and meaning of `query`, by a vector, or by both.
struct PointSearch {
  std::string query = {};
  std::vector<float> vector = {};
  Json filter = {};  ///< members of the payload that must be equal; null: none
  std::optional<int> limit = {};
  std::optional<int> offset = {};
};

/// A session, an execution, an artifact, a snapshot, a tool, a skill, an agent, or whatever a user relates.
struct Node {
  std::string kind;
  std::string id;
  bool operator==(const Node&) const = default;
};

struct Edge {
  Node from;
  Node to;
  std::string type;
  bool operator==(const Edge&) const = default;
};

struct RelatedOptions {
  std::optional<Node> to = {};          ///< one of the shortest ways to it, instead of everything around
  std::vector<std::string> edges = {};  ///< types to follow; none: all
  std::string direction = {};           ///< out, in or both; empty: both
  std::optional<int> depth = {};        ///< 1 to 8; the service's choice is 1
  std::optional<int> limit = {};        ///< nodes, 1 to 1000
};

struct Related {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  bool truncated = false;  ///< there is more than the limit
  bool degraded = false;   ///< another than the chosen backend answered
  std::string reason;
};

/// The index and the relations of a service, as a tenant sees them. A handle: copies share the client. Any
/// thread.
class Knowledge {
 public:
  explicit Knowledge(SandboxClient client) : client_(std::move(client)) {}

  Found search(std::string query, SearchOptions options = {}, CallOptions call = {}) const {
    return search_async(std::move(query), std::move(options), std::move(call)).get();
  }
  Async<Found> search_async(std::string query, SearchOptions options = {}, CallOptions call = {}) const;

  std::vector<Collection> collections(CallOptions call = {}) const {
    return collections_async(std::move(call)).get();
  }
  Async<std::vector<Collection>> collections_async(CallOptions call = {}) const;
  Collection collection(std::string name, CallOptions call = {}) const {
    return collection_async(std::move(name), std::move(call)).get();
  }
  Async<Collection> collection_async(std::string name, CallOptions call = {}) const;
  /// `dimension`: the caller makes the vectors. One that is there stays as it is; ConflictError if that is of
  /// another dimension.
  Collection make_collection(std::string name, std::optional<int> dimension = {},
                             CallOptions call = {}) const {
    return make_collection_async(std::move(name), dimension, std::move(call)).get();
  }
  Async<Collection> make_collection_async(std::string name, std::optional<int> dimension = {},
                                          CallOptions call = {}) const;
  void remove_collection(std::string name, CallOptions call = {}) const {
    remove_collection_async(std::move(name), std::move(call)).get();
  }
  Async<void> remove_collection_async(std::string name, CallOptions call = {}) const;

  /// All or none of them, at most 1,000; those whose id is there are replaced. Gives how many.
  std::int64_t put_points(std::string collection, std::vector<Point> points, CallOptions call = {}) const {
    return put_points_async(std::move(collection), std::move(points), std::move(call)).get();
  }
  Async<std::int64_t> put_points_async(std::string collection, std::vector<Point> points,
                                       CallOptions call = {}) const;
  /// Gives how many were there.
  std::int64_t remove_points(std::string collection, std::vector<std::string> ids,
                             CallOptions call = {}) const {
    return remove_points_async(std::move(collection), std::move(ids), std::move(call)).get();
  }
  Async<std::int64_t> remove_points_async(std::string collection, std::vector<std::string> ids,
                                          CallOptions call = {}) const;
  Found search_points(std::string collection, PointSearch search, CallOptions call = {}) const {
    return search_points_async(std::move(collection), std::move(search), std::move(call)).get();
  }
  Async<Found> search_points_async(std::string collection, PointSearch search, CallOptions call = {}) const;

  /// What is around something, or the way from it to something else.
  Related related(Node from, RelatedOptions options = {}, CallOptions call = {}) const {
    return related_async(std::move(from), std::move(options), std::move(call)).get();
  }
  Async<Related> related_async(Node from, RelatedOptions options = {}, CallOptions call = {}) const;
  /// Adds an edge of the tenant's own. One that is there stays.
  void relate(Edge edge, CallOptions call = {}) const {
    relate_async(std::move(edge), std::move(call)).get();
  }
  Async<void> relate_async(Edge edge, CallOptions call = {}) const;
  /// False if there was no such edge of the tenant's own.
  bool unrelate(Edge edge, CallOptions call = {}) const {
    return unrelate_async(std::move(edge), std::move(call)).get();
  }
  Async<bool> unrelate_async(Edge edge, CallOptions call = {}) const;

 private:
  SandboxClient client_;
};

}  // namespace atl::client
