#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "session/types.h"

namespace atl::tools {

// How the calls of one tool went.
struct ToolStatistics {
  // Upper ends of the latency classes in milliseconds; the last class is open.
  static constexpr std::array<double, 10> kBuckets = {1, 5, 10, 50, 100, 500, 1'000, 5'000, 30'000, 300'000};

  std::uint64_t calls = 0;
  std::uint64_t cached = 0;                       // answered from an earlier call
  std::map<std::string, std::uint64_t> failures;  // by status, and "invalid_input"
  std::array<std::uint64_t, kBuckets.size() + 1> latency{};
  std::chrono::microseconds wall_time{0}, cpu_time{0};

  void add(const ToolStatistics& other) {
    calls += other.calls;
    cached += other.cached;
    for (const auto& [status, count] : other.failures) failures[status] += count;
    for (std::size_t i = 0; i < latency.size(); ++i) latency[i] += other.latency[i];
    wall_time += other.wall_time;
    cpu_time += other.cpu_time;
  }
  void count(session::Status status, std::chrono::microseconds took, std::chrono::microseconds cpu) {
    ++calls;
    if (status != session::Status::success) ++failures[std::string(session::to_string(status))];
    const double ms = static_cast<double>(took.count()) / 1000;
    std::size_t bucket = 0;
    while (bucket < kBuckets.size() && ms > kBuckets[bucket]) ++bucket;
    ++latency[bucket];
    wall_time += took;
    cpu_time += cpu;
  }
};

}  // namespace atl::tools
