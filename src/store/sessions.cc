#include <fmt/format.h>

#include "base/json.h"
#include "store/entry.h"
#include "store/history.h"
#include "store/page_bytes.h"
#include "store/store.h"
#include "store/words.h"

namespace atl::store {
namespace {

#define SESSION_COLUMNS                                                                                      \
  "session_id, sandbox_id, incarnation, tenant, key_id, provider, environment, agent, policy, policy_mode, " \
  "state, reason, created_at, last_used_at, expires_at, ended_at, ttl_ms, extend_on_use, on_expiry, "        \
  "auto_resume, network, limits, isolation, env, metadata, attributes, parent, snapshot, volumes, egress, "  \
  "hibernation"

SessionRow session_from(const Row& row) {
  SessionRow s;
  s.session_id = row.text(0);
  s.sandbox_id = row.text(1);
  s.incarnation = row.text(2);
  s.tenant = row.text(3);
  s.key_id = row.text(4);
  s.provider = row.text(5);
  s.environment = row.text(6);
  s.agent = row.text(7);
  s.policy = row.text(8);
  s.policy_mode = row.text(9);
  s.state = row.text(10);
  s.reason = row.text(11);
  s.created_at = row.time(12);
  s.last_used_at = row.time(13);
  s.expires_at = row.maybe_time(14);
  s.ended_at = row.maybe_time(15);
  s.ttl_ms = row.integer(16);
  s.extend_on_use = row.boolean(17);
  s.on_expiry = row.text(18);
  s.auto_resume = row.boolean(19);
  s.network = row.text(20);
  s.limits = row.text(21);
  s.isolation = row.text(22);
  s.env = row.text(23);
  s.metadata = row.text(24);
  s.attributes = row.text(25);
  s.parent = row.text(26);
  s.snapshot = row.text(27);
  s.volumes = row.text(28);
  s.egress = row.text(29);
  s.hibernation = row.text(30);
  return s;
}

std::string pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out = "[";
  for (const auto& [key, value] : pairs) {
    if (out.size() > 1) out += ',';
    out += '[';
    json::append_quoted(out, key);
    out += ',';
    json::append_quoted(out, value);
    out += ']';
  }
  return out + "]";
}

// Empty parameters mean "any". Ordered by seq, which is the order of creation and makes pages stable.
std::string list_sessions_sql(bool newest_first) {
  const auto all_pairs_match = [](std::string_view column, int parameter) {
    return fmt::format(
        " AND (?{1}='[]' OR NOT EXISTS (SELECT 1 FROM json_each(?{1}) AS wanted WHERE NOT EXISTS (SELECT 1 "
        "FROM "
        "json_each(sessions.{0}) AS has WHERE has.key=json_extract(wanted.value,'$[0]') AND "
        "has.value=json_extract(wanted.value,'$[1]'))))",
        column, parameter);
  };
  return fmt::format("SELECT " SESSION_COLUMNS
                     ", seq FROM sessions WHERE tenant=?1"
                     " AND (?2='[]' OR state IN (SELECT value FROM json_each(?2)))"
                     "{}{}"
                     " AND (?5='' OR provider=?5) AND (?6='' OR environment=?6)"
                     " AND (?7 IS NULL OR created_at>=?7) AND (?8 IS NULL OR seq{}?8)"
                     " ORDER BY seq {} LIMIT ?9",
                     all_pairs_match("metadata", 3), all_pairs_match("attributes", 4),
                     newest_first ? '<' : '>', newest_first ? "DESC" : "ASC");
}

}  // namespace

Result<void> put_session(Connection& db, const SessionRow& s) {
  TRY(db.run("INSERT INTO sessions (" SESSION_COLUMNS
             ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
             // What a session was made as never changes, so only the rest is listed.
             "ON CONFLICT (session_id) DO UPDATE SET incarnation=excluded.incarnation, state=excluded.state, "
             "reason=excluded.reason, last_used_at=excluded.last_used_at, expires_at=excluded.expires_at, "
             "ended_at=excluded.ended_at, ttl_ms=excluded.ttl_ms, extend_on_use=excluded.extend_on_use, "
             "on_expiry=excluded.on_expiry, auto_resume=excluded.auto_resume, limits=excluded.limits, "
             "isolation=excluded.isolation, env=excluded.env, metadata=excluded.metadata, "
             "attributes=excluded.attributes, snapshot=excluded.snapshot, network=excluded.network, "
             "egress=excluded.egress, hibernation=excluded.hibernation",
             s.session_id, s.sandbox_id, s.incarnation, s.tenant, s.key_id, s.provider, s.environment,
             s.agent, s.policy, s.policy_mode, s.state, s.reason, s.created_at, s.last_used_at, s.expires_at,
             s.ended_at, s.ttl_ms, s.extend_on_use, s.on_expiry, s.auto_resume, s.network, s.limits,
             s.isolation, s.env, s.metadata, s.attributes, s.parent, s.snapshot, s.volumes, s.egress,
             s.hibernation));
  return {};
}

