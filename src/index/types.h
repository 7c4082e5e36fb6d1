#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "index/embedder.h"

namespace atl::index {

// Something that can be found. In collections of tenants `kind` is "point".
struct Document {
  std::string kind, id, title;
  std::string body;                   // what is searched in, beside the title
  std::string payload = "{}";         // a JSON object, for filters and for whoever finds it
  std::optional<Vector> vector = {};  // unset: the embedder makes one of title and body
};

struct Collection {
  std::string name, model;  // of which model its vectors are; empty: the caller makes them
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

// A node is named by kind and id; the index knows nothing else of it.
struct Node {
  std::string kind, id;
  auto operator<=>(const Node&) const = default;
};
struct Edge {
  Node from, to;
  std::string type;
  auto operator<=>(const Edge&) const = default;
};

// Who said so: what a tenant says itself counts against what it may store.
enum class Origin : std::uint8_t { service, tenant };

// Along edges as they point, against them, or both.
enum class Direction : std::uint8_t { out, in, both };

struct GraphQuery {
  Node from;
  std::vector<std::string> types;  // empty: all
  std::size_t depth = 1;           // at most kDepthMax
  std::size_t nodes_max = 1000, edges_max = 10'000;
  Direction direction = Direction::both;
  std::optional<Node> to = {};  // set: only one of the shortest ways to it
};
struct GraphAnswer {
  std::vector<Node> nodes;  // the first is where it began
  std::vector<Edge> edges;
  bool truncated = false;        // there is more than nodes_max or edges_max
  std::string degraded_because;  // as in Found
};

// The name of a member of a payload with its value, as one word: what filters are compared by.
std::string member_word(const std::string& name, const std::string& json_value);

}  // namespace atl::index
