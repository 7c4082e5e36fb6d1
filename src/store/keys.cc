#include "store/store.h"

namespace atl::store {

// Of a tenant's revoked and expired keys only the last ones are kept, to be looked up: every new key is
// compared with all of them.
constexpr std::int64_t kEndedKeysKept = 1000;

static Result<void> forget_ended_keys(Connection& db, const std::string& tenant, WallTime now) {
  TRY(db.run(
      "DELETE FROM keys WHERE key_id IN (SELECT key_id FROM keys WHERE tenant=?1 AND (revoked_at IS NOT "
      "NULL OR expires_at<=?2) ORDER BY coalesce(revoked_at, expires_at) DESC, created_at DESC LIMIT -1 "
      "OFFSET ?3)",
      tenant, now, kEndedKeysKept));
  return {};
}

Task<void> Store::put_key(KeyRow row) {
  return write<void>([k = std::move(row)](Connection& db) -> Result<void> {
    TRY(
        db.run("INSERT INTO keys (key_id, tenant, role, name, hash, prefix, created_at, revoked_at, kind, "
               "scopes, networks, quotas, expires_at, last_used_at, old_hash, old_until) "
               "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
               k.key_id, k.tenant, k.role, k.name, k.hash, k.prefix, k.created_at, k.revoked_at, k.kind,
               k.scopes, k.networks, k.quotas, k.expires_at, k.last_used_at, k.old_hash, k.old_until));
    // A tenant begins with its first key.
    TRY(
        db.run("INSERT OR IGNORE INTO tenants (name, state, created_at, changed_at, quotas) "
               "VALUES (?1,'active',?2,?2,'{}')",
               k.tenant, k.created_at));
    return forget_ended_keys(db, k.tenant, k.created_at);
  });
}

Task<bool> Store::update_key(KeyRow row) {
  return write<bool>([k = std::move(row)](Connection& db) -> Result<bool> {
    return TRY(db.run(
               "UPDATE keys SET role=?2, name=?3, hash=?4, prefix=?5, scopes=?6, networks=?7, quotas=?8, "
               "expires_at=?9, last_used_at=?10, old_hash=?11, old_until=?12 WHERE key_id=?1",
               k.key_id, k.role, k.name, k.hash, k.prefix, k.scopes, k.networks, k.quotas, k.expires_at,
               k.last_used_at, k.old_hash, k.old_until)) > 0;
  });
}

Task<void> Store::touch_keys(std::vector<std::pair<std::string, WallTime>> used) {
  return write<void>([used = std::move(used)](Connection& db) -> Result<void> {
    for (const auto& [key_id, at] : used)
      TRY(db.run("UPDATE keys SET last_used_at=?2 WHERE key_id=?1", key_id, at));
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
  return read<std::vector<KeyRow>>(kOurselves, [](Connection& db) -> Result<std::vector<KeyRow>> {
    std::vector<KeyRow> keys;
    TRY(db.query(
        "SELECT key_id, tenant, role, name, hash, prefix, created_at, revoked_at, kind, scopes, "
        "networks, quotas, expires_at, last_used_at, old_hash, old_until FROM keys ORDER BY created_at",
        [&](const Row& row) {
          keys.push_back({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5),
                          row.time(6), row.maybe_time(7), row.text(8), row.text(9), row.text(10),
                          row.text(11), row.maybe_time(12), row.maybe_time(13), row.text(14),
                          row.maybe_time(15)});
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
  return read<std::vector<AuditRow>>(kOurselves, [limit](Connection& db) -> Result<std::vector<AuditRow>> {
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