Task<void> Store::put_session(SessionRow row) {
  if (writer_->has_journal()) co_return writer_->append(encode_session(row));
  auto put = [row = std::move(row)](Connection& db) { return store::put_session(db, row); };
  co_return co_await write<void>(std::move(put));
}

Task<SessionRow> Store::get_session(std::string id) {
  return read_all<SessionRow>(kOurselves, [id = std::move(id)](Connection& db) -> Result<SessionRow> {
    std::optional<SessionRow> found;
    TRY(db.query(
        "SELECT " SESSION_COLUMNS " FROM sessions WHERE session_id=?1 OR sandbox_id=?1",
        [&](const Row& row) { found = session_from(row); }, id));
    if (!found) return fail(Code::not_found, fmt::format("no session {}", id));
    return std::move(*found);
  });
}

Result<std::optional<SessionRow>> session_of(Connection& db, const std::string& session_id) {
  std::optional<SessionRow> found;
  TRY(db.query(
      "SELECT " SESSION_COLUMNS " FROM sessions WHERE session_id=?1",
      [&](const Row& row) { found = session_from(row); }, session_id));
  return found;
}

Result<std::vector<SessionRow>> sessions_after(Connection& db, std::int64_t& after, std::int64_t count) {
  std::vector<SessionRow> rows;
  std::int64_t last = after;
  TRY(db.query(
      "SELECT " SESSION_COLUMNS ", seq FROM sessions WHERE seq>?1 ORDER BY seq LIMIT ?2",
      [&](const Row& row) {
        rows.push_back(session_from(row));
        last = row.integer(31);
      },
      after, count));
  after = last;
  return rows;
}

Task<PageOf<SessionRow>> Store::list_sessions(SessionFilter filter) {
  return read_all<PageOf<SessionRow>>(filter.tenant, [filter](Connection& db) -> Result<PageOf<SessionRow>> {
    PageOf<SessionRow> page;
    std::int64_t last = 0;
    std::size_t bytes = 0;
    const std::string states = json_array(filter.states);
    const std::string metadata = pairs_json(filter.metadata);
    const std::string attributes = pairs_json(filter.attributes);
    TRY(db.query(
        list_sessions_sql(filter.newest_first),
        [&](const Row& row) {
          // One row more than asked for was selected: its being there says that there is a next page.
          if (page.items.size() == filter.limit || bytes >= kPageBytes) {
            page.next = last;
            return;
          }
          page.items.push_back(session_from(row));
          const SessionRow& taken = page.items.back();
          bytes += taken.env.size() + taken.metadata.size() + taken.attributes.size() + taken.egress.size() +
                   taken.volumes.size();
          last = row.integer(31);
        },
        filter.tenant, states, metadata, attributes, filter.provider, filter.environment,
        filter.created_after, filter.after, filter.limit + 1));
    return page;
  });
}

Task<std::vector<SessionRow>> Store::sessions_in(std::vector<std::string> states) {
  return read_all<std::vector<SessionRow>>(
      kOurselves, [states = std::move(states)](Connection& db) -> Result<std::vector<SessionRow>> {
        std::vector<SessionRow> rows;
        const std::string words = json_array(states);
        TRY(db.query(
            "SELECT " SESSION_COLUMNS
            " FROM sessions WHERE state IN (SELECT value FROM json_each(?1)) ORDER BY seq",
            [&](const Row& row) { rows.push_back(session_from(row)); }, words));
        return rows;
      });
}

Task<std::int64_t> Store::remove_sessions_ended_before(WallTime before) {
  return write<std::int64_t>([before](Connection& db) -> Result<std::int64_t> {
    constexpr std::string_view kGone =
        "(SELECT session_id FROM sessions WHERE ended_at IS NOT NULL AND ended_at<?1)";
    TRY(db.run(
        fmt::format("DELETE FROM record_ends WHERE seq IN (SELECT seq FROM records WHERE session_id IN {})",
                    kGone),
        before));
    TRY(db.run(fmt::format("DELETE FROM records WHERE session_id IN {}", kGone), before));
    TRY(db.run(fmt::format("DELETE FROM artifacts WHERE session_id IN {}", kGone), before));
    return db.run("DELETE FROM sessions WHERE ended_at IS NOT NULL AND ended_at<?1", before);
  });
}

}  // namespace atl::store
