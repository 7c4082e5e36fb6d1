#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace atl::audit {

// Where the parts of a log lie in a data directory. `audit/` holds the entries and nothing else, so that any
// program can read it; what the service keeps beside them is in `audit-state/`.
struct Paths {
  explicit Paths(const std::string& data)
      : segments(data + "/audit"),
        state(data + "/audit-state"),
        key(state + "/key.pem"),
        public_key(state + "/public.pem"),
        mark(state + "/mark"),
        head(state + "/head"),
        retired(state + "/retired"),
        compacted(state + "/compacted.jsonl"),
        lock(state + "/lock") {}

  std::string segments, state;
  std::string key, public_key;
  std::string mark;       // where the log ends and what is under way (mark.h)
  std::string head;       // the last signed head (head.h)
  std::string retired;    // what was removed by age or size
  std::string compacted;  // which segments lost the text of some entries
  std::string lock;

  // The position of a forwarding target.
  std::string cursor(const std::string& target) const { return state + "/forwarded-" + target; }
};

// One file of entries. Its name is the number of its first entry.
struct Segment {
  std::uint64_t first_seq = 0;
  std::string path;
  std::uint64_t bytes = 0;
};

std::string segment_name(std::uint64_t first_seq);
// Oldest first. A missing directory has none. Files with other names are left out.
std::vector<Segment> list_segments(const std::string& directory);

}  // namespace atl::audit
