// Search by meaning and by relations.
#include "index/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/render.h"
#include "base/json.h"
#include "base/json_values.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

constexpr std::size_t kPointsMax = 1000, kTextBytesMax = 64U << 10, kIdBytesMax = 256, kDimensionMax = 4096;
constexpr double kNumberMax = 1e15;       // of a vector: the squares of 4096 such numbers are still one
constexpr std::size_t kMembersMax = 256;  // of a payload: each is written down by itself, while others wait
constexpr std::size_t kPointsBytesMax = 32U << 20, kValuesMax = 1'200'000;  // of a call that brings points
constexpr std::size_t kTypesMax = 64;  // of relations in a question: looked through for every node

bool is_collection_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             std::string_view::npos;
}

Result<std::string> name_of(const Request& request) {
  const std::string& name = request.param("name");
  if (is_collection_name(name)) return name;
  return fail(
      Error(Code::invalid_argument, "a collection's name has 1 to 64 letters, digits, '_', '-' and '.'")
          .with_field("name"));
}

template <class T, class Work>
Task<T> off_loop(const Context& context, const Principal& who, Work work) {
  return context->workers->run<T>(who.tenant, std::move(work));
}

bool is_bound(const Principal& who) {
  return who.scopes != nullptr && !who.scopes->empty();
}

// Collections and relations are of a whole tenant: nothing of them belongs to those who are bound to some of
// its sessions.
Result<void> check_unbound(const Principal& who) {
  if (!is_bound(who)) return {};
  return fail(Code::permission_denied,
              "this key is bound to some sessions or an environment, and this is of the whole tenant");
}

// Whoever looks in from another tenant sees what sessions did, not what the tenant keeps.
Result<void> check_at_home(const Principal& who) {
  TRY(check_unbound(who));
  if (who.looks_from.empty()) return {};
  return fail(Code::permission_denied, "collections are not shown to other tenants");
}

bj::object collection_json(const index::Collection& one) {
  return {{"name", one.name},
          {"dimension", one.dimension},
          {"model", one.model.empty() ? bj::value(nullptr) : bj::value(one.model)},
          {"points", one.points},
          {"created_at", to_rfc3339(one.created_at)}};
}

Result<std::optional<index::Vector>> read_vector(const Body& body) {
  const auto* value = body.find("vector");
  if (value == nullptr) return std::optional<index::Vector>();
  const auto* array = value->if_array();
  if (array == nullptr || array->empty() || array->size() > kDimensionMax)
    return fail(body.wrong("vector", fmt::format("1 to {} numbers are wanted", kDimensionMax)));
  index::Vector vector;
  for (const auto& number : *array) {
    if (!number.is_number()) return fail(body.wrong("vector", "numbers are wanted"));
    // Distances are counted in single precision: what is none there is near to nothing and far from nothing.
    const double wide = number.to_number<double>();
    if (!(std::abs(wide) <= kNumberMax))
      return fail(body.wrong("vector", fmt::format("numbers up to {:g} are wanted", kNumberMax)));
    vector.push_back(static_cast<float>(wide));
  }
  return std::optional(std::move(vector));
}

