#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "index/local_server_test.h"

// The simplest servers that speak as Qdrant and Neo4j do, for the suites that must run everywhere; the same
// suites run against the real ones (tests/index/run-long).
namespace atl::index {

class ModelQdrant {
 public:
  using Request = LocalServer::Request;
  using Reply = LocalServer::Reply;
  Reply answer(const Request& request) {
    const std::lock_guard lock(mutex);
    ++requests[request.method + " " + request.target.substr(0, request.target.find('?'))];
    std::string rest = request.target.substr(0, request.target.find('?')).substr(13);  // "/collections/"
    const std::string name = rest.substr(0, rest.find('/'));
    rest = rest.size() > name.size() ? rest.substr(name.size()) : "";
    if (request.method == "PUT" && rest.empty()) {
      if (collections.contains(name)) return {409, R"({"status":{"error":"exists"}})"};
      collections[name].size = request.body.at("vectors").at("size").to_number<std::size_t>();
      return good("true");
    }
    if (request.method == "DELETE") return good(collections.erase(name) > 0 ? "true" : "false");
    if (!collections.contains(name)) return {404, R"({"status":{"error":"Not found"}})"};
    Collection& one = collections[name];
    if (request.method == "GET") return good(info(one));
    if (rest == "/index") {
      one.indexes.insert(std::string(request.body.at("field_name").as_string()));
      return good("{}");
    }
    if (rest == "/points") return upsert(one, request.body);
    if (rest == "/points/delete") return remove(one, request.body);
    if (rest == "/points/count") return good(fmt::format(R"({{"count":{}}})", one.points.size()));
    if (rest == "/points/query") return query(one, request.body);
    return {404, "{}"};
  }

  struct Point {
    std::vector<double> vector;
    boost::json::object payload;
  };
  struct Collection {
    std::size_t size = 0;
    std::set<std::string> indexes;
    std::map<std::uint64_t, Point> points;
  };
  std::mutex mutex;
  std::map<std::string, Collection> collections;
  std::map<std::string, int> requests;

 private:
  static Reply good(const std::string& result) {
    return {200, fmt::format(R"({{"result":{},"status":"ok","time":0.001}})", result)};
  }
  static std::string info(const Collection& one) {
    boost::json::object schema;
    for (const std::string& field : one.indexes)
      schema[field] = boost::json::object{{"data_type", "keyword"}};
    return boost::json::serialize(boost::json::object{
        {"config", {{"params", {{"vectors", {{"size", one.size}, {"distance", "Cosine"}}}}}}},
        {"payload_schema", schema}});
  }
  static Reply upsert(Collection& one, const boost::json::value& body) {
    for (const auto& point : body.at("points").as_array()) {
      Point made{{}, point.at("payload").as_object()};
      for (const auto& x : point.at("vector").as_array()) made.vector.push_back(x.to_number<double>());
      if (made.vector.size() != one.size) return {400, R"({"status":{"error":"dimension"}})"};
      one.points[point.at("id").to_number<std::uint64_t>()] = std::move(made);
    }
    return good("{}");
  }
  static bool passes(const Point& point, const boost::json::value& filter) {
    return std::ranges::all_of(filter.at("must").as_array(), [&](const boost::json::value& condition) {
      const auto* have = point.payload.if_contains(condition.at("key").as_string());
      if (have == nullptr) return false;
      const auto& match = condition.at("match").as_object();
      const auto holds = [&](const boost::json::value& wanted) {
        if (!have->is_array()) return *have == wanted;
        return std::ranges::find(have->get_array(), wanted) != have->get_array().end();
      };
      if (const auto* any = match.if_contains("any")) return std::ranges::any_of(any->as_array(), holds);
      return holds(match.at("value"));
    });
  }
  static Reply remove(Collection& one, const boost::json::value& body) {
    if (const auto* points = body.as_object().if_contains("points")) {
      for (const auto& id : points->as_array()) one.points.erase(id.to_number<std::uint64_t>());
    } else {
      std::erase_if(one.points, [&](const auto& each) { return passes(each.second, body.at("filter")); });
    }
    return good("{}");
  }
  static Reply query(const Collection& one, const boost::json::value& body) {
    std::vector<std::pair<double, std::uint64_t>> order;
    const auto& asked = body.at("query").as_array();
    for (const auto& [id, point] : one.points) {
      if (!passes(point, body.at("filter"))) continue;
      double product = 0;
      for (std::size_t i = 0; i < one.size; ++i) product += point.vector[i] * asked[i].to_number<double>();
      order.emplace_back(-product, id);
    }
    std::ranges::sort(order);
    order.resize(std::min(order.size(), body.at("limit").to_number<std::size_t>()));
    boost::json::array points;
    for (const auto& [score, id] : order)
      points.push_back(boost::json::object{{"id", id}, {"score", -score}});
    return good(boost::json::serialize(boost::json::object{{"points", points}}));
  }
};

class ModelNeo4j {
 public:
  using Request = LocalServer::Request;
  using Reply = LocalServer::Reply;
  Reply answer(const Request& request) {
    const std::lock_guard lock(mutex);
    const std::string statement(request.body.at("statement").as_string());
    const auto& parameters = request.body.at("parameters").as_object();
    statements.insert(statement);
    const auto has = [&](const char* part) { return statement.find(part) != std::string::npos; };
    boost::json::array rows;
    if (has("MERGE (a)")) {
      for (const auto& edge : parameters.at("edges").as_array()) edges.insert(key(edge));
    } else if (has("DELETE r")) {
      for (const auto& edge : parameters.at("edges").as_array()) edges.erase(key(edge));
    } else if (has("count(r)")) {
      rows.push_back(boost::json::array{edges.size()});
    } else if (has("DETACH DELETE")) {
      const auto* tenant = parameters.if_contains("tenant");
      const auto gone = std::erase_if(
          edges, [&](const auto& edge) { return tenant == nullptr || edge[0] == tenant->as_string(); });
      rows.push_back(boost::json::array{gone});
    } else if (has("UNWIND $nodes")) {
      rows = edges_of(parameters, has("]->"));
    }
    const boost::json::object body{{"data", {{"fields", boost::json::array()}, {"values", rows}}}};
    return {202, boost::json::serialize(body)};
  }

  using Key = std::array<std::string, 6>;  // tenant, from kind and id, type, to kind and id
  std::mutex mutex;
  std::set<Key> edges;
  std::set<std::string> statements;

 private:
  static Key key(const boost::json::value& edge) {
    Key key;
    const char* names[] = {"tenant", "from_kind", "from_id", "type", "to_kind", "to_id"};
    for (std::size_t i = 0; i < 6; ++i) key[i] = std::string(edge.at(names[i]).as_string());
    return key;
  }
  boost::json::array edges_of(const boost::json::object& parameters, bool is_out) const {
    boost::json::array rows;
    const auto& types = parameters.at("types").as_array();
    for (const auto& node : parameters.at("nodes").as_array()) {
      std::size_t left = parameters.at("limit").to_number<std::size_t>();
      for (const Key& edge : edges) {
        const std::size_t here = is_out ? 1 : 4, there = is_out ? 4 : 1;
        const bool is_wanted =
            edge[0] == parameters.at("tenant").as_string() && edge[here] == node.at("kind").as_string() &&
            edge[here + 1] == node.at("id").as_string() &&
            (types.empty() || std::ranges::find(types, boost::json::value(edge[3])) != types.end());
        if (!is_wanted || left-- == 0) continue;
        rows.push_back(boost::json::array{edge[here], edge[here + 1], edge[3], edge[there], edge[there + 1]});
      }
    }
    return rows;
  }
};

}  // namespace atl::index
