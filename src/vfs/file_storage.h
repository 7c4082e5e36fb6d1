#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "vfs/file_system.h"

namespace atl::vfs {

// A change of several entries at once: first the removals, then the entries to set.
struct Batch {
  std::vector<Path> removals;  // exact paths; one that is not there is no error
  std::vector<FileEntry> entries;
  bool empty() const { return removals.empty() && entries.empty(); }
};

// Where entries are kept, by path. A storage knows nothing of directories' meaning: the caller keeps the set
// closed (the parents of every entry are entries, and directories; the root is not an entry).
// VirtualFileSystem does. A storage that is set an entry without its parent may refuse (not_found) or make
// it.
//
// A custom backend implements the pure functions and joins vfs/contract_test.cc with one line.
// Threads: every member may be called from several threads at once.
// Errors: unavailable (the backend cannot be reached), no_space, read_only, data_loss (what is stored is
// damaged).
class FileStorage {
 public:
  virtual ~FileStorage() = default;

  // Nothing if there is no such entry.
  virtual Result<std::optional<FileEntry>> get(const Path& path) const = 0;
  // All of the batch or, on failure, none of it.
  virtual Result<void> apply(const Batch& batch) = 0;
  // In byte order. A prefix is text, not a directory: "/ab" finds "/abc".
  virtual Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const = 0;
  // Direct ones, in byte order; empty for whatever is not a directory with entries.
  virtual Result<std::vector<Path>> children(const Path& directory) const = 0;
  // In byte order of paths.
  virtual Result<std::vector<FileEntry>> get_all() const = 0;
  virtual Result<std::uint64_t> count() const = 0;
  virtual Result<void> clear() = 0;

  virtual Result<bool> exists(const Path& path) const;
  virtual Result<std::vector<Path>> all_paths() const { return paths_by_prefix("/"); }
  Result<void> set(FileEntry entry);
  // True if it was there.
  Result<bool> remove(const Path& path);
  Result<void> set_many(std::vector<FileEntry> entries);
};

// What some storages can do besides. Ask with dynamic_cast, once, where a storage is chosen.
class Snapshotable {
 public:
  virtual ~Snapshotable() = default;
  class State;
  virtual Result<std::shared_ptr<const State>> take_snapshot() const = 0;
  virtual Result<void> restore_snapshot(const State& state) = 0;
};
class Snapshotable::State {
 public:
  virtual ~State() = default;
};

class Serializable {
 public:
  virtual ~Serializable() = default;
  virtual Result<std::string> to_bytes() const = 0;
  // Replaces everything, or fails and changes nothing.
  virtual Result<void> from_bytes(std::string_view bytes) = 0;
  virtual Result<std::string> to_json() const = 0;
  virtual Result<void> from_json(std::string_view text) = 0;
};

class StorageStats {
 public:
  virtual ~StorageStats() = default;
  virtual Result<Stats> stats() const = 0;
};

}  // namespace atl::vfs