Result<index::SearchRequest> read_search(const Body& body) {
  index::SearchRequest request;
  request.query = TRY(body.text("query")).value_or("");
  if (request.query.size() > kTextBytesMax) return fail(body.wrong("query", "it is over 64 KiB"));
  request.limit = static_cast<std::size_t>(TRY(body.whole_number("limit", 1, 100)).value_or(10));
  request.offset = static_cast<std::size_t>(TRY(body.whole_number("offset", 0, 10'000)).value_or(0));
  return request;
}

bj::object found_json(const index::Found& found, bool with_payload) {
  bj::array hits;
  for (const index::Hit& hit : found.hits) {
    bj::object row{{"kind", hit.kind},
                   {"id", hit.id},
                   {"score", hit.score},
                   {"title", hit.title},
                   {"snippet", hit.snippet}};
    if (with_payload) {
      auto payload = json::parse(hit.payload);
      row["payload"] = payload ? std::move(*payload) : bj::value(nullptr);
    }
    hits.push_back(std::move(row));
  }
  bj::object answer{{"hits", std::move(hits)}, {"degraded", !found.degraded_because.empty()}};
  if (!found.degraded_because.empty()) answer["reason"] = found.degraded_because;
  return answer;
}

constexpr std::string_view kKinds[] = {"session", "execution", "artifact", "snapshot",
                                       "tool",    "skill",     "agent",    "prompt"};
// What is declared; the other kinds are of sessions.
constexpr std::string_view kDeclaredKinds[] = {"tool", "skill", "agent", "prompt"};

// What whoever is bound to some sessions finds of the history of others is nothing: of history, nothing.
Result<std::vector<std::string>> read_kinds(const Body& body, const Principal& who) {
  const auto asked = TRY(body.texts("kinds"));
  std::set<std::string> kinds;
  for (const std::string& kind : asked.value_or(std::vector<std::string>())) {
    if (std::ranges::find(kKinds, kind) == std::end(kKinds))
      return fail(body.wrong(
          "kinds", fmt::format("no kind is called '{}'; there are {}", kind, fmt::join(kKinds, ", "))));
    if (is_bound(who) && std::ranges::find(kDeclaredKinds, kind) == std::end(kDeclaredKinds))
      return fail(Error(Code::permission_denied,
                        fmt::format("this key is bound to some sessions or an environment; it finds {}",
                                    fmt::join(kDeclaredKinds, ", ")))
                      .with_field("kinds"));
    kinds.insert(kind);
  }
  if (kinds.empty() && is_bound(who)) kinds.insert(std::begin(kDeclaredKinds), std::end(kDeclaredKinds));
  return std::vector(kinds.begin(), kinds.end());
}

Task<Response> search_all(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"query", "kinds", "limit", "offset"}));
  CO_TRY(index::SearchRequest asked, read_search(body));
  CO_TRY(asked.query, body.required_text("query"));
  CO_TRY(asked.kinds, read_kinds(body, who));
  auto work = [index = context->index, refresh = context->refresh_index(who.tenant), tenant = who.tenant,
               asked = std::move(asked)]() mutable -> Result<Response> {
    TRY(refresh());
    return json_response(200, found_json(TRY(index->search(tenant, "", asked)), false));
  };
  co_return co_await off_loop<Response>(context, who, std::move(work));
}

// Work for another thread is a variable of its own everywhere: g++ 12 destroys what is made inside of an
// awaited call twice.
Task<Response> list_collections(Context context, Principal who, Request&) {
  CO_CHECK(check_at_home(who));
  using All = std::vector<index::Collection>;
  auto work = [index = context->index, tenant = who.tenant] { return index->collections(tenant); };
  CO_TRY(const All all, co_await off_loop<All>(context, who, std::move(work)));
  bj::array rows;
  for (const auto& one : all) rows.push_back(collection_json(one));
  co_return json_response(200, bj::object{{"collections", std::move(rows)}});
}

Task<Response> get_collection(Context context, Principal who, Request& request) {
  CO_CHECK(check_at_home(who));
  CO_TRY(const std::string name, name_of(request));
  auto work = [index = context->index, tenant = who.tenant, name] { return index->collection(tenant, name); };
  CO_TRY(const index::Collection one, co_await off_loop<index::Collection>(context, who, std::move(work)));
  co_return json_response(200, collection_json(one));
}

Task<Response> put_collection(Context context, Principal who, Request& request) {
  CO_CHECK(check_at_home(who));
  CO_TRY(const std::string name, name_of(request));
  CO_TRY(const Body body, Body::parse(request.body, {"dimension"}));
  CO_TRY(const auto dimension, body.whole_number("dimension", 1, kDimensionMax));
  auto work = [index = context->index, tenant = who.tenant, name, dimension] {
    return index->make_collection(tenant, name, static_cast<std::size_t>(dimension.value_or(0)));
  };
  CO_TRY(const index::Collection one, co_await off_loop<index::Collection>(context, who, std::move(work)));
  co_return json_response(200, collection_json(one));
}

