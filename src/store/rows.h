#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

// What the tables hold, column by column. JSON columns are text here: the rooms above know what is in them.
namespace atl::store {

// Plain values, copied in and out. Which words `state`, `status` or `kind` may hold is the business of the
// session room (session/state.h); here they are text.
struct SessionRow {
  std::string session_id, sandbox_id;
  std::string incarnation;  // the id its provider knows the present sandbox by
  std::string tenant, key_id;
  std::string provider, environment, agent, policy, policy_mode;
  std::string state, reason;
  WallTime created_at, last_used_at;
  std::optional<WallTime> expires_at, ended_at;
  std::int64_t ttl_ms = 0;
  bool extend_on_use = false;
  std::string on_expiry;
  bool auto_resume = false;
  std::string network;
  std::string egress;                                        // JSON object: what may be reached
  std::string limits, isolation, env, metadata, attributes;  // JSON objects
  std::string parent, snapshot;
  std::string volumes = "{}";  // JSON object: path inside to name
  std::string hibernation =
      "{}";  // JSON object: where its state lies while it is paused on disk, what was lost
};

// Empty and unset members do not narrow. Every pair of `metadata` and `attributes` must match.
struct SessionFilter {
  std::string tenant;
  std::vector<std::string> states;
  std::vector<std::pair<std::string, std::string>> metadata, attributes;
  std::string provider, environment;
  std::optional<WallTime> created_after;
  bool newest_first = true;
  std::uint32_t limit = 100;
  std::optional<std::int64_t> after;  // seq of the last row of the page before
};

struct RecordRow {
  std::int64_t seq = 0;
  std::string record_id, session_id, sandbox_id, tenant, key_id;
  std::string kind, type, context, code;
  std::string status;
  WallTime admitted_at;
  std::string verdict;  // JSON
  // From here on: known once finished.
  std::optional<WallTime> finished_at;
  std::string out, err;
  bool out_truncated = false, err_truncated = false;
  std::string error, error_value, traceback;
  int exit_code = 0;
  std::string reason;
  std::string usage;      // JSON
  std::string artifacts;  // JSON
  std::int64_t execution_count = 0;
  std::string tool;                   // JSON; of kind "tool" only
  std::string interpreter_restarted;  // why its interpreter was a new one; empty: it was not
};

// As SessionFilter.
struct RecordFilter {
  std::string tenant;
  std::string session_id;
  std::vector<std::string> statuses;
  std::optional<WallTime> from, to;
  std::string text;
  bool newest_first = true;
  std::uint32_t limit = 100;
  std::optional<std::int64_t> after;
};

struct ArtifactRow {
  std::string digest, session_id, tenant, record_id, path, media_type;
  std::int64_t size_bytes = 0;
  WallTime created_at;
};

struct SnapshotRow {
  std::int64_t seq = 0;
  std::string snapshot_id, tenant, name, session_id, sandbox_id, provider, environment;
  WallTime created_at;
  std::int64_t size_bytes = 0;
  std::string attributes;  // JSON
};

// How many there are of something, and how much they take.
struct Amount {
  std::int64_t count = 0, bytes = 0;
};

struct KeyRow {
  std::string key_id, tenant, role, name;
  std::string hash;    // SHA-256 of the key, hex; the key itself is nowhere
  std::string prefix;  // enough to recognise it by
  WallTime created_at;
  std::optional<WallTime> revoked_at;
  std::string kind = "key";     // or "token": E2B's access tokens, which stand in no list of keys
  std::string scopes = "{}";    // JSON object: what it is narrowed to
  std::string networks = "[]";  // JSON array: addresses it may be used from; empty: any
  std::string quotas = "{}";    // JSON object: of this key alone
  std::optional<WallTime> expires_at, last_used_at;
  std::string old_hash = {};  // of the key before the last rotation; empty: none
  std::optional<WallTime> old_until;
};

struct TenantRow {
  std::string name;
  std::string state = "active";  // active, suspended, removing
  WallTime created_at, changed_at;
  std::optional<WallTime> remove_at;  // of one that is removing
  std::string quotas = "{}";          // JSON object
};

// What was consumed in one day (UTC) by a key in a session. Filled by the end of every record, and by
// add_usage.
struct UsageRow {
  std::int64_t day = 0;  // since 1970-01-01
  std::string tenant, key_id, session_id;
  std::int64_t executions = 0, cpu_us = 0, wall_us = 0, egress_bytes = 0;
};

struct UsageFilter {
  std::string tenant, key_id, session_id;  // empty: all
  std::int64_t from_day = 0, to_day = 1LL << 40;
  // Which of them rows are told apart by; the others are empty in the answer.
  bool by_day = true, by_key = false, by_session = false;
  std::uint32_t limit = 10'000;
};

struct AuditRow {
  WallTime at;
  std::string tenant, key_id, action, subject, details;
};

// Something a dialect keeps by kind and id (E2B templates, volumes, ...), with a name unique in kind and
// tenant.
struct DocumentRow {
  std::string kind, tenant, id, name;
  std::string body;  // JSON
  WallTime created_at, updated_at;
};

// A part of a list, and where the next part begins: to be given as `after`. Unset: there is no more.
template <class T>
struct PageOf {
  std::vector<T> items;
  std::optional<std::int64_t> next;
};

}  // namespace atl::store
