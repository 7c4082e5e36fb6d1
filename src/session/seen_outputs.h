#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"

namespace atl::session {

// What was found in a session's output directory so far, so that every execution reports only files that are
// new or changed. Belongs to its Live and to the loop thread.
class SeenOutputs {
 public:
  // The directory was empty when it was last listed and has not changed since: it need not be listed again.
  bool is_still_empty(WallTime modified_at) const { return empty_since_ == modified_at; }
  // The directory was listed. `empty_since`: its time of change if it was empty and that time has settled.
  void note_listed(std::optional<WallTime> empty_since) { empty_since_ = empty_since; }
  // True if the file is new or differs in size or time from the last call with its path.
  bool note(const std::string& path, std::uint64_t size, WallTime modified_at) {
    const std::pair mark{size, modified_at};
    auto [seen, fresh] = files_.try_emplace(path, mark);
    return fresh || std::exchange(seen->second, mark) != mark;
  }
  // The same question, without noting anything.
  bool is_new(const std::string& path, std::uint64_t size, WallTime modified_at) const {
    const auto seen = files_.find(path);
    return seen == files_.end() || seen->second != std::pair{size, modified_at};
  }
  // Another sandbox stands behind the session now.
  void clear() {
    files_.clear();
    empty_since_.reset();
  }

 private:
  std::map<std::string, std::pair<std::uint64_t, WallTime>> files_;  // path to size and time of change
  std::optional<WallTime> empty_since_;
};

}  // namespace atl::session
