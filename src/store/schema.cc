#include "store/schema.h"

#include <fmt/format.h>

#include <array>

namespace atl::store {
namespace {

// Before it had a column of its own, what a session left on the disk was told among its limits.
#define MOVE_HIBERNATION                                                                            \
  "UPDATE sessions SET hibernation=json_patch(coalesce(json_extract(limits,'$.hibernation'),'{}')," \
  "json_object('left_behind',json_extract(limits,'$.left_behind'))),"                               \
  "limits=json_remove(limits,'$.hibernation','$.left_behind') "                                     \
  "WHERE CASE WHEN json_valid(limits) THEN coalesce(json_type(limits,'$.hibernation'),"             \
  "json_type(limits,'$.left_behind')) END IS NOT NULL;"

// One entry a version, never edited once released: a new version is a new entry. docs/formats/store.md
// explains.
constexpr std::array kSteps = {
    R"sql(
CREATE TABLE sessions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL UNIQUE,
  sandbox_id TEXT NOT NULL UNIQUE,
  incarnation TEXT NOT NULL,
  tenant TEXT NOT NULL,
  key_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  environment TEXT NOT NULL,
  agent TEXT NOT NULL,
  policy TEXT NOT NULL,
  policy_mode TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER,
  ended_at INTEGER,
  ttl_ms INTEGER NOT NULL,
  extend_on_use INTEGER NOT NULL,
  on_expiry TEXT NOT NULL,
  auto_resume INTEGER NOT NULL,
  network TEXT NOT NULL,
  limits TEXT NOT NULL,
  isolation TEXT NOT NULL,
  env TEXT NOT NULL,
  metadata TEXT NOT NULL,
  attributes TEXT NOT NULL,
  parent TEXT NOT NULL,
  snapshot TEXT NOT NULL
);
CREATE INDEX sessions_by_tenant ON sessions (tenant, seq);
CREATE INDEX sessions_by_state ON sessions (state) WHERE state NOT IN ('stopped', 'failed', 'lost');
CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE records (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  record_id TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  sandbox_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  key_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  type TEXT NOT NULL,
  context TEXT NOT NULL,
  code TEXT NOT NULL,
  status TEXT NOT NULL,
  admitted_at INTEGER NOT NULL,
  verdict TEXT NOT NULL
);
CREATE INDEX records_by_session ON records (session_id, seq);
CREATE INDEX records_by_tenant ON records (tenant, seq);
CREATE INDEX records_by_time ON records (admitted_at);

CREATE TABLE record_ends (
  seq INTEGER PRIMARY KEY REFERENCES records (seq) ON DELETE CASCADE,
  status TEXT NOT NULL,
  finished_at INTEGER NOT NULL,
  out TEXT NOT NULL,
  err TEXT NOT NULL,
  out_truncated INTEGER NOT NULL,
  err_truncated INTEGER NOT NULL,
  error TEXT NOT NULL,
  error_value TEXT NOT NULL,
  traceback TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  reason TEXT NOT NULL,
  usage TEXT NOT NULL,
  artifacts TEXT NOT NULL,
  execution_count INTEGER NOT NULL
);
CREATE TRIGGER records_keep BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER record_ends_keep BEFORE UPDATE ON record_ends BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;

CREATE TABLE artifacts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  digest TEXT NOT NULL,
  session_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  record_id TEXT NOT NULL,
  path TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX artifacts_by_session ON artifacts (session_id, seq);
CREATE INDEX artifacts_by_digest ON artifacts (digest, tenant);
CREATE INDEX artifacts_by_record ON artifacts (record_id);

CREATE TABLE snapshots (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  snapshot_id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  session_id TEXT NOT NULL,
  sandbox_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  environment TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  attributes TEXT NOT NULL
);
CREATE INDEX snapshots_by_tenant ON snapshots (tenant, seq);

CREATE TABLE keys (
  key_id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
);

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  key_id TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  details TEXT NOT NULL
);

CREATE TABLE documents (
  kind TEXT NOT NULL,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (kind, tenant, id)
);
CREATE UNIQUE INDEX documents_by_name ON documents (kind, tenant, name) WHERE name <> '';
)sql",
    R"sql(
ALTER TABLE sessions ADD COLUMN volumes TEXT NOT NULL DEFAULT '{}';
)sql",
    R"sql(
ALTER TABLE sessions ADD COLUMN egress TEXT NOT NULL DEFAULT '{}';
)sql",
    R"sql(
CREATE TABLE journal (one INTEGER PRIMARY KEY CHECK (one = 1), applied INTEGER NOT NULL);
INSERT INTO journal VALUES (1, 0);
)sql",
    "ALTER TABLE sessions ADD COLUMN hibernation TEXT NOT NULL DEFAULT '{}';" MOVE_HIBERNATION,
    R"sql(
