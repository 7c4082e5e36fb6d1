#include "vfs/sqlite_storage.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "vfs/entries.h"

namespace atl::vfs {
namespace {

constexpr int kApplication = 0x41544c56;  // "ATLV"
constexpr int kSchemaVersion = 1;
constexpr std::uint64_t kContentBytesMax = 900'000'000;

}  // namespace

// One prepared statement, for one use.
class SqliteStorage::Statement {
 public:
  Statement(const SqliteStorage& storage, std::string_view sql) : storage_(storage) {
    status_ = sqlite3_prepare_v2(storage.db_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Bytes must live until the statement is stepped for the last time.
  Statement& bind(int index, std::string_view bytes) {
    // A null pointer would bind NULL.
    if (status_ == SQLITE_OK)
      status_ = sqlite3_bind_blob64(statement_, index, bytes.empty() ? "" : bytes.data(), bytes.size(),
                                    SQLITE_STATIC);
    return *this;
  }
  Result<bool> row() {
    if (status_ != SQLITE_OK) return storage_.failed("prepare");
    int step = sqlite3_step(statement_);
    if (step == SQLITE_ROW) return true;
    if (step == SQLITE_DONE) return false;
    return storage_.failed("query");
  }
  Result<void> run() {
    while (TRY(row())) {
    }
    return {};
  }
  void reset() { sqlite3_reset(statement_); }
  std::string_view bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    return {static_cast<const char*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }

  Result<FileEntry> entry() const {
    FileEntry out;
    auto path = Path::posix(bytes(0));
    if (!path || path->str() != bytes(0)) return fail(Code::data_loss, "a stored path is malformed");
    out.path = std::move(*path);
    TRY_CONTEXT(out.path.str(), decode_attributes(bytes(1), out));
    out.content = Content(bytes(2));
    return out;
  }

 private:
  const SqliteStorage& storage_;
  sqlite3_stmt* statement_ = nullptr;
  int status_;
};

std::unexpected<Error> SqliteStorage::failed(std::string_view what) const {
  int code = sqlite3_errcode(db_);
  std::string detail = fmt::format("{}: {}", what, sqlite3_errmsg(db_));
  auto error = [&](Code kind, const char* message) { return fail(Error(kind, message).with_detail(detail)); };
  switch (code & 0xFF) {
    case SQLITE_FULL: return error(Code::no_space, "the storage is full");
    case SQLITE_READONLY: return error(Code::read_only, "the storage is read-only");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return error(Code::data_loss, "the storage is damaged");
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return error(Code::unavailable, "the storage is busy");
    case SQLITE_CANTOPEN: return error(Code::not_found, "the storage cannot be opened");
    case SQLITE_TOOBIG: return error(Code::too_large, "the file is too large for the storage");
    default: return error(Code::internal, "the storage failed");
  }
}

Result<void> SqliteStorage::execute(const char* sql) const {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failed(sql);
  return {};
}

Result<std::shared_ptr<SqliteStorage>> SqliteStorage::open(const std::string& file) {
  sqlite3* db = nullptr;
  int status = sqlite3_open_v2(file.c_str(), &db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  std::shared_ptr<SqliteStorage> storage(new SqliteStorage(db));
  if (status != SQLITE_OK) return storage->failed("open");
  sqlite3_busy_timeout(db, 2000);
  sqlite3_extended_result_codes(db, 1);
  TRY(storage->prepare_schema());
  return storage;
}

SqliteStorage::~SqliteStorage() {
  sqlite3_close_v2(db_);
}

Result<void> SqliteStorage::prepare_schema() {
  auto number = [&](const char* sql) -> Result<std::int64_t> {
    Statement query(*this, sql);
    TRY(query.row());
    return query.number(0);
  };
  auto application = TRY(number("PRAGMA application_id"));
  auto version = TRY(number("PRAGMA user_version"));
  auto tables = TRY(number("SELECT count(*) FROM sqlite_master"));
  if ((application != 0 || tables > 0) && application != kApplication)
    return fail(Code::unsupported, "this is the database of another application");
  if (version > kSchemaVersion)
    return fail(Code::unsupported, fmt::format("version {} of the storage is newer", version));
  TRY(execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"));
  if (version == kSchemaVersion) return {};
  return execute(
      fmt::format("BEGIN;"
                  "CREATE TABLE entries(path BLOB PRIMARY KEY, parent BLOB NOT NULL, size INTEGER NOT NULL,"
                  " directory INTEGER NOT NULL, attributes BLOB NOT NULL, content BLOB NOT NULL);"
                  "CREATE INDEX entries_by_parent ON entries(parent, path);"
                  "PRAGMA application_id={}; PRAGMA user_version={}; COMMIT",
                  kApplication, kSchemaVersion)
          .c_str());
}

Result<std::optional<FileEntry>> SqliteStorage::get(const Path& path) const {
  std::lock_guard lock(lock_);
  Statement query(*this, "SELECT path, attributes, content FROM entries WHERE path=?1");
  if (!TRY(query.bind(1, path.str()).row())) return std::nullopt;
  return TRY(query.entry());
}

Result<bool> SqliteStorage::exists(const Path& path) const {
  std::lock_guard lock(lock_);
  return Statement(*this, "SELECT 1 FROM entries WHERE path=?1").bind(1, path.str()).row();
}

Result<void> SqliteStorage::apply_locked(const Batch& batch) {
  Statement remove(*this, "DELETE FROM entries WHERE path=?1");
  for (const Path& path : batch.removals) {
    TRY(remove.bind(1, path.str()).run());
    remove.reset();
  }
  Statement put(*this,
                "INSERT OR REPLACE INTO entries(path, parent, size, directory, attributes, content)"
                " VALUES(?1, ?2, length(?4), substr(?3, 1, 1) = x'01', ?3, ?4)");
  for (const FileEntry& entry : batch.entries) {
    if (entry.path.is_root()) return fail(Code::invalid_argument, "the root is not an entry");
    if (entry.content.size() > kContentBytesMax)
      return fail(Code::too_large, "the file is too large for the storage");
    std::string parent = entry.path.parent().str(), attributes = encode_attributes(entry), content;
    if (!entry.content.is_flat()) content = entry.content.str();
    std::string_view bytes = entry.content.is_flat() ? entry.content.flat() : std::string_view(content);
    TRY(put.bind(1, entry.path.str()).bind(2, parent).bind(3, attributes).bind(4, bytes).run());
    put.reset();
  }
  return {};
}

Result<void> SqliteStorage::apply(const Batch& batch) {
  std::lock_guard lock(lock_);
  TRY(execute("BEGIN IMMEDIATE"));
  auto done = apply_locked(batch);
  if (done) done = execute("COMMIT");
  if (!done) (void)execute("ROLLBACK");
  return done;
}

Result<std::vector<Path>> SqliteStorage::paths(const char* sql, std::string_view first,
                                               std::string_view second) const {
  std::lock_guard lock(lock_);
  Statement query(*this, sql);
  query.bind(1, first);
  if (!second.empty()) query.bind(2, second);
  std::vector<Path> out;
  while (TRY(query.row())) {
    auto path = Path::posix(query.bytes(0));
    if (!path) return fail(Code::data_loss, "a stored path is malformed");
    out.push_back(std::move(*path));
  }
  return out;
}

Result<std::vector<Path>> SqliteStorage::paths_by_prefix(std::string_view prefix) const {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return paths("SELECT path FROM entries WHERE path>=?1 ORDER BY path", prefix, "");
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return paths("SELECT path FROM entries WHERE path>=?1 AND path<?2 ORDER BY path", prefix, end);
}

Result<std::vector<Path>> SqliteStorage::children(const Path& directory) const {
  return paths("SELECT path FROM entries WHERE parent=?1 ORDER BY path", directory.str(), "");
}

Result<std::vector<FileEntry>> SqliteStorage::get_all() const {
  std::lock_guard lock(lock_);
  Statement query(*this, "SELECT path, attributes, content FROM entries ORDER BY path");
  std::vector<FileEntry> out;
  while (TRY(query.row())) out.push_back(TRY(query.entry()));
  return out;
}

Result<std::uint64_t> SqliteStorage::count() const {
  return TRY(stats()).nodes();
}

Result<Stats> SqliteStorage::stats() const {
  std::lock_guard lock(lock_);
  Statement query(*this, "SELECT coalesce(sum(size), 0), count(*), coalesce(sum(directory), 0) FROM entries");
  TRY(query.row());
  auto all = static_cast<std::uint64_t>(query.number(1)),
       directories = static_cast<std::uint64_t>(query.number(2));
  return Stats{static_cast<std::uint64_t>(query.number(0)), all - directories, directories};
}

Result<void> SqliteStorage::clear() {
  std::lock_guard lock(lock_);
  return execute("DELETE FROM entries");
}

}  // namespace atl::vfs
