#include "store/store.h"

namespace atl::store {

Task<void> Store::put_key(KeyRow row) {
  return write<void>([k = std::move(row)](Connection& db) -> Result<void> {
    TRY(
        db.run("INSERT INTO keys (key_id, tenant, role, name, hash, prefix, created_at, revoked_at) "
               "VALUES (?,?,?,?,?,?,?,?)",
               k.key_id, k.tenant, k.role, k.name, k.hash, k.prefix, k.created_at, k.revoked_at));
    return {};
  });
}

Task<void> Store::rename_key(std::string key_id, std::string name) {
  return write<void>([id = std::move(key_id), name = std::move(name)](Connection& db) -> Result<void> {
    TRY(db.run("UPDATE keys SET name=? WHERE key_id=?", name, id));
    return {};
  });
}

Task<std::vector<KeyRow>> Store::list_keys() {
  return read<std::vector<KeyRow>>([](Connection& db) -> Result<std::vector<KeyRow>> {
    std::vector<KeyRow> keys;
    TRY(
        db.query("SELECT key_id, tenant, role, name, hash, prefix, created_at, revoked_at FROM keys ORDER BY "
                 "created_at",
                 [&](const Row& row) {
                   keys.push_back({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4),
                                   row.text(5), row.time(6), row.maybe_time(7)});
                 }));
    return keys;
  });
}

Task<bool> Store::revoke_key(std::string key_id, WallTime at) {
  return write<bool>([=](Connection& db) -> Result<bool> {
    return TRY(db.run("UPDATE keys SET revoked_at=?2 WHERE key_id=?1 AND revoked_at IS NULL", key_id, at)) >
           0;
  });
}

Task<void> Store::audit(AuditRow row) {
  return write<void>([a = std::move(row)](Connection& db) -> Result<void> {
    TRY(db.run("INSERT INTO audit (at, tenant, key_id, action, subject, details) VALUES (?,?,?,?,?,?)", a.at,
               a.tenant, a.key_id, a.action, a.subject, a.details));
    return {};
  });
}

Task<std::vector<AuditRow>> Store::list_audit(std::uint32_t limit) {
  return read<std::vector<AuditRow>>([limit](Connection& db) -> Result<std::vector<AuditRow>> {
    std::vector<AuditRow> rows;
    TRY(db.query(
        "SELECT at, tenant, key_id, action, subject, details FROM audit ORDER BY seq DESC LIMIT ?1",
        [&](const Row& row) {
          rows.push_back({row.time(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5)});
        },
        limit));
    return rows;
  });
}

}  // namespace atl::store
