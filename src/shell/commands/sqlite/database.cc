#include "shell/commands/sqlite/database.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/commands/sqlite/heap.h"

namespace atl::shell::sqlite {

namespace {

constexpr int kOperationsPerCheck = 1000;

int progress(void* files) {
  return static_cast<Files*>(files)->charge(kOperationsPerCheck) ? 0 : 1;
}

// VACUUM attaches a database without a name by itself; anything with a name stays closed. Settings of the
// whole process are not the script's to change.
int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  auto is = [](const char* text, std::string_view name) {
    return text && sqlite3_stricmp(text, std::string(name).c_str()) == 0;
  };
  if (action == SQLITE_ATTACH) return first && *first == '\0' ? SQLITE_OK : SQLITE_DENY;
  if (action == SQLITE_FUNCTION && is(second, "load_extension")) return SQLITE_DENY;
  if (action == SQLITE_PRAGMA) {
    for (std::string_view name : {"temp_store_directory", "data_store_directory", "soft_heap_limit",
                                  "hard_heap_limit", "threads", "mmap_size", "trusted_schema"})
      if (is(first, name)) return SQLITE_DENY;
  }
  return SQLITE_OK;
}

}  // namespace

Query::~Query() {
  Turn turn(files_);
  sqlite3_finalize(statement_);
}

int Query::step() {
  int code = 0;
  {
    Turn turn(files_, &zone_);
    code = sqlite3_step(statement_);
  }
  files_.rethrow();
  return code;
}

void Query::bind(int index, std::string_view text) {
  {
    Turn turn(files_);
    sqlite3_bind_text64(statement_, index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  files_.rethrow();
}

void Query::reset() {
  Turn turn(files_);
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

std::string Query::text(int column) const {
  Turn turn(files_);
  const unsigned char* text = sqlite3_column_text(statement_, column);
  auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return text ? std::string(reinterpret_cast<const char*>(text), size) : std::string();
}

Database::~Database() {
  close();
}

// Gives memory back, which must not throw.
void Database::close() {
  Turn turn(files_);
  sqlite3_close_v2(std::exchange(db_, nullptr));
}

void Database::restrict() {
  static constexpr std::pair<int, int> kLimits[] = {
      {SQLITE_LIMIT_LENGTH, 64 << 20},  {SQLITE_LIMIT_SQL_LENGTH, 16 << 20},
      {SQLITE_LIMIT_EXPR_DEPTH, 300},   {SQLITE_LIMIT_COMPOUND_SELECT, 200},
      {SQLITE_LIMIT_TRIGGER_DEPTH, 50}, {SQLITE_LIMIT_ATTACHED, 1},
      {SQLITE_LIMIT_WORKER_THREADS, 0}, {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
  };
  for (auto [which, value] : kLimits) sqlite3_limit(db_, which, value);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_progress_handler(db_, kOperationsPerCheck, progress, &files_);
  sqlite3_set_authorizer(db_, authorize, nullptr);
}

Result<void> Database::open(const std::string& path, bool read_only) {
  if (!Turn::possible())
    return fail(Code::unsupported, "SQLite was in use before its memory could be charged");
  close();
  Turn turn(files_, &zone_);
  int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (int code = sqlite3_open_v2(path.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, files_.name());
      code != SQLITE_OK) {
    std::string message = db_ ? sqlite3_errmsg(db_) : sqlite3_errstr(code);
    sqlite3_close_v2(std::exchange(db_, nullptr));
    return fail(Code::not_found, message);
  }
  restrict();
  return {};
}

std::expected<std::unique_ptr<Query>, Database::Failure> Database::prepare(std::string_view sql,
                                                                           std::string_view& rest) {
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  int code = 0;
  {
    Turn turn(files_, &zone_);
    code = sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()), &statement, &tail);
  }
  files_.rethrow();
  if (code != SQLITE_OK)
    return std::unexpected(
        Failure{sqlite3_errmsg(db_), sqlite3_extended_errcode(db_), sqlite3_error_offset(db_)});
  rest = tail ? sql.substr(static_cast<std::size_t>(tail - sql.data())) : std::string_view();
  if (!statement) return nullptr;
  return std::make_unique<Query>(statement, files_, zone_);
}

std::unique_ptr<Query> Database::query(const std::string& sql) {
  std::string_view rest;
  auto made = prepare(sql, rest);
  return made ? std::move(*made) : nullptr;
}

std::vector<std::vector<std::string>> Database::rows(const std::string& sql,
                                                     const std::vector<std::string>& parameters) {
  std::vector<std::vector<std::string>> out;
  auto made = query(sql);
  if (!made) return out;
  for (std::size_t i = 0; i < parameters.size(); ++i) made->bind(static_cast<int>(i) + 1, parameters[i]);
  while (made->step() == SQLITE_ROW) {
    auto& row = out.emplace_back();
    for (int i = 0; i < made->columns(); ++i) row.push_back(made->text(i));
  }
  return out;
}

}  // namespace atl::shell::sqlite
