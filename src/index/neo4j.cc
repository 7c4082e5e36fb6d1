#include "index/neo4j.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>

#include "net/http.h"

namespace atl::index {
namespace {

namespace bj = boost::json;

constexpr std::string_view kConstraint =
    "CREATE CONSTRAINT atoll_node IF NOT EXISTS FOR (n:AtollNode) REQUIRE (n.catalog, n.tenant, n.kind, "
    "n.id) "
    "IS UNIQUE";
constexpr std::string_view kRelate =
    "UNWIND $edges AS e "
    "MERGE (a:AtollNode {catalog: $catalog, tenant: e.tenant, kind: e.from_kind, id: e.from_id}) "
    "MERGE (b:AtollNode {catalog: $catalog, tenant: e.tenant, kind: e.to_kind, id: e.to_id}) "
    "MERGE (a)-[:ATOLL {type: e.type}]->(b)";
constexpr std::string_view kUnrelate =
    "UNWIND $edges AS e "
    "MATCH (a:AtollNode {catalog: $catalog, tenant: e.tenant, kind: e.from_kind, id: e.from_id})"
    "-[r:ATOLL {type: e.type}]->"
    "(b:AtollNode {catalog: $catalog, tenant: e.tenant, kind: e.to_kind, id: e.to_id}) DELETE r";
// Nodes that nothing refers to any more.
constexpr std::string_view kSweep =
    "UNWIND $edges AS e UNWIND [[e.from_kind, e.from_id], [e.to_kind, e.to_id]] AS name "
    "MATCH (n:AtollNode {catalog: $catalog, tenant: e.tenant, kind: name[0], id: name[1]}) "
    "WHERE NOT (n)--() DELETE n";
constexpr std::string_view kEdgesOut =
    "UNWIND $nodes AS n CALL (n) { "
    "MATCH (:AtollNode {catalog: $catalog, tenant: $tenant, kind: n.kind, id: n.id})-[r:ATOLL]->"
    "(b:AtollNode {tenant: $tenant}) WHERE size($types) = 0 OR r.type IN $types "
    "RETURN r.type AS type, b.kind AS kind, b.id AS id ORDER BY type, kind, id LIMIT $limit } "
    "RETURN n.kind, n.id, type, kind, id";
constexpr std::string_view kEdgesIn =
    "UNWIND $nodes AS n CALL (n) { "
    "MATCH (:AtollNode {catalog: $catalog, tenant: $tenant, kind: n.kind, id: n.id})<-[r:ATOLL]-"
    "(b:AtollNode {tenant: $tenant}) WHERE size($types) = 0 OR r.type IN $types "
    "RETURN r.type AS type, b.kind AS kind, b.id AS id ORDER BY type, kind, id LIMIT $limit } "
    "RETURN n.kind, n.id, type, kind, id";
constexpr std::string_view kCount = "MATCH (:AtollNode {catalog: $catalog})-[r:ATOLL]->() RETURN count(r)";
// A thousand at a time: a transaction holds what it deletes in memory.
constexpr std::string_view kForget =
    "MATCH (n:AtollNode {catalog: $catalog, tenant: $tenant}) WITH n LIMIT 1000 DETACH DELETE n RETURN "
    "count(*)";
constexpr std::string_view kClear =
    "MATCH (n:AtollNode {catalog: $catalog}) WITH n LIMIT 1000 DETACH DELETE n RETURN count(*)";

constexpr int kRoundsMax = 100'000;

bj::object edge_row(const GraphChange& change) {
  return {{"tenant", change.tenant},
          {"type", change.edge.type},
          {"from_kind", change.edge.from.kind},
          {"from_id", change.edge.from.id},
          {"to_kind", change.edge.to.kind},
          {"to_id", change.edge.to.id}};
}

Error neo4j_wrong() {
  return {Code::unavailable, "Neo4j gave an answer that is none of its interface"};
}

Result<std::vector<Edge>> edges_from(const bj::array& rows, bool is_out) {
  std::vector<Edge> edges;
  for (const bj::value& row : rows) {
    const auto* cells = row.if_array();
    if (cells == nullptr || cells->size() != 5) return fail(neo4j_wrong());
    std::string texts[5];
    for (std::size_t i = 0; i < 5; ++i) {
      const auto* text = (*cells)[i].if_string();
      if (text == nullptr) return fail(neo4j_wrong());
      texts[i] = std::string(*text);
    }
    Node here{texts[0], texts[1]}, there{texts[3], texts[4]};
    if (is_out) {
      edges.push_back({std::move(here), std::move(there), texts[2]});
    } else {
      edges.push_back({std::move(there), std::move(here), texts[2]});
    }
  }
  return edges;
}

}  // namespace

Neo4j::Neo4j(ServerLink& link, std::string catalog_id, const std::string& database)
    : link_(link),
      catalog_id_(std::move(catalog_id)),
      target_(fmt::format("/db/{}/query/v2", net::percent_encode(database))) {}

Result<bj::array> Neo4j::run(std::string_view statement, bj::object parameters, ServerLink::TooLarge blamed) {
  parameters["catalog"] = catalog_id_;
  const bj::object body{{"statement", statement}, {"parameters", std::move(parameters)}};
  auto answer = TRY(link_.call("POST", target_, &body, blamed));
  if (answer.status == 401 || answer.status == 403)
    return fail(Code::unavailable,
                fmt::format("Neo4j refuses the credentials ({}): look at graph.neo4j.user and "
                            "graph.neo4j.password_secret",
                            answer.status));
  if (answer.status != 200 && answer.status != 202) {
    const auto* errors = answer.body.if_contains("errors");
    return fail(Error(Code::unavailable, fmt::format("Neo4j refused a statement ({})", answer.status))
                    .with_detail(errors != nullptr ? bj::serialize(*errors) : ""));
  }
  // What failed after the head was sent is told inside of a good answer.
  if (answer.body.contains("errors")) return fail(Code::unavailable, "Neo4j broke off a statement");
  const auto* data = answer.body.if_contains("data");
  const auto* values =
      data == nullptr || !data->is_object() ? nullptr : data->get_object().if_contains("values");
  if (values == nullptr || !values->is_array()) return fail(neo4j_wrong());
  return values->get_array();
}

Result<void> Neo4j::delete_all(std::string_view statement, const bj::object& parameters) {
  for (int round = 0; round < kRoundsMax; ++round) {
    const bj::array rows = TRY(run(statement, parameters));
    const auto* row = rows.empty() ? nullptr : rows[0].if_array();
    if (row == nullptr || row->empty() || !row->front().is_int64()) return fail(neo4j_wrong());
    if (row->front().get_int64() == 0) return {};
  }
  return fail(Code::unavailable, "Neo4j does not stop deleting");
}

Result<void> Neo4j::apply(std::span<const GraphChange> changes) {
  using What = GraphChange::What;
  for (std::size_t at = 0; at < changes.size();) {
    const What what = changes[at].what;
    if (what == What::forget_tenant) {
      TRY(delete_all(kForget, {{"tenant", changes[at++].tenant}}));
      continue;
    }
    bj::array edges;
    for (; at < changes.size() && changes[at].what == what; ++at) edges.push_back(edge_row(changes[at]));
    TRY(run(what == What::relate ? kRelate : kUnrelate, {{"edges", edges}}));
    if (what == What::unrelate) TRY(run(kSweep, {{"edges", edges}}));
  }
  return {};
}

Result<std::vector<Edge>> Neo4j::edges_of(const std::string& tenant, std::span<const Node> nodes,
                                          const std::vector<std::string>& types, Direction direction,
                                          std::size_t limit) {
  bj::object parameters{{"tenant", tenant}, {"limit", limit}};
  bj::array wanted;
  for (const std::string& type : types) wanted.push_back(bj::value(type));
  parameters["types"] = std::move(wanted);
  std::vector<Edge> edges;
  if (direction != Direction::in) edges = TRY(edges_one_way(parameters, nodes, kEdgesOut));
  if (direction != Direction::out) {
    auto back = TRY(edges_one_way(parameters, nodes, kEdgesIn));
    std::ranges::move(back, std::back_inserter(edges));
  }
  return edges;
}

// The edges of one node always fit into an answer; those of many may not.
Result<std::vector<Edge>> Neo4j::edges_one_way(const bj::object& parameters, std::span<const Node> nodes,
                                               std::string_view statement) {
  bj::array rows;
  for (const Node& node : nodes) rows.push_back(bj::object{{"kind", node.kind}, {"id", node.id}});
  bj::object all = parameters;
  all["nodes"] = std::move(rows);
  const auto found = run(statement, std::move(all), ServerLink::TooLarge::asker);
  if (found) return edges_from(*found, statement == kEdgesOut);
  if (found.error().code() != Code::too_large || nodes.size() < 2) return fail(found.error());
  const std::size_t half = nodes.size() / 2;
  auto edges = TRY(edges_one_way(parameters, nodes.first(half), statement));
  auto more = TRY(edges_one_way(parameters, nodes.subspan(half), statement));
  std::ranges::move(more, std::back_inserter(edges));
  return edges;
}

Result<std::uint64_t> Neo4j::count() {
  TRY(run(kConstraint, {}));
  const bj::array rows = TRY(run(kCount, {}));
  const auto* row = rows.empty() ? nullptr : rows[0].if_array();
  if (row == nullptr || row->empty() || !row->front().is_int64()) return fail(neo4j_wrong());
  return static_cast<std::uint64_t>(row->front().get_int64());
}

Result<void> Neo4j::clear() {
  return delete_all(kClear, {});
}

}  // namespace atl::index
