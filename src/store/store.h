#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/latency.h"
#include "os/fair_pool.h"
#include "os/task.h"
#include "store/rows.h"
#include "store/sqlite.h"
#include "store/writer.h"

namespace atl::store {

// What an acknowledged change survives. process: the end of this process, also by SIGKILL; a power failure
// may cost the last moments, never the order. power: a power failure too, at the price of one wait for the
// disk.
enum class Durability { process, power };

// What Atoll remembers, in one SQLite file and a journal in front of it (docs/formats/store.md). Calls are
// made from the loop: sessions and records are appended to the journal there (into the page cache) and follow
// into the database on the writer's thread; everything else is acknowledged by its transaction. Reading
// happens on readers of their own and sees whatever was acknowledged before.
//
// Errors: no_space for a full disk, data_loss for a damaged file, unavailable for a failure that may pass (a
// disk that turned read-only is one), not_found from every get_*() without such a row. A failed write leaves
// nothing behind. Calls under way end before the Store does: who owns it waits for them.
class Store {
 public:
  // Opens or creates `directory`/atoll.db and brings its schema up to date; a schema from the future is
  // refused. What a killed process left in the journal is written first. While another process has the
  // journal, this one works without.
  static Result<std::unique_ptr<Store>> open(const std::string& directory,
                                             Durability durability = Durability::process);
  // Nothing on disk; for `atoll run` and for tests.
  static Result<std::unique_ptr<Store>> open_in_memory();
  // Writes what still waits.
  ~Store();

  // How long the database took for transactions.
  const Latency& commits() const { return writer_->commits(); }
  // Why the database takes nothing at the moment, while the journal does; nothing: all is well.
  std::optional<Error> refusal() const { return writer_->refusal(); }

  // Sessions.
  Task<void> put_session(SessionRow row);        // inserts, or replaces the one with this session_id
  Task<SessionRow> get_session(std::string id);  // by session_id or sandbox_id, any tenant
  Task<PageOf<SessionRow>> list_sessions(SessionFilter filter);
  // Sessions whose state is one of these, all tenants; for starting up.
  Task<std::vector<SessionRow>> sessions_in(std::vector<std::string> states);
  // Ended sessions that ended before `before`, with their records and artifacts. Gives how many went.
  Task<std::int64_t> remove_sessions_ended_before(WallTime before);

  // History: append-only. A record is admitted once and finished at most once; a second time of either is
  // already_exists, an end without an admission not_found.
  Task<void> admit(RecordRow row);
  Task<void> finish(RecordRow row, std::vector<ArtifactRow> artifacts);
  // At most filter.limit rows, and fewer where they are large: `next` tells whether there are more.
  Task<PageOf<RecordRow>> list_records(RecordFilter filter);
  Task<RecordRow> get_record(std::string tenant, std::string record_id);
  // Admitted records without an end get the status `interrupted`, except those of what still runs. Gives how
  // many.
  Task<std::int64_t> interrupt_unfinished(WallTime at, std::string reason,
                                          std::vector<std::string> still_running);
  // Records older than `before`, and of each tenant its oldest until the text of the others fits `bytes_max`:
  // what one tenant writes never costs another's history. Records without an end stay. Gives how many went.
  Task<std::int64_t> remove_records(WallTime before, std::int64_t bytes_max);

  Task<std::vector<ArtifactRow>> list_artifacts(std::string session_id);
  // By digest, if some session of the tenant has it.
  Task<ArtifactRow> get_artifact(std::string tenant, std::string digest);
  // Of each tenant its oldest, until the others fit `bytes_max`. Gives how many went.
  Task<std::int64_t> trim_artifacts(std::int64_t bytes_max);
  // Digests that some row still names.
  Task<std::vector<std::string>> artifact_digests();

  // Snapshots. `id` may be the snapshot's id or its name.
  Task<void> put_snapshot(SnapshotRow row);
  Task<SnapshotRow> get_snapshot(std::string tenant, std::string id);
  Task<PageOf<SnapshotRow>> list_snapshots(std::string tenant, std::string session_id, std::uint32_t limit,
                                           std::optional<std::int64_t> after);
  // The row alone; its directory is the caller's to remove. False if there is none.
  Task<bool> remove_snapshot(std::string tenant, std::string snapshot_id);
  // Of all tenants, to find directories that no row names.
  Task<std::vector<std::string>> snapshot_ids();
  Task<Amount> snapshot_amount(std::string tenant);
  // Of its snapshots and artifacts together, each content once.
  Task<std::int64_t> stored_bytes(std::string tenant);
  // Of all tenants, made before `time`.
  Task<std::vector<SnapshotRow>> snapshots_before(WallTime time);

