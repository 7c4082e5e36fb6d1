#include "atoll/knowledge.h"

#include <fmt/format.h>

namespace atl::client {
namespace {

// What `read` makes of an answer; a member that is missing or of another kind is a ProtocolError.
template <class Read>
auto read_answer(const char* what, Read read) {
  try {
    return read();
  } catch (const JsonError& error) {
    throw ProtocolError(fmt::format("the {} of the answer: {}", what, error.message()));
  }
}

std::string optional_text(const Json& json) {
  return json.is_null() ? std::string() : json.as_string();
}

Hit read_hit(const Json& json) {
  return {.kind = json["kind"].as_string(),
          .id = json["id"].as_string(),
          .score = json["score"].as_double(),
          .title = json["title"].as_string(),
          .snippet = json["snippet"].as_string(),
          .payload = json["payload"]};
}

Found read_found(const Json& json) {
  return read_answer("hits", [&] {
    Found found{.hits = {}, .degraded = json["degraded"].as_bool(), .reason = optional_text(json["reason"])};
    for (const Json& hit : json["hits"].items()) found.hits.push_back(read_hit(hit));
    return found;
  });
}

Collection read_collection(const Json& json) {
  return read_answer("collection", [&] {
    return Collection{.name = json["name"].as_string(),
                      .dimension = json["dimension"].as_integer(),
                      .model = optional_text(json["model"]),
                      .points = json["points"].as_integer(),
                      .created_at = json["created_at"].as_string()};
  });
}

Node read_node(const Json& json) {
  return {.kind = json["kind"].as_string(), .id = json["id"].as_string()};
}

Related read_related(const Json& json) {
  return read_answer("relations", [&] {
    Related related{.nodes = {},
                    .edges = {},
                    .truncated = json["truncated"].as_bool(),
                    .degraded = json["degraded"].as_bool(),
                    .reason = optional_text(json["reason"])};
    for (const Json& node : json["nodes"].items()) related.nodes.push_back(read_node(node));
    for (const Json& edge : json["edges"].items())
      related.edges.push_back({read_node(edge["from"]), read_node(edge["to"]), edge["type"].as_string()});
    return related;
  });
}

Json vector_json(const std::vector<float>& vector) {
  Json list = Json::array();
  for (const float number : vector) list.push(static_cast<double>(number));
  return list;
}

Json point_json(const Point& point) {
  Json json = Json::object({{"id", point.id}});
  if (!point.title.empty()) json.set("title", point.title);
  if (!point.text.empty()) json.set("text", point.text);
  if (!point.vector.empty()) json.set("vector", vector_json(point.vector));
  if (!point.payload.is_null()) json.set("payload", point.payload);
  return json;
}

Json node_json(const Node& node) {
  return Json::object({{"kind", node.kind}, {"id", node.id}});
}

Json edge_json(const Edge& edge) {
  return Json::object({{"from", node_json(edge.from)}, {"to", node_json(edge.to)}, {"type", edge.type}});
}

void set_page(Json& body, const std::optional<int>& limit, const std::optional<int>& offset) {
  if (limit) body.set("limit", *limit);
  if (offset) body.set("offset", *offset);
}

std::string collection_path(const std::string& name, const char* rest = "") {
  return "/api/index/collections/" + escape(name) + rest;
}

// None of these calls does more when it is made twice.
Async<Json> ask(SandboxClient client, std::string method, std::string path, Json body, CallOptions call) {
  Request request{.method = std::move(method), .path = std::move(path)};
  if (!body.is_null()) request.body = body.dump();
  request.idempotent = true;
  const Answer answer = co_await client.send_async(std::move(request), std::move(call));
  co_return answer.body.empty() ? Json() : answer.json();
}

}  // namespace

Async<Found> Knowledge::search_async(std::string query, SearchOptions options, CallOptions call) const {
  Json body;
  body.set("query", std::move(query));
  if (!options.kinds.empty()) body.set("kinds", Json(options.kinds));
  set_page(body, options.limit, options.offset);
  co_return read_found(co_await ask(client_, "POST", "/api/index/search", std::move(body), std::move(call)));
}

Async<std::vector<Collection>> Knowledge::collections_async(CallOptions call) const {
  const Json answer = co_await ask(client_, "GET", "/api/index/collections", {}, std::move(call));
  co_return read_answer("collections", [&] {
    std::vector<Collection> all;
    for (const Json& one : answer["collections"].items()) all.push_back(read_collection(one));
    return all;
  });
}

Async<Collection> Knowledge::collection_async(std::string name, CallOptions call) const {
  co_return read_collection(co_await ask(client_, "GET", collection_path(name), {}, std::move(call)));
}

Async<Collection> Knowledge::make_collection_async(std::string name, std::optional<int> dimension,
                                                   CallOptions call) const {
  Json body = Json::object();
  if (dimension) body.set("dimension", *dimension);
  co_return read_collection(
      co_await ask(client_, "PUT", collection_path(name), std::move(body), std::move(call)));
}

Async<void> Knowledge::remove_collection_async(std::string name, CallOptions call) const {
  co_await ask(client_, "DELETE", collection_path(name), {}, std::move(call));
}

Async<std::int64_t> Knowledge::put_points_async(std::string collection, std::vector<Point> points,
                                                CallOptions call) const {
  Json list = Json::array();
  for (const Point& point : points) list.push(point_json(point));
  Json body;
  body.set("points", std::move(list));
  const Json answer =
      co_await ask(client_, "POST", collection_path(collection, "/points"), std::move(body), std::move(call));
  co_return read_answer("count", [&] { return answer["points"].as_integer(); });
}

Async<std::int64_t> Knowledge::remove_points_async(std::string collection, std::vector<std::string> ids,
                                                   CallOptions call) const {
  Json body;
  body.set("ids", Json(ids));
  const Json answer = co_await ask(client_, "POST", collection_path(collection, "/points/delete"),
                                   std::move(body), std::move(call));
  co_return read_answer("count", [&] { return answer["removed"].as_integer(); });
}

Async<Found> Knowledge::search_points_async(std::string collection, PointSearch search,
                                            CallOptions call) const {
  Json body = Json::object();
  if (!search.query.empty()) body.set("query", search.query);
  if (!search.vector.empty()) body.set("vector", vector_json(search.vector));
  if (!search.filter.is_null()) body.set("filter", search.filter);
  set_page(body, search.limit, search.offset);
  co_return read_found(co_await ask(client_, "POST", collection_path(collection, "/search"), std::move(body),
                                    std::move(call)));
}

Async<Related> Knowledge::related_async(Node from, RelatedOptions options, CallOptions call) const {
  Json body;
  body.set("from", node_json(from));
  if (options.to) body.set("to", node_json(*options.to));
  if (!options.edges.empty()) body.set("edges", Json(options.edges));
  if (!options.direction.empty()) body.set("direction", options.direction);
  if (options.depth) body.set("depth", *options.depth);
  if (options.limit) body.set("limit", *options.limit);
  co_return read_related(co_await ask(client_, "POST", "/api/graph/query", std::move(body), std::move(call)));
}

Async<void> Knowledge::relate_async(Edge edge, CallOptions call) const {
  co_await ask(client_, "POST", "/api/graph/edges", edge_json(edge), std::move(call));
}

Async<bool> Knowledge::unrelate_async(Edge edge, CallOptions call) const {
  const Json answer =
      co_await ask(client_, "POST", "/api/graph/edges/delete", edge_json(edge), std::move(call));
  co_return read_answer("answer", [&] { return answer["removed"].as_integer() > 0; });
}

}  // namespace atl::client
