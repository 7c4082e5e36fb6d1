#include "store/store.h"

#include <fmt/format.h>

#include "base/log.h"
#include "store/entry.h"
#include "store/schema.h"

namespace atl::store {
namespace {

constexpr std::size_t kReaders = 4;

// Writes what the journal holds into the database, inside a transaction of the caller's.
struct CatchUp {
  Connection& db;
  std::uint64_t applied = 0;  // number of the last entry that the database has
  std::size_t written = 0, unusable = 0;

  Result<void> operator()(std::uint64_t number, std::string_view payload) {
    TRY(db.run("SAVEPOINT entry"));
    if (auto done = apply_entry(db, payload); !done) {
      if (may_pass(done.error())) return done;
      log::error("store: an entry of the journal cannot be stored", {{"error", done.error().message()}});
      ++unusable;
      TRY(db.run("ROLLBACK TO entry"));
    }
    TRY(db.run("RELEASE entry"));
    applied = number;
    ++written;
    return {};
  }
};

Result<void> replay(Journal& journal, CatchUp& state, bool& damaged) {
  auto done = journal.replay(state.applied, std::ref(state));
  damaged = !done && done.error().code() == Code::data_loss && state.db.in_transaction();
  if (!done && !damaged) return done;
  if (damaged)
    log::error("store: the journal is kept as it is beside the new one", {{"error", done.error().message()}});
  TRY(state.db.run("UPDATE journal SET applied=?1", static_cast<std::int64_t>(state.applied)));
  TRY(state.db.run("COMMIT"));
  return {};
}

// What a killed process left. All of it in one transaction: after a failure the journal is as it was.
Result<void> catch_up(Journal& journal, Connection& db) {
  CatchUp state{db};
  TRY(db.query("SELECT applied FROM journal",
               [&](const Row& row) { state.applied = static_cast<std::uint64_t>(row.integer(0)); }));
  TRY(db.run("BEGIN IMMEDIATE"));
  bool damaged = false;
  if (auto done = replay(journal, state, damaged); !done) {
    if (db.in_transaction()) (void)db.run("ROLLBACK");
    return fail(std::move(done).error().context("write the journal"));
  }
  if (state.written > 0)
    log::info("store: the journal was written", {{"changes", std::to_string(state.written)}});
  journal.continue_after(state.applied);
  return damaged || state.unusable > 0 ? journal.set_aside() : journal.clear();
}

Result<std::optional<Journal>> open_journal(const std::string& directory, Connection& db) {
  auto journal = Journal::open(directory + "/atoll.journal");
  if (!journal && journal.error().code() == Code::conflict) return std::optional<Journal>();
  if (!journal) return fail(std::move(journal).error());
  TRY(catch_up(*journal, db));
  return std::optional<Journal>(std::move(*journal));
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& directory, Durability durability) {
  auto store = std::unique_ptr<Store>(new Store);
  store->path_ = directory + "/atoll.db";
  Connection connection = TRY(Connection::open(store->path_, Access::read_write));
  TRY(migrate(connection));
  std::optional<Journal> journal = TRY(open_journal(directory, connection));
  if (durability == Durability::power) {
    TRY(connection.script("PRAGMA synchronous=FULL"));
    journal.reset();
  }
  store->writer_ = std::make_unique<Writer>(std::move(connection), std::move(journal));
  store->pool_ = std::make_unique<os::FairPool>(kReaders);
  return store;
}

Result<std::unique_ptr<Store>> Store::open_in_memory() {
  auto store = std::unique_ptr<Store>(new Store);
  Connection connection = TRY(Connection::open(":memory:", Access::read_write));
  TRY(migrate(connection));
  store->writer_ = std::make_unique<Writer>(std::move(connection), std::nullopt);
  return store;
}

Store::~Store() {
  if (pool_) pool_->join();
}

Result<Connection> Store::take_reader() {
  {
    const std::lock_guard lock(readers_mutex_);
    if (!readers_.empty()) {
      Connection connection = std::move(readers_.back());
      readers_.pop_back();
      return connection;
    }
  }
  return Connection::open(path_, Access::read_only);
}

void Store::give_reader(Connection connection) {
  const std::lock_guard lock(readers_mutex_);
  readers_.push_back(std::move(connection));
}

}  // namespace atl::store
