#include "store/store.h"

namespace atl::store {

Task<void> Store::put_tenant(TenantRow row) {
  return write<void>([t = std::move(row)](Connection& db) -> Result<void> {
    TRY(
        db.run("INSERT INTO tenants (name, state, created_at, changed_at, remove_at, quotas) "
               "VALUES (?1,?2,?3,?4,?5,?6) ON CONFLICT (name) DO UPDATE SET state=?2, changed_at=?4, "
               "remove_at=?5, quotas=?6",
               t.name, t.state, t.created_at, t.changed_at, t.remove_at, t.quotas));
    return {};
  });
}

Task<std::vector<TenantRow>> Store::list_tenants() {
  return read<std::vector<TenantRow>>(kOurselves, [](Connection& db) -> Result<std::vector<TenantRow>> {
    std::vector<TenantRow> tenants;
    TRY(db.query("SELECT name, state, created_at, changed_at, remove_at, quotas FROM tenants ORDER BY name",
                 [&](const Row& row) {
                   tenants.push_back(
                       {row.text(0), row.text(1), row.time(2), row.time(3), row.maybe_time(4), row.text(5)});
                 }));
    return tenants;
  });
}

Task<void> Store::remove_tenant(std::string name) {
  return write<void>([name = std::move(name)](Connection& db) -> Result<void> {
    for (const char* sql : {"DELETE FROM artifacts WHERE tenant=?1", "DELETE FROM records WHERE tenant=?1",
                            "DELETE FROM sessions WHERE tenant=?1", "DELETE FROM snapshots WHERE tenant=?1",
                            "DELETE FROM documents WHERE tenant=?1", "DELETE FROM usage WHERE tenant=?1",
                            "DELETE FROM keys WHERE tenant=?1", "DELETE FROM tenants WHERE name=?1"})
      TRY(db.run(sql, name));
    return {};
  });
}

Task<void> Store::add_usage(std::vector<UsageRow> rows) {
  return write<void>([rows = std::move(rows)](Connection& db) -> Result<void> {
    for (const UsageRow& row : rows)
      TRY(db.run(
          "INSERT INTO usage (day, tenant, key_id, session_id, executions, cpu_us, wall_us, egress_bytes) "
          "VALUES (?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT (tenant, day, key_id, session_id) DO UPDATE SET "
          "executions=executions+?5, cpu_us=cpu_us+?6, wall_us=wall_us+?7, egress_bytes=egress_bytes+?8",
          row.day, row.tenant, row.key_id, row.session_id, row.executions, row.cpu_us, row.wall_us,
          row.egress_bytes));
    return {};
  });
}

Task<std::vector<UsageRow>> Store::list_usage(UsageFilter filter) {
  return read_all<
      std::vector<UsageRow>>(filter.tenant, [f = filter](Connection& db) -> Result<std::vector<UsageRow>> {
    std::vector<UsageRow> rows;
    TRY(db.query(
        "SELECT CASE WHEN ?6 THEN day ELSE 0 END AS d, tenant, CASE WHEN ?7 THEN key_id ELSE '' END AS k, "
        "CASE WHEN ?8 THEN session_id ELSE '' END AS s, sum(executions), sum(cpu_us), sum(wall_us), "
        "sum(egress_bytes) FROM usage WHERE (?1='' OR tenant=?1) AND (?2='' OR key_id=?2) AND "
        "(?3='' OR session_id=?3) AND day>=?4 AND day<=?5 GROUP BY d, tenant, k, s ORDER BY d, tenant, k, s "
        "LIMIT ?9",
        [&](const Row& row) {
          rows.push_back({row.integer(0), row.text(1), row.text(2), row.text(3), row.integer(4),
                          row.integer(5), row.integer(6), row.integer(7)});
        },
        f.tenant, f.key_id, f.session_id, f.from_day, f.to_day, f.by_day, f.by_key, f.by_session,
        static_cast<std::int64_t>(f.limit)));
    return rows;
  });
}

Task<std::int64_t> Store::remove_usage_before(std::int64_t day) {
  return write<std::int64_t>([day](Connection& db) { return db.run("DELETE FROM usage WHERE day<?1", day); });
}

Task<std::vector<Store::Creation>> Store::creations_since(WallTime time) {
  return read_all<std::vector<Creation>>(kOurselves, [time](Connection& db) -> Result<std::vector<Creation>> {
    std::vector<Creation> all;
    TRY(db.query(
        "SELECT tenant, key_id, created_at FROM sessions WHERE created_at>=?1 ORDER BY created_at",
        [&](const Row& row) {
          all.push_back({row.text(0), row.text(1), row.time(2)});
        },
        time));
    return all;
  });
}

}  // namespace atl::store