Task<Response> delete_collection(Context context, Principal who, Request& request) {
  CO_CHECK(check_at_home(who));
  CO_TRY(const std::string name, name_of(request));
  auto work = [index = context->index, tenant = who.tenant, name] {
    return index->drop_collection(tenant, name);
  };
  CO_CHECK(co_await off_loop<void>(context, who, std::move(work)));
  co_return Response::empty();
}

Result<index::Document> read_point(const bj::value& value, std::size_t at) {
  const auto text = bj::serialize(value);
  const auto prefix = [&](Error error) {
    return fail(
        Error(error.code(), error.message()).with_field(fmt::format("points[{}].{}", at, error.field())));
  };
  auto body = Body::parse(text, {"id", "title", "text", "vector", "payload"});
  if (!body) return prefix(std::move(body).error());
  index::Document document{"point", "", ""};
  auto id = body->required_text("id");
  if (!id) return prefix(std::move(id).error());
  if (id->empty() || id->size() > kIdBytesMax) return prefix(body->wrong("id", "1 to 256 bytes are wanted"));
  document.id = std::move(*id);
  auto title = body->text("title");
  if (!title) return prefix(std::move(title).error());
  auto words = body->text("text");
  if (!words) return prefix(std::move(words).error());
  document.title = title->value_or("");
  document.body = words->value_or("");
  if (document.title.size() + document.body.size() > kTextBytesMax)
    return prefix(body->wrong("text", "title and text are over 64 KiB"));
  auto vector = read_vector(*body);
  if (!vector) return prefix(std::move(vector).error());
  document.vector = std::move(*vector);
  if (!document.vector && document.title.empty() && document.body.empty())
    return prefix(body->wrong("text", "a point needs a text or a vector"));
  if (const auto* payload = body->find("payload")) {
    if (!payload->is_object()) return prefix(body->wrong("payload", "an object is wanted"));
    if (payload->get_object().size() > kMembersMax)
      return prefix(body->wrong("payload", fmt::format("at most {} members are wanted", kMembersMax)));
    document.payload = bj::serialize(*payload);
    if (document.payload.size() > kTextBytesMax) return prefix(body->wrong("payload", "it is over 64 KiB"));
  }
  return document;
}

// How many members the objects of a JSON text have, all together.
std::size_t members_in(std::string_view text) {
  std::size_t count = 0;
  bool is_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_string && text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      is_string = !is_string;
    } else if (!is_string && text[at] == ':') {
      ++count;
    }
  }
  return count;
}

Result<std::vector<index::Document>> read_points(const std::string& text) {
  // More than other bodies may have: a thousand vectors are a million numbers. Names cost more than numbers.
  TRY(json::bound_values(text, kValuesMax));
  if (members_in(text) > kPointsMax * (kMembersMax + 8))
    return fail(Code::too_large, "the points have too many members");
  const bj::value body = TRY(json::parse(text, {.max_bytes = kPointsBytesMax}));
  const auto wrong = [](std::string_view field, const std::string& why) {
    return fail(Error(Code::invalid_argument, why).with_field(std::string(field)));
  };
  if (!body.is_object()) return fail(Code::invalid_argument, "the body is a JSON object");
  for (const auto& member : body.get_object())
    if (member.key() != "points") return wrong(member.key(), "unknown field");
  const auto* points = body.get_object().if_contains("points");
  const auto* array = points == nullptr ? nullptr : points->if_array();
  if (array == nullptr || array->empty() || array->size() > kPointsMax)
    return wrong("points", fmt::format("a list of 1 to {} points is wanted", kPointsMax));
  std::vector<index::Document> documents;
  for (std::size_t at = 0; at < array->size(); ++at) documents.push_back(TRY(read_point((*array)[at], at)));
  return documents;
}

struct ReadPoints {
  std::vector<index::Document> documents;
  std::uint64_t bytes = 0;  // if all of them are new
};

