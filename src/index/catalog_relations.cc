// Relations, and what waits to be told to servers.
#include <fmt/format.h>

#include <algorithm>

#include "index/catalog.h"

namespace atl::index {

Result<void> Catalog::wait_for_server(const Place& place, const Changes& changes) {
  if (!servers_.vectors) return {};
  for (const VectorChange& change : changes)
    TRY(database_.run("INSERT INTO waiting_vectors (place, dimension, number) VALUES (?1,?2,?3)", place.id,
                      place.dimension, change.number));
  return keep_waiting_bound(kVectors);
}

Result<void> Catalog::wait_edge(const std::string& tenant, const char* what, const Edge& edge) {
  if (!servers_.graph) return {};
  TRY(database_.run(
      "INSERT INTO waiting_edges (tenant, what, from_kind, from_id, type, to_kind, to_id) "
      "VALUES (?1,?2,?3,?4,?5,?6,?7)",
      tenant, std::string_view(what), edge.from.kind, edge.from.id, edge.type, edge.to.kind, edge.to.id));
  return {};
}

// The catalog has everything: a server that has been away for too long is filled anew instead of being told
// every change.
Result<void> Catalog::keep_waiting_bound(const char* table) {
  const auto first = TRY(one_number(fmt::format("SELECT min(sequence) FROM {} WHERE ?1=0", table)));
  const auto last = TRY(one_number(fmt::format("SELECT max(sequence) FROM {} WHERE ?1=0", table)));
  if (static_cast<std::uint64_t>(last - first) < limits_.waiting_max) return {};
  TRY(database_.run(fmt::format("DELETE FROM {}", table)));
  TRY(database_.run("INSERT OR REPLACE INTO notes (name, value) VALUES (?1, 'wanted')",
                    std::string("refill_") + table));
  return {};
}

Result<void> Catalog::keep_edge_bound(const std::string& tenant, std::uint64_t added) {
  auto known = edge_counts_.find(tenant);
  if (known == edge_counts_.end()) {
    std::uint64_t count = 0;
    TRY(database_.query(
        "SELECT count(*) FROM edges WHERE tenant=?1",
        [&](const store::Row& row) { count = static_cast<std::uint64_t>(row.integer(0)); }, tenant));
    known = edge_counts_.emplace(tenant, count).first;
  } else {
    known->second += added;
  }
  if (known->second <= limits_.edges_max) return {};
  std::vector<StoredEdge> oldest;
  TRY(database_.query(
      "SELECT number, from_kind, from_id, type, to_kind, to_id FROM edges WHERE tenant=?1 ORDER BY number "
      "LIMIT ?2",
      [&](const store::Row& row) {
        oldest.push_back(
            {row.integer(0), tenant, {{row.text(1), row.text(2)}, {row.text(4), row.text(5)}, row.text(3)}});
      },
      tenant, known->second - limits_.edges_max));
  for (const StoredEdge& one : oldest) {
    TRY(database_.run("DELETE FROM edges WHERE number=?1", one.number));
    TRY(wait_edge(tenant, "unrelate", one.edge));
  }
  known->second -= oldest.size();
  return {};
}

Result<void> Catalog::relate(const std::string& tenant, const std::vector<Edge>& edges, Origin origin) {
  const std::lock_guard lock(mutex_);
  return in_transaction([&]() -> Result<void> {
    std::uint64_t added = 0;
    for (const Edge& edge : edges) {
      const auto count = TRY(database_.run(
          "INSERT OR IGNORE INTO edges (tenant, from_kind, from_id, type, to_kind, to_id, given) VALUES "
          "(?1,?2,?3,?4,?5,?6,?7)",
          tenant, edge.from.kind, edge.from.id, edge.type, edge.to.kind, edge.to.id,
          origin == Origin::tenant ? 1 : 0));
      if (count == 0) continue;
      ++added;
      TRY(wait_edge(tenant, "relate", edge));
    }
    TRY(keep_edge_bound(tenant, added));
    return keep_waiting_bound(kEdges);
  });
}

Result<std::uint64_t> Catalog::remove_edges(const std::string& tenant, const std::vector<Edge>& edges) {
  std::uint64_t removed = 0;
  for (const Edge& edge : edges) {
    const auto count =
        TRY(database_.run("DELETE FROM edges WHERE tenant=?1 AND from_kind=?2 AND from_id=?3 AND type=?4 "
                          "AND to_kind=?5 AND to_id=?6",
                          tenant, edge.from.kind, edge.from.id, edge.type, edge.to.kind, edge.to.id));
    if (count == 0) continue;
    ++removed;
    TRY(wait_edge(tenant, "unrelate", edge));
  }
  TRY(keep_waiting_bound(kEdges));
  return removed;
}

Result<std::uint64_t> Catalog::unrelate(const std::string& tenant, const std::vector<Edge>& edges) {
  const std::lock_guard lock(mutex_);
  std::uint64_t removed = 0;
  const auto work = [&]() -> Result<void> {
    removed = TRY(remove_edges(tenant, edges));
    return {};
  };
  TRY(in_transaction(work));
  edge_counts_.erase(tenant);
  return removed;
}

Result<void> Catalog::forget_nodes(const std::string& tenant, const std::vector<Node>& nodes) {
  constexpr std::string_view kAll =
      "SELECT from_kind, from_id, type, to_kind, to_id FROM edges WHERE tenant=?1 AND given=0 AND "
      "((from_kind=?2 AND from_id=?3) OR (to_kind=?2 AND to_id=?3))";
  const std::lock_guard lock(mutex_);
  const auto work = [&]() -> Result<void> {
    std::vector<Edge> edges;
    for (const Node& node : nodes)
      TRY(database_.query(
          kAll,
          [&](const store::Row& row) {
            edges.push_back({{row.text(0), row.text(1)}, {row.text(3), row.text(4)}, row.text(2)});
          },
          tenant, node.kind, node.id));
    TRY(remove_edges(tenant, edges));
    return {};
  };
  TRY(in_transaction(work));
  edge_counts_.erase(tenant);
  return {};
}

Result<std::vector<Edge>> Catalog::edges_of(const std::string& tenant, std::span<const Node> nodes,
                                            const std::vector<std::string>& types, Direction direction,
                                            std::size_t limit) {
  constexpr std::string_view kOut =
      "SELECT type, to_kind, to_id FROM edges WHERE tenant=?1 AND from_kind=?2 AND from_id=?3 AND (?4='[]' "
      "OR "
      "type IN (SELECT value FROM json_each(?4))) ORDER BY type, to_kind, to_id LIMIT ?5";
  constexpr std::string_view kIn =
      "SELECT type, from_kind, from_id FROM edges WHERE tenant=?1 AND to_kind=?2 AND to_id=?3 AND (?4='[]' "
      "OR "
      "type IN (SELECT value FROM json_each(?4))) ORDER BY type, from_kind, from_id LIMIT ?5";
  const std::string wanted = json_list(types);
  const std::lock_guard lock(mutex_);
  std::vector<Edge> edges;
  for (const Node& node : nodes) {
    if (direction != Direction::in)
      TRY(database_.query(
          kOut,
          [&](const store::Row& row) {
            edges.push_back({node, {row.text(1), row.text(2)}, row.text(0)});
          },
          tenant, node.kind, node.id, wanted, limit));
    if (direction != Direction::out)
      TRY(database_.query(
          kIn,
          [&](const store::Row& row) {
            edges.push_back({{row.text(1), row.text(2)}, node, row.text(0)});
          },
          tenant, node.kind, node.id, wanted, limit));
  }
  return edges;
}

Result<std::vector<Catalog::StoredEdge>> Catalog::edges_after(std::int64_t after, std::size_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<StoredEdge> all;
  TRY(database_.query(
      "SELECT number, tenant, from_kind, from_id, type, to_kind, to_id FROM edges WHERE number>?1 ORDER BY "
      "number LIMIT ?2",
      [&](const store::Row& row) {
        all.push_back({row.integer(0),
                       row.text(1),
                       {{row.text(2), row.text(3)}, {row.text(5), row.text(6)}, row.text(4)}});
      },
      after, count));
  return all;
}

Result<std::uint64_t> Catalog::count_edges() {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(TRY(one_number("SELECT count(*) FROM edges WHERE ?1=0")));
}

Result<void> Catalog::forget_tenant(const std::string& tenant) {
  std::vector<Place> gone;
  for (Place& one : TRY(places()))
    if (one.tenant == tenant) gone.push_back(std::move(one));
  const std::lock_guard lock(mutex_);
  const auto work = [&]() -> Result<void> {
    for (const Place& one : gone) TRY(remove_all_of(one));
    TRY(database_.run("DELETE FROM edges WHERE tenant=?1", tenant));
    return wait_edge(tenant, "forget", {});
  };
  TRY(in_transaction(work));
  edge_counts_.erase(tenant);
  return {};
}

Result<std::vector<Catalog::WaitingVector>> Catalog::waiting_vectors(std::size_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<WaitingVector> all;
  TRY(database_.query(
      "SELECT sequence, place, dimension, number FROM waiting_vectors ORDER BY sequence LIMIT ?1",
      [&](const store::Row& row) {
        all.push_back({row.integer(0), row.integer(1), static_cast<std::size_t>(row.integer(2)),
                       static_cast<std::uint64_t>(row.integer(3))});
      },
      count));
  return all;
}

Result<std::vector<Catalog::WaitingEdge>> Catalog::waiting_edges(std::size_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<WaitingEdge> all;
  TRY(database_.query(
      "SELECT sequence, tenant, what, from_kind, from_id, type, to_kind, to_id FROM waiting_edges ORDER BY "
      "sequence LIMIT ?1",
      [&](const store::Row& row) {
        all.push_back({row.integer(0),
                       row.text(1),
                       row.text(2),
                       {{row.text(3), row.text(4)}, {row.text(6), row.text(7)}, row.text(5)}});
      },
      count));
  return all;
}

Result<std::uint64_t> Catalog::count_waiting(const char* table) {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(
      TRY(one_number(fmt::format("SELECT count(*) FROM {} WHERE ?1=0", table))));
}

Result<void> Catalog::told(const char* table, std::int64_t up_to) {
  const std::lock_guard lock(mutex_);
  TRY(database_.run(fmt::format("DELETE FROM {} WHERE sequence<=?1", table), up_to));
  return {};
}

Result<VectorChange> Catalog::current(const WaitingVector& waiting) {
  Changes found = TRY(all_vectors_after(waiting.number - 1, 1));
  if (!found.empty() && found.front().number == waiting.number) return std::move(found.front());
  return VectorChange{waiting.place, waiting.number};
}

Result<void> Catalog::forget_waiting(const char* table) {
  const std::lock_guard lock(mutex_);
  TRY(database_.run(fmt::format("DELETE FROM {}", table)));
  return {};
}

Result<std::string> Catalog::note(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::string value;
  TRY(database_.query(
      "SELECT value FROM notes WHERE name=?1", [&](const store::Row& row) { value = row.text(0); }, name));
  return value;
}

Result<void> Catalog::set_note(const std::string& name, const std::string& value) {
  const std::lock_guard lock(mutex_);
  TRY(database_.run("INSERT OR REPLACE INTO notes (name, value) VALUES (?1,?2)", name, value));
  return {};
}

}  // namespace atl::index