ALTER TABLE record_ends ADD COLUMN interpreter_restarted TEXT NOT NULL DEFAULT '';
)sql",
    R"sql(
ALTER TABLE record_ends ADD COLUMN tool TEXT NOT NULL DEFAULT '';
)sql",
    // Rights and quotas. Every key could do everything before there were roles: it becomes an admin's.
    R"sql(
ALTER TABLE keys ADD COLUMN kind TEXT NOT NULL DEFAULT 'key';
ALTER TABLE keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '{}';
ALTER TABLE keys ADD COLUMN networks TEXT NOT NULL DEFAULT '[]';
ALTER TABLE keys ADD COLUMN quotas TEXT NOT NULL DEFAULT '{}';
ALTER TABLE keys ADD COLUMN expires_at INTEGER;
ALTER TABLE keys ADD COLUMN last_used_at INTEGER;
ALTER TABLE keys ADD COLUMN old_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE keys ADD COLUMN old_until INTEGER;
UPDATE keys SET kind = 'token' WHERE role = 'token';
UPDATE keys SET role = 'admin' WHERE role IN ('owner', 'token');

CREATE TABLE tenants (
  name TEXT PRIMARY KEY,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  remove_at INTEGER,
  quotas TEXT NOT NULL
);
INSERT INTO tenants (name, state, created_at, changed_at, quotas)
  SELECT tenant, 'active', min(created_at), min(created_at), '{}' FROM
    (SELECT tenant, created_at FROM keys UNION ALL SELECT tenant, created_at FROM sessions) GROUP BY tenant;

CREATE TABLE usage (
  day INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  key_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  executions INTEGER NOT NULL,
  cpu_us INTEGER NOT NULL,
  wall_us INTEGER NOT NULL,
  egress_bytes INTEGER NOT NULL,
  PRIMARY KEY (tenant, day, key_id, session_id)
) WITHOUT ROWID;
CREATE INDEX usage_by_day ON usage (day);
INSERT INTO usage SELECT e.finished_at / 86400000000, r.tenant, r.key_id, r.session_id, count(*),
    sum(CASE WHEN json_valid(e.usage) THEN coalesce(json_extract(e.usage, '$.cpu_time_us'), 0) ELSE 0 END),
    sum(CASE WHEN json_valid(e.usage) THEN coalesce(json_extract(e.usage, '$.wall_time_us'), 0) ELSE 0 END), 0
  FROM record_ends e JOIN records r ON r.seq = e.seq WHERE e.status <> 'denied' GROUP BY 1, 2, 3, 4;
CREATE TRIGGER record_ends_usage AFTER INSERT ON record_ends WHEN NEW.status <> 'denied' BEGIN
  INSERT INTO usage SELECT NEW.finished_at / 86400000000, tenant, key_id, session_id, 1,
      CASE WHEN json_valid(NEW.usage) THEN coalesce(json_extract(NEW.usage, '$.cpu_time_us'), 0) ELSE 0 END,
      CASE WHEN json_valid(NEW.usage) THEN coalesce(json_extract(NEW.usage, '$.wall_time_us'), 0) ELSE 0 END, 0
    FROM records WHERE seq = NEW.seq
  ON CONFLICT (tenant, day, key_id, session_id) DO UPDATE SET executions = executions + 1,
    cpu_us = cpu_us + excluded.cpu_us, wall_us = wall_us + excluded.wall_us;
END;
CREATE INDEX sessions_by_creation ON sessions (created_at);
)sql",
    R"sql(
CREATE INDEX artifacts_by_tenant ON artifacts (tenant, digest, size_bytes);
)sql",
};

}  // namespace

int schema_version() {
  return static_cast<int>(kSteps.size());
}

Result<void> migrate(Connection& connection) {
  std::int64_t version = 0;
  TRY(connection.query("PRAGMA user_version", [&](const Row& row) { version = row.integer(0); }));
  if (version > schema_version()) {
    return fail(Code::conflict,
                fmt::format("the store has schema {}, this program knows up to {}: use a newer atoll",
                            version, schema_version()));
  }
  for (; version < schema_version(); ++version) {
    const std::string step = fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version={}; COMMIT;",
                                         kSteps[static_cast<std::size_t>(version)], version + 1);
    if (auto done = connection.script(step); !done) {
      (void)connection.script("ROLLBACK");
      return fail(std::move(done).error().context(fmt::format("move the store to schema {}", version + 1)));
    }
  }
  return {};
}

Result<void> move_hibernation(Connection& connection) {
  return connection.script(MOVE_HIBERNATION);
}

}  // namespace atl::store