// What replaces a point may need less than it has, or nothing: who has no room for all of it as if it were
// new is asked for again with what there is, and refused by the quota only if that does not do.
Task<void> put_where_there_is_room(Context context, Principal who, std::string name, ReadPoints points) {
  const quota::Holder holder{who.tenant, who.key_id};
  Result<quota::Reservation> room = quota::Reservation(points.bytes);
  if (context->inventory != nullptr) room = co_await context->inventory->reserve_up_to(holder, points.bytes);
  if (!room) co_return fail(std::move(room).error());
  auto work = [index = context->index, tenant = who.tenant, name, documents = std::move(points.documents),
               bytes = room->bytes()]() mutable {
    return index->put(tenant, name, std::move(documents), bytes);
  };
  const auto done = co_await off_loop<void>(context, who, std::move(work));
  if (done || room->bytes() >= points.bytes || done.error().code() != Code::resource_exhausted)
    co_return done;
  room = quota::Reservation();  // what it held is not in its own way
  room = co_await context->inventory->reserve(holder, points.bytes);
  if (!room) co_return fail(std::move(room).error());
  co_return fail(Code::resource_exhausted, "there was no room a moment ago: try again");
}

// Millions of numbers are read in tenths of a second: not on the loop.
Task<Response> put_points(Context context, Principal who, Request& request) {
  CO_CHECK(check_at_home(who));
  CO_TRY(const std::string name, name_of(request));
  auto read = [index = context->index, text = std::move(request.body)]() -> Result<ReadPoints> {
    ReadPoints points{TRY(read_points(text))};
    points.bytes = index->bytes_of(points.documents);
    return points;
  };
  CO_TRY(ReadPoints points, co_await off_loop<ReadPoints>(context, who, std::move(read)));
  const std::size_t count = points.documents.size();
  CO_CHECK(co_await put_where_there_is_room(context, who, name, std::move(points)));
  co_return json_response(200, bj::object{{"points", count}});
}

Task<Response> delete_points(Context context, Principal who, Request& request) {
  CO_CHECK(check_at_home(who));
  CO_TRY(const std::string name, name_of(request));
  CO_TRY(const Body body, Body::parse(request.body, {"ids"}));
  CO_TRY(const auto ids, body.texts("ids"));
  if (!ids || ids->empty() || ids->size() > kPointsMax)
    co_return fail(body.wrong("ids", fmt::format("a list of 1 to {} ids is wanted", kPointsMax)));
  auto work = [index = context->index, tenant = who.tenant, name, ids = *ids] {
    return index->remove(tenant, name, ids);
  };
  CO_TRY(const std::uint64_t removed, co_await off_loop<std::uint64_t>(context, who, std::move(work)));
  co_return json_response(200, bj::object{{"removed", removed}});
}

Task<Response> search_collection(Context context, Principal who, Request& request) {
  CO_CHECK(check_at_home(who));
  CO_TRY(const std::string name, name_of(request));
  CO_TRY(const Body body, Body::parse(request.body, {"query", "vector", "filter", "limit", "offset"}));
  CO_TRY(index::SearchRequest asked, read_search(body));
  CO_TRY(asked.vector, read_vector(body));
  if (asked.query.empty() && !asked.vector)
    co_return fail(body.wrong("query", "a query or a vector is wanted"));
  if (const auto* filter = body.find("filter")) {
    if (!filter->is_object())
      co_return fail(body.wrong("filter", "an object of payload members and their values is wanted"));
    if (filter->get_object().size() > kMembersMax)
      co_return fail(body.wrong("filter", fmt::format("at most {} members are wanted", kMembersMax)));
    for (const auto& member : filter->get_object())
      asked.filter.emplace(std::string(member.key()), bj::serialize(member.value()));
  }
  auto work = [index = context->index, tenant = who.tenant, name,
               asked = std::move(asked)]() -> Result<Response> {
    return json_response(200, found_json(TRY(index->search(tenant, name, asked)), true));
  };
  co_return co_await off_loop<Response>(context, who, std::move(work));
}

