#pragma once

#include <string>

#include "index/graph_backend.h"
#include "index/server_link.h"

namespace atl::index {

// Relations on a Neo4j server, over its HTTP Query API. Statements are fixed texts; whatever a caller says is
// a parameter. A node is (:AtollNode {catalog, tenant, kind, id}), a relation [:ATOLL {type}].
class Neo4j final : public GraphBackend {
 public:
  // `link` must outlive it; `database` is the name of a database of the server.
  Neo4j(ServerLink& link, std::string catalog_id, const std::string& database);

  std::string_view name() const override { return "neo4j"; }
  bool is_server() const override { return true; }
  Result<void> apply(std::span<const GraphChange> changes) override;
  Result<std::vector<Edge>> edges_of(const std::string& tenant, std::span<const Node> nodes,
                                     const std::vector<std::string>& types, Direction direction,
                                     std::size_t limit) override;
  // Makes the constraint that keeps nodes unique, if it is missing.
  Result<std::uint64_t> count() override;
  Result<void> clear() override;

 private:
  // The rows of the answer. A refusal by the server is Code::unavailable with its reason for the log.
  Result<boost::json::array> run(std::string_view statement, boost::json::object parameters,
                                 ServerLink::TooLarge blamed = ServerLink::TooLarge::server);
  Result<std::vector<Edge>> edges_one_way(const boost::json::object& parameters, std::span<const Node> nodes,
                                          std::string_view statement);
  Result<void> delete_all(std::string_view statement, const boost::json::object& parameters);

  ServerLink& link_;
  const std::string catalog_id_, target_;
};

}  // namespace atl::index