  // Keys.
  Task<void> put_key(KeyRow row);  // and its tenant, if there is none of that name
  Task<void> rename_key(std::string key_id, std::string name);
  Task<std::vector<KeyRow>> list_keys();
  // False if there is none or if it was revoked before.
  Task<bool> revoke_key(std::string key_id, WallTime at);
  // Everything of it but its id, tenant, kind and times of creation and revocation. False if there is none.
  Task<bool> update_key(KeyRow row);
  // Notes when keys were last used; unknown ones are passed over.
  Task<void> touch_keys(std::vector<std::pair<std::string, WallTime>> used);

  // Tenants.
  Task<void> put_tenant(TenantRow row);  // inserts, or replaces the one of this name
  Task<std::vector<TenantRow>> list_tenants();
  // The tenant and every row that is its own: keys, sessions, history, artifacts, snapshots, documents,
  // usage.
  Task<void> remove_tenant(std::string name);

  // What was consumed.
  Task<void> add_usage(std::vector<UsageRow> rows);
  Task<std::vector<UsageRow>> list_usage(UsageFilter filter);
  // Days before this one.
  Task<std::int64_t> remove_usage_before(std::int64_t day);
  // When sessions were created, of all tenants, since then: tenant, key and time. Those that ended count too.
  struct Creation {
    std::string tenant, key_id;
    WallTime at;
  };
  Task<std::vector<Creation>> creations_since(WallTime time);

  Task<void> audit(AuditRow row);
  Task<std::vector<AuditRow>> list_audit(std::uint32_t limit);

  // Documents. put_document: already_exists if another document of the kind and tenant has the name.
  Task<void> put_document(DocumentRow row);
  Task<DocumentRow> get_document(std::string kind, std::string tenant, std::string id_or_name);
  Task<std::vector<DocumentRow>> list_documents(std::string kind, std::string tenant);
  // Of a kind, of all tenants, not changed since.
  Task<std::vector<DocumentRow>> documents_before(std::string kind, WallTime time);
  // Those of a kind that were not changed since; how many.
  Task<std::int64_t> remove_documents_before(std::string kind, WallTime time);
  Task<bool> remove_document(std::string kind, std::string tenant, std::string id);

 private:
  static constexpr const char* kOurselves = "";
  Store() = default;
  // On a thread of the readers, of which nobody has more than half: `who` is the tenant that asks, kOurselves
  // for what is short or the service's own. A tenant may look through a gigabyte of history for one word.
  template <class T, class Work>
  Task<T> read(const std::string& who, Work work);
  // The same of tables that the journal leads to.
  template <class T, class Work>
  Task<T> read_all(std::string who, Work work);
  template <class T>
  Task<T> read_after(std::string who, std::move_only_function<Result<T>(Connection&)> work);
  template <class T, class Work>
  Task<T> write(Work work) {
    return writer_->write<T>(std::move(work));
  }
  // From threads of the pool. As many connections exist as reads were ever under way at once.
  Result<Connection> take_reader();
  void give_reader(Connection connection);

  std::string path_;  // empty: in memory, and the writer reads as well
  std::unique_ptr<Writer> writer_;
  std::unordered_set<std::string> open_records_;  // admitted through the journal and not finished
  std::mutex readers_mutex_;
  std::vector<Connection> readers_;
  std::unique_ptr<os::FairPool> pool_;
};

template <class T, class Work>
Task<T> Store::read(const std::string& who, Work work) {
  if (path_.empty()) return writer_->write<T>(std::move(work));
  auto on_reader = [this, work = std::move(work)]() mutable -> Result<T> {
    Connection connection = TRY(take_reader());
    Result<T> result = work(connection);
    give_reader(std::move(connection));
    return result;
  };
  return pool_->run<T>(who, std::move(on_reader));
}

template <class T, class Work>
Task<T> Store::read_all(std::string who, Work work) {
  return read_after<T>(std::move(who), std::move_only_function<Result<T>(Connection&)>(std::move(work)));
}

template <class T>
Task<T> Store::read_after(std::string who, std::move_only_function<Result<T>(Connection&)> work) {
  if (writer_->is_behind()) {
    auto nothing = [](Connection&) { return Result<void>{}; };
    CO_CHECK(co_await write<void>(std::move(nothing)));
  }
  co_return co_await read<T>(who, std::move(work));
}

}  // namespace atl::store
