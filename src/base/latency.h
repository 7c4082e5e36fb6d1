#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace atl {

// How often something took how long, in classes from 0.1 ms to a minute. Any thread may add and read; a
// reader may see an addition half done, which the next look puts right.
class Latency {
 public:
  // Upper ends of the classes in seconds; the last class is open.
  static constexpr std::array kBounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                         0.05,   0.1,     0.25,   0.5,   1.0,    5.0,   15.0, 60.0};
  static constexpr std::size_t kClasses = kBounds.size() + 1;

  // Gives the class that it belongs to.
  std::size_t add(std::chrono::nanoseconds took) {
    const double seconds = std::chrono::duration<double>(took).count();
    std::size_t at = 0;
    while (at < kBounds.size() && seconds > kBounds[at]) ++at;
    counts_[at].fetch_add(1, std::memory_order_relaxed);
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
    return at;
  }
  std::uint64_t count(std::size_t at) const { return counts_[at].load(std::memory_order_relaxed); }
  double sum_seconds() const {
    return static_cast<double>(nanoseconds_.load(std::memory_order_relaxed)) / 1e9;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kClasses> counts_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

}  // namespace atl
