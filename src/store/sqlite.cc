#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

namespace atl::store {
namespace {

// Another process has the database for a moment: a backup, or a checkpoint of the write-ahead log.
constexpr int kBusyMilliseconds = 5000;

Code code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL: return Code::no_space;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::data_loss;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
    case SQLITE_READONLY:  // the disk turned read-only: an operator can mend that, the caller cannot
      return Code::unavailable;
    case SQLITE_CONSTRAINT: return Code::already_exists;
    case SQLITE_PERM:
    case SQLITE_AUTH: return Code::permission_denied;
    default: return Code::internal;
  }
}

}  // namespace

std::int64_t Row::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double Row::real(int column) const {
  return sqlite3_column_double(statement_, column);
}
bool Row::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string Row::text(int column) const {
  // As bytes, because text may hold zeros; this order of the two calls is the one SQLite documents.
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr || size <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::optional<WallTime> Row::maybe_time(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

Result<Connection> Connection::open(const std::string& path, Access access) {
  sqlite3* db = nullptr;
  const int flags =
      // Each connection belongs to one thread at a time, so the library need not lock.
      SQLITE_OPEN_NOMUTEX |
      (access == Access::read_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  const int opened = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  Connection connection(db);
  if (opened != SQLITE_OK) return fail(connection.error(opened, "open the store").with_detail(path));
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, kBusyMilliseconds);
  // Reading the schema version is what finds out whether the file is a database at all.
  auto probed = connection.script(
      "PRAGMA schema_version; PRAGMA foreign_keys=ON; PRAGMA synchronous=NORMAL;"
      "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192;");
  if (!probed) return fail(std::move(probed).error().with_detail(path));
  if (access == Access::read_write) {
    TRY(connection.script(
        // Readers go on while the writer writes. With WAL, synchronous=NORMAL cannot damage the database; a
        // power failure may lose the last commits.
        "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=1000; PRAGMA journal_size_limit=16777216;"));
  }
  return connection;
}

Connection::Connection(Connection&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)), statements_(std::exchange(other.statements_, {})) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  if (this != &other) {
    close();
    db_ = std::exchange(other.db_, nullptr);
    statements_ = std::exchange(other.statements_, {});
  }
  return *this;
}

Connection::~Connection() {
  close();
}

void Connection::close() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  statements_.clear();
  if (db_ != nullptr) sqlite3_close(db_);
  db_ = nullptr;
}

Error Connection::error(int code, std::string_view doing) const {
  const char* said = db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code);
  return Error(code_of(code), fmt::format("store: {}: {}", doing, said));
}

Result<void> Connection::script(const std::string& sql) {
  const int done = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (done != SQLITE_OK) return fail(error(done, "prepare the database"));
  return {};
}

Result<sqlite3_stmt*> Connection::prepare(std::string_view sql) {
  // Statements are literals of ours, or made of them, so the number of them is bounded.
  if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  const int prepared = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (prepared != SQLITE_OK) return fail(error(prepared, "read").with_detail(std::string(sql)));
  statements_.emplace(std::string(sql), statement);
  return statement;
}

Result<bool> Connection::step(sqlite3_stmt* statement) {
  const int stepped = sqlite3_step(statement);
  if (stepped == SQLITE_ROW) return true;
  if (stepped == SQLITE_DONE) return false;
  return fail(error(stepped, sqlite3_stmt_readonly(statement) != 0 ? "read" : "write"));
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(db_) == 0;
}

std::int64_t Connection::changes() const {
  return sqlite3_changes64(db_);
}

void Connection::bind(sqlite3_stmt* statement, int index, std::int64_t value) {
  sqlite3_bind_int64(statement, index, value);
}
void Connection::bind(sqlite3_stmt* statement, int index, double value) {
  sqlite3_bind_double(statement, index, value);
}
// The caller's text outlives the step: run() and query() hold their arguments until they return.
void Connection::bind(sqlite3_stmt* statement, int index, std::string_view value) {
  // A null pointer would bind NULL instead of the empty text.
  sqlite3_bind_text64(statement, index, value.data() == nullptr ? "" : value.data(), value.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}
void Connection::bind_null(sqlite3_stmt* statement, int index) {
  sqlite3_bind_null(statement, index);
}

void Connection::reset(sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  // They point to texts that are gone after this call.
  sqlite3_clear_bindings(statement);
}

}  // namespace atl::store
