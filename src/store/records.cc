#include <fmt/format.h>

#include "store/entry.h"
#include "store/history.h"
#include "store/page_bytes.h"
#include "store/store.h"
#include "store/words.h"

namespace atl::store {
namespace {

#define RECORD_COLUMNS                                                                                      \
  "r.seq, r.record_id, r.session_id, r.sandbox_id, r.tenant, r.key_id, r.kind, r.type, r.context, r.code, " \
  "coalesce(e.status, r.status), r.admitted_at, r.verdict, e.finished_at, e.out, e.err, e.out_truncated, "  \
  "e.err_truncated, e.error, e.error_value, e.traceback, e.exit_code, e.reason, e.usage, e.artifacts, "     \
  "e.execution_count, e.interpreter_restarted, e.tool"
#define RECORD_TABLES " FROM records AS r LEFT JOIN record_ends AS e ON e.seq=r.seq "

RecordRow record_from(const Row& row) {
  RecordRow r;
  r.seq = row.integer(0);
  r.record_id = row.text(1);
  r.session_id = row.text(2);
  r.sandbox_id = row.text(3);
  r.tenant = row.text(4);
  r.key_id = row.text(5);
  r.kind = row.text(6);
  r.type = row.text(7);
  r.context = row.text(8);
  r.code = row.text(9);
  r.status = row.text(10);
  r.admitted_at = row.time(11);
  r.verdict = row.text(12);
  r.finished_at = row.maybe_time(13);
  r.out = row.text(14);
  r.err = row.text(15);
  r.out_truncated = row.boolean(16);
  r.err_truncated = row.boolean(17);
  r.error = row.text(18);
  r.error_value = row.text(19);
  r.traceback = row.text(20);
  r.exit_code = static_cast<int>(row.integer(21));
  r.reason = row.text(22);
  r.usage = row.text(23);
  r.artifacts = row.text(24);
  r.execution_count = row.integer(25);
  r.interpreter_restarted = row.text(26);
  r.tool = row.text(27);
  return r;
}

constexpr std::string_view kInsertEnd =
    "INSERT INTO record_ends (seq, status, finished_at, out, err, out_truncated, err_truncated, error, "
    "error_value, "
    "traceback, exit_code, reason, usage, artifacts, execution_count, interpreter_restarted, tool) "
    "SELECT seq, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17 FROM records WHERE "
    "record_id=?1";

Result<void> put_artifact(Connection& db, const ArtifactRow& a) {
  TRY(db.run(
      "INSERT INTO artifacts (digest, session_id, tenant, record_id, path, media_type, size_bytes, "
      "created_at) "
      "VALUES (?,?,?,?,?,?,?,?)",
      a.digest, a.session_id, a.tenant, a.record_id, a.path, a.media_type, a.size_bytes, a.created_at));
  return {};
}

ArtifactRow artifact_from(const Row& row) {
  return {row.text(0), row.text(1), row.text(2),    row.text(3),
          row.text(4), row.text(5), row.integer(6), row.time(7)};
}

#define ARTIFACT_COLUMNS "digest, session_id, tenant, record_id, path, media_type, size_bytes, created_at"

std::string list_records_sql(bool newest_first) {
  return fmt::format("SELECT " RECORD_COLUMNS RECORD_TABLES
                     "WHERE r.tenant=?1 AND (?2='' OR r.session_id=?2)"
                     " AND (?3='[]' OR coalesce(e.status, r.status) IN (SELECT value FROM json_each(?3)))"
                     " AND (?4 IS NULL OR r.admitted_at>=?4) AND (?5 IS NULL OR r.admitted_at<=?5)"
                     " AND (?6='' OR instr(r.code, ?6)>0 OR instr(e.out, ?6)>0 OR instr(e.err, ?6)>0)"
                     " AND (?7 IS NULL OR r.seq{}?7) ORDER BY r.seq {} LIMIT ?8",
                     newest_first ? '<' : '>', newest_first ? "DESC" : "ASC");
}

}  // namespace

Result<void> put_admission(Connection& db, const RecordRow& r) {
  TRY(db.run(
      "INSERT INTO records (record_id, session_id, sandbox_id, tenant, key_id, kind, type, context, code, "
      "status, admitted_at, verdict) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
      r.record_id, r.session_id, r.sandbox_id, r.tenant, r.key_id, r.kind, r.type, r.context, r.code,
      r.status, r.admitted_at, r.verdict));
  return {};
}

Result<void> put_end(Connection& db, const RecordRow& r, const std::vector<ArtifactRow>& artifacts) {
  const std::int64_t written =
      TRY(db.run(kInsertEnd, r.record_id, r.status, r.finished_at, r.out, r.err, r.out_truncated,
                 r.err_truncated, r.error, r.error_value, r.traceback, r.exit_code, r.reason, r.usage,
                 r.artifacts, r.execution_count, r.interpreter_restarted, r.tool));
  if (written == 0) return fail(Code::not_found, fmt::format("no record {}", r.record_id));
  for (const ArtifactRow& artifact : artifacts) TRY(put_artifact(db, artifact));
  return {};
}

Task<void> Store::admit(RecordRow row) {
  if (!writer_->has_journal()) {
    auto put = [row = std::move(row)](Connection& db) { return put_admission(db, row); };
    co_return co_await write<void>(std::move(put));
  }
  if (open_records_.contains(row.record_id)) {
    co_return fail(Code::already_exists, fmt::format("record {} was admitted before", row.record_id));
  }
  CO_CHECK(writer_->append(encode_admission(row)));
  open_records_.insert(std::move(row.record_id));
  co_return Result<void>{};
}

// A record that this process did not admit is a question for the database.
Task<void> Store::finish(RecordRow row, std::vector<ArtifactRow> artifacts) {
  if (!open_records_.contains(row.record_id)) {
    auto put = [row = std::move(row), artifacts = std::move(artifacts)](Connection& db) {
      return put_end(db, row, artifacts);
    };
    co_return co_await write<void>(std::move(put));
  }
  CO_CHECK(writer_->append(encode_end(row, artifacts)));
  open_records_.erase(row.record_id);
  co_return Result<void>{};
}

Task<PageOf<RecordRow>> Store::list_records(RecordFilter filter) {
  return read_all<PageOf<RecordRow>>(
      filter.tenant, [f = filter](Connection& db) -> Result<PageOf<RecordRow>> {
        PageOf<RecordRow> page;
        std::size_t bytes = 0;
        const std::string statuses = json_array(f.statuses);
        TRY(db.query(
            list_records_sql(f.newest_first),
            [&](const Row& row) {
              if (page.items.size() == f.limit || bytes >= kPageBytes) {
                page.next = page.items.back().seq;
                return;
              }
              page.items.push_back(record_from(row));
              const RecordRow& taken = page.items.back();
              bytes += taken.code.size() + taken.out.size() + taken.err.size() + taken.verdict.size() +
                       taken.traceback.size() + taken.error_value.size() + taken.artifacts.size();
            },
            f.tenant, f.session_id, statuses, f.from, f.to, f.text, f.after, f.limit + 1));
        return page;
      });
}

Result<std::vector<RecordName>> ended_before(Connection& db, std::int64_t before, std::int64_t count) {
  std::vector<RecordName> names;
  TRY(db.query(
      "SELECT r.seq, r.tenant, r.record_id FROM records AS r JOIN record_ends AS e ON e.seq=r.seq WHERE "
      "r.seq<?1 "
      "ORDER BY r.seq DESC LIMIT ?2",
      [&](const Row& row) {
        names.push_back({row.integer(0), row.text(1), row.text(2)});
      },
      before, count));
  return names;
}

Result<std::vector<RecordRow>> ended_after(Connection& db, std::int64_t after, std::int64_t count) {
  std::vector<RecordRow> rows;
  TRY(db.query(
      "SELECT " RECORD_COLUMNS RECORD_TABLES "WHERE r.seq>?1 AND e.seq IS NOT NULL ORDER BY r.seq LIMIT ?2",
      [&](const Row& row) { rows.push_back(record_from(row)); }, after, count));
  return rows;
}

Result<std::int64_t> count_ended(Connection& db) {
  std::int64_t count = 0;
  TRY(db.query("SELECT count(*) FROM record_ends", [&](const Row& row) { count = row.integer(0); }));
  return count;
}

Task<RecordRow> Store::get_record(std::string tenant, std::string record_id) {
  return read_all<RecordRow>(
      tenant, [tenant, id = std::move(record_id)](Connection& db) -> Result<RecordRow> {
        std::optional<RecordRow> found;
        TRY(db.query(
            "SELECT " RECORD_COLUMNS RECORD_TABLES "WHERE r.record_id=?1 AND r.tenant=?2",
            [&](const Row& row) { found = record_from(row); }, id, tenant));
        if (!found) return fail(Code::not_found, fmt::format("no record {}", id));
        return std::move(*found);
      });
}

Task<std::int64_t> Store::interrupt_unfinished(WallTime at, std::string reason,
                                               std::vector<std::string> still_running) {
  return write<std::int64_t>([at, reason = std::move(reason),
                              running = json_array(still_running)](Connection& db) {
    return db.run(
        "INSERT INTO record_ends (seq, status, finished_at, out, err, out_truncated, err_truncated, error, "
        "error_value, traceback, exit_code, reason, usage, artifacts, execution_count) "
        "SELECT r.seq, 'interrupted', ?1, '', '', 0, 0, '', '', '', -1, ?2, '{}', '[]', 0 FROM records AS r "
        "WHERE r.status='admitted' AND NOT EXISTS (SELECT 1 FROM record_ends AS e WHERE e.seq=r.seq) "
        "AND r.record_id NOT IN (SELECT value FROM json_each(?3))",
        at, reason, running);
  });
}

Task<std::int64_t> Store::remove_records(WallTime before, std::int64_t bytes_max) {
  return write<std::int64_t>([before, bytes_max](Connection& db) -> Result<std::int64_t> {
    // Unfinished ones are never touched.
    TRY(db.script("CREATE TEMP TABLE IF NOT EXISTS doomed (seq INTEGER PRIMARY KEY); DELETE FROM doomed;"));
    TRY(
        db.run("INSERT INTO doomed SELECT seq FROM (SELECT r.seq AS seq, r.admitted_at AS at, r.status AS "
               "status, e.seq AS "
               "ended, sum(length(r.code) + coalesce(length(e.out) + length(e.err), 0) + 512) OVER "
               "(PARTITION BY r.tenant "
               "ORDER BY r.seq DESC) AS total FROM records AS r LEFT JOIN record_ends AS e ON e.seq=r.seq) "
               "WHERE (at<?1 OR "
               "total>?2) AND (status='denied' OR ended IS NOT NULL)",
               before, bytes_max));
    TRY(
        db.run("DELETE FROM artifacts WHERE record_id IN (SELECT record_id FROM records WHERE seq IN (SELECT "
               "seq FROM "
               "doomed))"));
    return db.run("DELETE FROM records WHERE seq IN (SELECT seq FROM doomed)");
  });
}

Task<std::int64_t> Store::trim_artifacts(std::int64_t bytes_max) {
  return write<std::int64_t>([bytes_max](Connection& db) -> Result<std::int64_t> {
    return db.run(
        "DELETE FROM artifacts WHERE seq IN (SELECT seq FROM (SELECT seq, sum(size_bytes) OVER (PARTITION BY "
        "tenant ORDER "
        "BY seq DESC) AS total FROM artifacts) WHERE total>?1)",
        bytes_max);
  });
}

Task<std::vector<ArtifactRow>> Store::list_artifacts(std::string session_id) {
  return read_all<std::vector<ArtifactRow>>(
      kOurselves, [id = std::move(session_id)](Connection& db) -> Result<std::vector<ArtifactRow>> {
        std::vector<ArtifactRow> rows;
        TRY(db.query(
            "SELECT " ARTIFACT_COLUMNS " FROM artifacts WHERE session_id=?1 ORDER BY seq",
            [&](const Row& row) { rows.push_back(artifact_from(row)); }, id));
        return rows;
      });
}

Task<ArtifactRow> Store::get_artifact(std::string tenant, std::string digest) {
  return read_all<ArtifactRow>(
      tenant, [tenant, digest = std::move(digest)](Connection& db) -> Result<ArtifactRow> {
        std::optional<ArtifactRow> found;
        TRY(db.query(
            "SELECT " ARTIFACT_COLUMNS
            " FROM artifacts WHERE digest=?1 AND tenant=?2 ORDER BY seq DESC LIMIT 1",
            [&](const Row& row) { found = artifact_from(row); }, digest, tenant));
        if (!found) return fail(Code::not_found, "no such artifact");
        return std::move(*found);
      });
}

Task<std::vector<std::string>> Store::artifact_digests() {
  return read_all<std::vector<std::string>>(
      kOurselves, [](Connection& db) -> Result<std::vector<std::string>> {
        std::vector<std::string> digests;
        TRY(db.query("SELECT DISTINCT digest FROM artifacts",
                     [&](const Row& row) { digests.push_back(row.text(0)); }));
        return digests;
      });
}

Result<std::vector<std::string>> records_gone(Connection& db, const std::vector<std::string>& record_ids) {
  std::vector<std::string> gone;
  for (const std::string& id : record_ids) {
    bool is_there = false;
    TRY(db.query(
        "SELECT 1 FROM records WHERE record_id=?1", [&](const Row&) { is_there = true; }, id));
    if (!is_there) gone.push_back(id);
  }
  return gone;
}

Result<std::vector<std::string>> artifacts_gone(Connection& db, const std::string& tenant,
                                                const std::vector<std::string>& digests) {
  std::vector<std::string> gone;
  for (const std::string& digest : digests) {
    bool is_there = false;
    TRY(db.query(
        "SELECT 1 FROM artifacts WHERE digest=?1 AND tenant=?2 LIMIT 1", [&](const Row&) { is_there = true; },
        digest, tenant));
    if (!is_there) gone.push_back(digest);
  }
  return gone;
}

}  // namespace atl::store