Result<index::Node> read_node(const Body& body) {
  index::Node node{TRY(body.required_text("kind")), TRY(body.required_text("id"))};
  if (node.kind.empty() || node.kind.size() > 64) return fail(body.wrong("kind", "1 to 64 bytes are wanted"));
  if (node.id.empty() || node.id.size() > kIdBytesMax)
    return fail(body.wrong("id", "1 to 256 bytes are wanted"));
  return node;
}

bj::object node_json(const index::Node& node) {
  return {{"kind", node.kind}, {"id", node.id}};
}

Result<index::Direction> read_direction(const Body& body) {
  const auto word = TRY(body.text("direction"));
  if (!word || *word == "both") return index::Direction::both;
  if (*word == "out") return index::Direction::out;
  if (*word == "in") return index::Direction::in;
  return fail(body.wrong("direction", "'out', 'in' or 'both' is wanted"));
}

bj::object edge_json(const index::Edge& edge) {
  return {{"from", node_json(edge.from)}, {"to", node_json(edge.to)}, {"type", edge.type}};
}

bj::object walked_json(const index::GraphAnswer& answer) {
  bj::array nodes, edges;
  for (const auto& node : answer.nodes) nodes.push_back(node_json(node));
  for (const auto& edge : answer.edges) edges.push_back(edge_json(edge));
  bj::object body{{"nodes", std::move(nodes)},
                  {"edges", std::move(edges)},
                  {"truncated", answer.truncated},
                  {"degraded", !answer.degraded_because.empty()}};
  if (!answer.degraded_because.empty()) body["reason"] = answer.degraded_because;
  return body;
}

Task<Response> query_graph(Context context, Principal who, Request& request) {
  CO_CHECK(check_unbound(who));
  CO_TRY(const Body body, Body::parse(request.body, {"from", "to", "edges", "direction", "depth", "limit"}));
  CO_TRY(const auto from, body.object("from", {"kind", "id"}));
  if (!from) co_return fail(body.wrong("from", "an object with kind and id is wanted"));
  index::GraphQuery query;
  CO_TRY(query.from, read_node(*from));
  CO_TRY(const auto to, body.object("to", {"kind", "id"}));
  if (to) {
    CO_TRY(query.to, read_node(*to));
  }
  CO_TRY(query.direction, read_direction(body));
  CO_TRY(auto types, body.texts("edges"));
  query.types = types.value_or(std::vector<std::string>());
  if (query.types.size() > kTypesMax)
    co_return fail(body.wrong("edges", fmt::format("at most {} types are wanted", kTypesMax)));
  CO_TRY(const auto depth, body.whole_number("depth", 1, static_cast<std::int64_t>(index::Index::kDepthMax)));
  query.depth = static_cast<std::size_t>(depth.value_or(1));
  CO_TRY(const auto limit, body.whole_number("limit", 1, 1000));
  query.nodes_max = static_cast<std::size_t>(limit.value_or(1000));
  auto work = [index = context->index, catch_up = context->catch_up_index, tenant = who.tenant,
               query = std::move(query)]() -> Result<Response> {
    catch_up();
    return json_response(200, walked_json(TRY(index->walk(tenant, query))));
  };
  co_return co_await off_loop<Response>(context, who, std::move(work));
}

bj::object state_json(index::Index& index) {
  const auto progress = index.progress();
  std::string because = index.degraded_because();
  if (because.empty()) because = index.graph_degraded_because();
  bj::object answer{{"backend", index.vector_backend()},
                    {"graph_backend", index.graph_backend()},
                    {"model", index.embedder().model()},
                    {"dimension", index.embedder().dimension()},
                    {"degraded", !because.empty()},
                    {"doing", progress.doing.empty() ? bj::value(nullptr) : bj::value(progress.doing)},
                    {"done", progress.done},
                    {"total", progress.total},
                    {"failure", progress.failure.empty() ? bj::value(nullptr) : bj::value(progress.failure)}};
  if (!because.empty()) answer["reason"] = because;
  return answer;
}

Task<Response> get_state(Context context, Principal who, Request&) {
  auto work = [index = context->index]() -> Result<bj::object> { return state_json(*index); };
  CO_TRY(bj::object state, co_await off_loop<bj::object>(context, who, std::move(work)));
  co_return json_response(200, std::move(state));
}

