#pragma once

#include <sqlite3.h>

#include <exception>
#include <string>

#include "shell/command.h"

namespace atl::shell::sqlite {

// A SQLite VFS over the shell's filesystem: databases and journals are files there, temporary ones live in
// memory that is charged to the script. Known to SQLite under name() while it lives. Nothing may be thrown
// through SQLite's frames, so what a callback catches waits in stopped() for the caller of SQLite.
class Files {
 public:
  explicit Files(Invocation& call);
  ~Files();
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  const char* name() const { return name_.c_str(); }
  Invocation& call() { return call_; }
  // Does work whose charge may end the script; false if it did.
  bool charge(std::uint64_t work, std::int64_t memory = 0) noexcept;
  // Throws what a callback had to hold back.
  void rethrow();

 private:
  Invocation& call_;
  std::string name_;
  sqlite3_vfs vfs_{};
  std::exception_ptr stopped_;
};

}  // namespace atl::shell::sqlite
