#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "vfs/file_system.h"
#include "vfs/tree.h"

namespace atl::vfs {

enum class ChangeKind : std::uint8_t { added, removed, changed };

struct Change {
  ChangeKind kind;
  Path path;
  Type type;  // of the entry as it is after the change; for `removed` as it was

  bool operator==(const Change&) const = default;
};

// A state of a filesystem. Copying one costs a counter; it may live on any thread and outlive its filesystem.
class Snapshot {
 public:
  // An empty filesystem.
  Snapshot() = default;
  explicit Snapshot(tree::State state) : state_(std::move(state)) {}

  Stats stats() const;
  const tree::State& state() const { return state_; }
  // True if both are the very same state; equal contents that arose separately may differ.
  bool same_as(const Snapshot& other) const { return state_.same_as(other.state_); }

 private:
  tree::State state_;
};

// What turns `before` into `after`, in order of paths: names, bytes, types, modes, owners and modification
// times count. Costs what differs, not what is there: equal parts are recognised by identity. A file replaced
// by a directory is one `changed` with the new type (and `added` for what it holds).
std::vector<Change> diff(const Snapshot& before, const Snapshot& after);
// The same, where every field counts, inode numbers and all times too: what a storage needs to follow.
std::vector<Change> diff_exactly(const Snapshot& before, const Snapshot& after);

}  // namespace atl::vfs
