#include <fmt/format.h>

#include "store/history.h"
#include "store/store.h"

namespace atl::store {
namespace {

#define SNAPSHOT_COLUMNS                                                                                    \
  "seq, snapshot_id, tenant, name, session_id, sandbox_id, provider, environment, created_at, size_bytes, " \
  "attributes"

SnapshotRow snapshot_from(const Row& row) {
  return {row.integer(0), row.text(1), row.text(2), row.text(3),    row.text(4), row.text(5),
          row.text(6),    row.text(7), row.time(8), row.integer(9), row.text(10)};
}

}  // namespace

Task<void> Store::put_snapshot(SnapshotRow row) {
  return write<void>([s = std::move(row)](Connection& db) -> Result<void> {
    TRY(db.run(
        "INSERT INTO snapshots (snapshot_id, tenant, name, session_id, sandbox_id, provider, environment, "
        "created_at, size_bytes, attributes) VALUES (?,?,?,?,?,?,?,?,?,?)",
        s.snapshot_id, s.tenant, s.name, s.session_id, s.sandbox_id, s.provider, s.environment, s.created_at,
        s.size_bytes, s.attributes));
    return {};
  });
}

Task<SnapshotRow> Store::get_snapshot(std::string tenant, std::string id) {
  return read<SnapshotRow>(tenant, [tenant, id = std::move(id)](Connection& db) -> Result<SnapshotRow> {
    std::optional<SnapshotRow> found;
    // A name may be given again: the newest snapshot of that name is meant.
    TRY(db.query(
        "SELECT " SNAPSHOT_COLUMNS
        " FROM snapshots WHERE tenant=?1 AND (snapshot_id=?2 OR (name<>'' AND name=?2)) ORDER BY seq "
        "DESC LIMIT 1",
        [&](const Row& row) { found = snapshot_from(row); }, tenant, id));
    if (!found) return fail(Code::not_found, fmt::format("no snapshot {}", id));
    return std::move(*found);
  });
}

Task<PageOf<SnapshotRow>> Store::list_snapshots(std::string tenant, std::string session_id,
                                                std::uint32_t limit, std::optional<std::int64_t> after) {
  return read<PageOf<SnapshotRow>>(tenant, [=](Connection& db) -> Result<PageOf<SnapshotRow>> {
    PageOf<SnapshotRow> page;
    TRY(db.query(
        "SELECT " SNAPSHOT_COLUMNS
        " FROM snapshots WHERE tenant=?1 AND (?2='' OR session_id=?2 OR sandbox_id=?2) AND (?3 IS NULL OR "
        "seq<?3) "
        "ORDER BY seq DESC LIMIT ?4",
        [&](const Row& row) {
          if (page.items.size() == limit) {
            page.next = page.items.back().seq;
            return;
          }
          page.items.push_back(snapshot_from(row));
        },
        tenant, session_id, after, limit + 1));
    return page;
  });
}

Task<bool> Store::remove_snapshot(std::string tenant, std::string snapshot_id) {
  return write<bool>([=](Connection& db) -> Result<bool> {
    return TRY(db.run("DELETE FROM snapshots WHERE tenant=?1 AND snapshot_id=?2", tenant, snapshot_id)) > 0;
  });
}

Task<Amount> Store::snapshot_amount(std::string tenant) {
  return read<Amount>(tenant, [=](Connection& db) -> Result<Amount> {
    Amount amount;
    TRY(db.query(
        "SELECT count(*), coalesce(sum(size_bytes), 0) FROM snapshots WHERE tenant=?1",
        [&](const Row& row) {
          amount = {row.integer(0), row.integer(1)};
        },
        tenant));
    return amount;
  });
}

Task<std::int64_t> Store::stored_bytes(std::string tenant) {
  return read_all<std::int64_t>(tenant, [tenant](Connection& db) -> Result<std::int64_t> {
    std::int64_t bytes = 0;
    TRY(db.query(
        "SELECT (SELECT coalesce(sum(size_bytes), 0) FROM snapshots WHERE tenant=?1) + "
        "(SELECT coalesce(sum(size), 0) FROM (SELECT max(size_bytes) AS size FROM artifacts "
        "WHERE tenant=?1 GROUP BY digest))",
        [&](const Row& row) { bytes = row.integer(0); }, tenant));
    return bytes;
  });
}

Task<std::vector<SnapshotRow>> Store::snapshots_before(WallTime time) {
  return read<std::vector<SnapshotRow>>(kOurselves, [=](Connection& db) -> Result<std::vector<SnapshotRow>> {
    std::vector<SnapshotRow> rows;
    TRY(db.query(
        "SELECT " SNAPSHOT_COLUMNS " FROM snapshots WHERE created_at<?1 ORDER BY seq",
        [&](const Row& row) { rows.push_back(snapshot_from(row)); }, time));
    return rows;
  });
}

Result<std::vector<SnapshotRow>> snapshots_after(Connection& db, std::int64_t after, std::int64_t count) {
  std::vector<SnapshotRow> rows;
  TRY(db.query(
      "SELECT " SNAPSHOT_COLUMNS " FROM snapshots WHERE seq>?1 ORDER BY seq LIMIT ?2",
      [&](const Row& row) { rows.push_back(snapshot_from(row)); }, after, count));
  return rows;
}

Task<std::vector<std::string>> Store::snapshot_ids() {
  return read<std::vector<std::string>>(kOurselves, [](Connection& db) -> Result<std::vector<std::string>> {
    std::vector<std::string> ids;
    TRY(db.query("SELECT snapshot_id FROM snapshots", [&](const Row& row) { ids.push_back(row.text(0)); }));
    return ids;
  });
}

}  // namespace atl::store
