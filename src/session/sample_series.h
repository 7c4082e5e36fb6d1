#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "session/types.h"

namespace atl::session {

// The metrics of one session: its usage at points in time, the last kSamplesMax of them. Belongs to its Live
// and to the loop thread.
class SampleSeries {
 public:
  static constexpr std::size_t kSamplesMax = 720;  // an hour at 5 s

  // The CPU percentage is that of the time since the sample before; 0 in the first one.
  void add(WallTime now, const sandbox::Usage& usage) {
    Sample sample{now, 0, usage};
    if (!samples_.empty()) {
      const Sample& last = samples_.back();
      const double passed = std::chrono::duration<double, std::micro>(now - last.at).count();
      const auto used = static_cast<double>((usage.cpu_time - last.usage.cpu_time).count());
      if (passed > 0 && used > 0) sample.cpu_percent = used / passed * 100;
    }
    samples_.push_back(std::move(sample));
    if (samples_.size() > kSamplesMax) samples_.pop_front();
  }
  // Oldest first; both ends are included, an unset one is open.
  std::vector<Sample> between(std::optional<WallTime> from, std::optional<WallTime> to) const {
    std::vector<Sample> found;
    for (const Sample& sample : samples_) {
      if (from && sample.at < *from) continue;
      if (to && sample.at > *to) continue;
      found.push_back(sample);
    }
    return found;
  }

 private:
  std::deque<Sample> samples_;
};

}  // namespace atl::session
