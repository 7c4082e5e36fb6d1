#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "vfs/file_storage.h"

struct sqlite3;
struct sqlite3_stmt;

namespace atl::vfs {

// Entries in one SQLite file (WAL, every batch is one durable transaction). One process at a time.
// A file of another application or of a newer version is Code::unsupported, a damaged one Code::data_loss;
// contents over 900 MB are Code::too_large.
class SqliteStorage final : public FileStorage, public StorageStats {
 public:
  // `file` is a path of the host; it is created if missing. ":memory:" keeps everything in memory.
  static Result<std::shared_ptr<SqliteStorage>> open(const std::string& file);
  ~SqliteStorage() override;
  SqliteStorage(const SqliteStorage&) = delete;
  SqliteStorage& operator=(const SqliteStorage&) = delete;

  Result<std::optional<FileEntry>> get(const Path& path) const override;
  Result<void> apply(const Batch& batch) override;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override;
  Result<std::vector<Path>> children(const Path& directory) const override;
  Result<std::vector<FileEntry>> get_all() const override;
  Result<std::uint64_t> count() const override;
  Result<void> clear() override;
  Result<bool> exists(const Path& path) const override;
  Result<Stats> stats() const override;

 private:
  class Statement;
  explicit SqliteStorage(sqlite3* db) : db_(db) {}
  Result<void> prepare_schema();
  Result<void> execute(const char* sql) const;
  Result<std::vector<Path>> paths(const char* sql, std::string_view first, std::string_view second) const;
  std::unexpected<Error> failed(std::string_view what) const;
  Result<void> apply_locked(const Batch& batch);

  mutable std::mutex lock_;
  sqlite3* db_;
};

}  // namespace atl::vfs
