#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

// SQLite behind types: text is bound, never pasted into SQL; every failure is an Error. A Connection belongs
// to one thread at a time.
namespace atl::store {

class Connection;

// The row a query stands on. Column numbers start at 0. Valid inside the callback only.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  // A value of another type is converted as SQLite does it: NULL is 0 and "".
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;
  bool boolean(int column) const { return integer(column) != 0; }
  WallTime time(int column) const { return from_unix_micros(integer(column)); }
  std::optional<WallTime> maybe_time(int column) const;

 private:
  sqlite3_stmt* statement_;
};

enum class Access { read_write, read_only };

// One open database, with the statements that were prepared so far; they are kept until it is closed.
//
// Errors: no_space (full), data_loss (damaged, or no database), unavailable (busy for 5 s, an I/O error, a
// disk that turned read-only), already_exists (a constraint), permission_denied, internal (wrong SQL).
class Connection {
 public:
  // Creates the file when writing. Sets WAL, synchronous=NORMAL, foreign keys, a busy time-out. ":memory:"
  // gives a database that lives as long as the connection.
  static Result<Connection> open(const std::string& path, Access access);
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  // False after a failure that made the library take back the whole transaction.
  bool in_transaction() const;
  // One or more statements without parameters.
  Result<void> script(const std::string& sql);
  // A statement whose rows do not matter; gives how many rows it changed.
  template <class... Args>
  Result<std::int64_t> run(std::string_view sql, const Args&... args);
  // Calls `each(const Row&)` for every row. It must not use this connection.
  template <class Each, class... Args>
  Result<void> query(std::string_view sql, Each&& each, const Args&... args);

 private:
  explicit Connection(sqlite3* db) : db_(db) {}
  Result<sqlite3_stmt*> prepare(std::string_view sql);
  // True: a row; false: the end.
  Result<bool> step(sqlite3_stmt* statement);
  std::int64_t changes() const;
  Error error(int code, std::string_view doing) const;
  void close();

  static void bind(sqlite3_stmt* statement, int index, std::int64_t value);
  static void bind(sqlite3_stmt* statement, int index, double value);
  static void bind(sqlite3_stmt* statement, int index, std::string_view value);
  static void bind_null(sqlite3_stmt* statement, int index);
  static void reset(sqlite3_stmt* statement);

  template <class T>
  static void bind_any(sqlite3_stmt* statement, int index, const T& value);
  template <class T>
  static void bind_any(sqlite3_stmt* statement, int index, const std::optional<T>& value) {
    if (value) {
      bind_any(statement, index, *value);
    } else {
      bind_null(statement, index);
    }
  }
  template <class... Args>
  static void bind_all([[maybe_unused]] sqlite3_stmt* statement, const Args&... args) {
    [[maybe_unused]] int index = 0;
    (bind_any(statement, ++index, args), ...);
  }

  struct Reset {
    sqlite3_stmt* statement;
    ~Reset() { reset(statement); }
  };

  sqlite3* db_ = nullptr;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

template <class T>
void Connection::bind_any(sqlite3_stmt* statement, int index, const T& value) {
  if constexpr (std::is_same_v<T, WallTime>) {
    bind(statement, index, unix_micros(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    bind(statement, index, static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    bind(statement, index, static_cast<std::int64_t>(value));
  } else {
    bind(statement, index, std::string_view(value));
  }
}

template <class... Args>
Result<std::int64_t> Connection::run(std::string_view sql, const Args&... args) {
  sqlite3_stmt* statement = TRY(prepare(sql));
  Reset reset{statement};
  bind_all(statement, args...);
  while (TRY(step(statement))) {
  }
  return changes();
}

template <class Each, class... Args>
Result<void> Connection::query(std::string_view sql, Each&& each, const Args&... args) {
  sqlite3_stmt* statement = TRY(prepare(sql));
  Reset reset{statement};
  bind_all(statement, args...);
  while (TRY(step(statement))) each(Row(statement));
  return {};
}

}  // namespace atl::store
