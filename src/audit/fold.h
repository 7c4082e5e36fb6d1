#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "audit/entry.h"
#include "base/clock.h"

namespace atl::audit {

// Makes one entry of many that say the same. What it holds is bounded, whatever callers send. It has no lock:
// the log's mutex protects it.
class Fold {
 public:
  static constexpr std::size_t kStrangersMax = 64;  // different refusals of callers without a key
  static constexpr std::size_t kKnownMax = 4096;

  explicit Fold(std::chrono::milliseconds window) : window_(window) {}

  // True: write it now. False: it was counted.
  bool take(const Entry& entry, SteadyTime now);
  // Those whose time is over and that were repeated, with how often in `details`.
  std::vector<Entry> due(SteadyTime now);
  std::size_t size() const { return seen_.size(); }

 private:
  struct Seen {
    Entry entry;
    SteadyTime since;
    std::uint64_t repeated = 0;
  };

  std::chrono::milliseconds window_;
  std::map<std::string, Seen> seen_;
  std::size_t strangers_ = 0;
};

}  // namespace atl::audit
