// What the store remembers, brought into an index that lacks it.
#include <algorithm>
#include <limits>
#include <map>

#include "daemon/indexing.h"
#include "session/codec.h"
#include "store/history.h"

namespace atl::daemon {
namespace {

constexpr std::int64_t kTogether = 256;
constexpr std::size_t kSessionsKept = 1000;

// The sessions of records, each read once while its records follow each other.
class Sessions {
 public:
  explicit Sessions(store::Connection& store) : store_(store) {}
  Result<const session::Session*> of(const session::ExecutionRecord& record) {
    const auto known = known_.find(record.session_id);
    if (known != known_.end()) return &known->second;
    if (known_.size() >= kSessionsKept) known_.clear();
    session::Session session;
    if (const auto row = TRY(store::session_of(store_, record.session_id)))
      if (auto read = session::from_row(*row, session::Walls::skip)) session = std::move(*read);
    session.session_id = record.session_id;
    session.tenant = record.tenant;
    return &known_.emplace(record.session_id, std::move(session)).first->second;
  }

 private:
  store::Connection& store_;
  std::map<std::string, session::Session> known_;
};

}  // namespace

Result<store::Connection> Indexing::open_store() const {
  return store::Connection::open(data_ + "/atoll.db", store::Access::read_only);
}

Result<void> Indexing::write_records(store::Connection& store, std::int64_t after,
                                     const std::function<bool(std::uint64_t)>& step) {
  Sessions sessions(store);
  while (true) {
    const auto rows = TRY(store::ended_after(store, after, kTogether));
    if (rows.empty()) return {};
    after = rows.back().seq;
    std::deque<Job> jobs;
    for (const store::RecordRow& row : rows) {
      const session::ExecutionRecord record = session::from_row(row);
      jobs.push_back(job_of(*TRY(sessions.of(record)), record));
    }
    for (Job& job : by_tenant(std::move(jobs))) TRY(write(std::move(job)));
    if (stopping_ || !step(rows.size())) return fail(Code::canceled, "stopping");
  }
}

Result<void> Indexing::write_relations(store::Connection& store) {
  for (std::int64_t after = 0; !stopping_;) {
    const auto rows = TRY(store::sessions_after(store, after, kTogether));
    if (rows.empty()) break;
    std::deque<Job> jobs;
    for (const store::SessionRow& row : rows)
      if (const auto session = session::from_row(row, session::Walls::skip)) jobs.push_back(job_of(*session));
    for (Job& job : by_tenant(std::move(jobs))) TRY(write(std::move(job)));
  }
  std::int64_t after = 0;
  return write_snapshots(store, after);
}

// Snapshots are not announced; the store has them, with numbers that grow.
Result<void> Indexing::write_snapshots(store::Connection& store, std::int64_t& after) {
  while (!stopping_) {
    const auto rows = TRY(store::snapshots_after(store, after, kTogether));
    if (rows.empty()) break;
    std::deque<Job> jobs;
    for (const store::SnapshotRow& row : rows) jobs.push_back(job_of(session::from_row(row)));
    for (Job& job : by_tenant(std::move(jobs))) TRY(write(std::move(job)));
    after = rows.back().seq;
  }
  return {};
}

Result<void> Indexing::write_new_snapshots() {
  if (!reader_) reader_ = TRY(open_store());
  return write_snapshots(*reader_, snapshots_known_);
}

// In the order in which it happened, because of a tenant that has more than may be found the oldest go first.
Result<void> Indexing::write_history(const index::Index::Step& step) {
  store::Connection store = TRY(open_store());
  const auto total = static_cast<std::uint64_t>(TRY(store::count_ended(store)));
  std::uint64_t done = 0;
  TRY(write_relations(store));
  return write_records(store, 0,
                       [&](std::uint64_t more) { return step(done += more, std::max(done, total)); });
}

Result<void> Indexing::remove_gone_of(store::Connection& store, const std::string& tenant,
                                      const std::string& kind, std::int64_t& newest) {
  std::string after;
  while (!stopping_) {
    const auto some = TRY(index_->named_after(tenant, kind, after, kTogether));
    if (some.empty()) return {};
    after = some.back().id;
    std::vector<std::string> ids;
    for (const auto& one : some) {
      newest = std::max(newest, one.number);
      if (one.number <= looked_to_) ids.push_back(one.id);
    }
    const auto gone = TRY(kind == "execution" ? store::records_gone(store, ids)
                                              : store::artifacts_gone(store, tenant, ids));
    if (!gone.empty()) TRY(index_->forget(tenant, kind, gone));
  }
  return {};
}

Result<void> Indexing::remove_gone() {
  store::Connection store = TRY(open_store());
  std::int64_t newest = looked_to_;
  for (const std::string& tenant : TRY(index_->tenants()))
    for (const char* kind : {"execution", "artifact"}) TRY(remove_gone_of(store, tenant, kind, newest));
  looked_to_ = newest;
  return {};
}

// Backwards to where it lacks nothing, and from there on in order.
Result<void> Indexing::write_lacking() {
  store::Connection store = TRY(open_store());
  std::int64_t before = std::numeric_limits<std::int64_t>::max(), from = before;
  while (!stopping_) {
    const auto names = TRY(store::ended_before(store, before, kTogether));
    if (names.empty()) break;
    std::map<std::string, std::vector<std::string>> ids;
    for (const auto& name : names) ids[name.tenant].push_back(name.record_id);
    bool lacks = false;
    for (const auto& [tenant, all] : ids)
      lacks = lacks || !TRY(index_->lacking(tenant, "execution", all)).empty();
    if (!lacks) break;
    before = from = names.back().seq;
  }
  if (from == std::numeric_limits<std::int64_t>::max()) return {};
  TRY(write_relations(store));
  auto done = write_records(store, from - 1, [](std::uint64_t) { return true; });
  if (!done && done.error().code() == Code::canceled) return {};
  return done;
}

}  // namespace atl::daemon