Task<Response> start_rebuild(Context context, Principal who, Request&) {
  auto work = [index = context->index]() -> Result<bj::object> {
    TRY(index->start_rebuild());
    return state_json(*index);
  };
  CO_TRY(bj::object state, co_await off_loop<bj::object>(context, who, std::move(work)));
  co_return json_response(202, std::move(state));
}

Result<index::Edge> read_edge(const Body& body) {
  const auto from = TRY(body.object("from", {"kind", "id"}));
  const auto to = TRY(body.object("to", {"kind", "id"}));
  if (!from) return fail(body.wrong("from", "an object with kind and id is wanted"));
  if (!to) return fail(body.wrong("to", "an object with kind and id is wanted"));
  index::Edge edge;
  edge.from = TRY(read_node(*from));
  edge.to = TRY(read_node(*to));
  edge.type = TRY(body.required_text("type"));
  if (edge.type.empty() || edge.type.size() > 64) return fail(body.wrong("type", "1 to 64 bytes are wanted"));
  return edge;
}

Task<Response> remove_edge(Context context, Principal who, Request& request) {
  CO_CHECK(check_unbound(who));
  CO_TRY(const Body body, Body::parse(request.body, {"from", "to", "type"}));
  CO_TRY(const index::Edge edge, read_edge(body));
  auto work = [index = context->index, tenant = who.tenant, edge] { return index->unrelate(tenant, {edge}); };
  CO_TRY(const std::uint64_t removed, co_await off_loop<std::uint64_t>(context, who, std::move(work)));
  co_return json_response(200, bj::object{{"removed", removed}});
}

Task<Response> add_edges(Context context, Principal who, Request& request) {
  CO_CHECK(check_unbound(who));
  CO_TRY(const Body body, Body::parse(request.body, {"from", "to", "type"}));
  CO_TRY(const index::Edge edge, read_edge(body));
  Result<quota::Reservation> room = quota::Reservation();
  if (context->inventory != nullptr) {
    const quota::Holder holder{who.tenant, who.key_id};
    room = co_await context->inventory->reserve(holder, index::Catalog::kEdgeBytes);
  }
  if (!room) co_return fail(std::move(room).error());
  auto work = [index = context->index, tenant = who.tenant, edge] {
    return index->relate(tenant, {edge}, index::Origin::tenant);
  };
  CO_CHECK(co_await off_loop<void>(context, who, std::move(work)));
  co_return json_response(201, edge_json(edge));
}

}  // namespace

void mount_index(net::Router& router, const Context& context) {
  if (context->index == nullptr) return;
  constexpr Rule kSearch = with_key(Permission::history_read).of_tenant(), kRead = kSearch.of_contents(),
                 kWrite = with_key(Permission::sessions_write).of_tenant();
  const std::string one = "/api/index/collections/{name}";
  const net::RouteOptions large{.body_bytes_max = kPointsBytesMax};
  // For bound keys, too: they find what is declared, and nothing of the history.
  route(router, context, Method::post, "/api/index/search", with_key(Permission::history_read), search_all);
  route(router, context, Method::get, "/api/index/collections", kRead, list_collections);
  route(router, context, Method::get, one, kRead, get_collection);
  route(router, context, Method::put, one, kWrite, put_collection);
  route(router, context, Method::del, one, kWrite.ending(), delete_collection);
  route(router, context, Method::post, one + "/points", kWrite, put_points, large);
  route(router, context, Method::post, one + "/points/delete", kWrite.ending(), delete_points);
  route(router, context, Method::post, one + "/search", kRead, search_collection);
  route(router, context, Method::post, "/api/graph/query", kSearch, query_graph);
  route(router, context, Method::post, "/api/graph/edges", kWrite, add_edges);
  route(router, context, Method::post, "/api/graph/edges/delete", kWrite.ending(), remove_edge);
  route(router, context, Method::get, "/api/index", kSearch, get_state);
  route(router, context, Method::post, "/api/index/rebuild", with_key(Permission::cluster), start_rebuild);
}

}  // namespace atl::api::rest
