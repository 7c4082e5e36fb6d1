#pragma once

#include <sqlite3.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/calendar/calendar.h"
#include "shell/commands/sqlite/files.h"

namespace atl::shell::sqlite {

// A prepared statement; finalized with its owner.
// Must not outlive its Database.
class Query {
 public:
  Query(sqlite3_stmt* statement, Files& files, const Zone& zone)
      : statement_(statement), files_(files), zone_(zone) {}
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // SQLITE_ROW, SQLITE_DONE or an error. Throws Stopped when a limit or a cancellation ended it.
  int step();
  sqlite3_stmt* get() const { return statement_; }
  Files& files() { return files_; }
  int columns() const { return sqlite3_column_count(statement_); }
  // The column of the current row; empty for NULL.
  std::string text(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  // Parameters count from 1. The text is copied.
  void bind(int index, std::string_view text);
  // Ready to be bound and run again.
  void reset();

 private:
  sqlite3_stmt* statement_;
  Files& files_;
  const Zone& zone_;
};

// A connection of the shell's: only files of its filesystem, no ATTACH, no extensions, a script's limits on
// work.
// For the fiber of the invocation, which must outlive it. Closing rolls back what was not committed.
class Database {
 public:
  explicit Database(Invocation& call) : files_(call), zone_(Zone::of(call)) {}
  ~Database();

  // SQLite's words if the file cannot be opened or is no database. Without `read_only` a missing file is made
  // when something is written.
  Result<void> open(const std::string& path, bool read_only);
  sqlite3* get() const { return db_; }
  Files& files() { return files_; }

  // Null with nothing to do (blanks, a comment). `rest` is what follows the statement. An error is SQLite's
  // message; `code` its code, `offset` the place in `sql` or -1.
  struct Failure {
    std::string message;
    int code;
    int offset;
  };
  std::expected<std::unique_ptr<Query>, Failure> prepare(std::string_view sql, std::string_view& rest);
  // A statement of our own, known to be right.
  std::unique_ptr<Query> query(const std::string& sql);
  // Every row of it as texts.
  std::vector<std::vector<std::string>> rows(const std::string& sql,
                                             const std::vector<std::string>& parameters = {});

 private:
  void restrict();

  void close();

  Files files_;
  Zone zone_;
  sqlite3* db_ = nullptr;
};

}  // namespace atl::shell::sqlite
