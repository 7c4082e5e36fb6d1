#pragma once

#include <chrono>
#include <cstdint>

#include "base/latency.h"

namespace atl::sandbox {

// How creates got their sandboxes. A hit found one ready.
struct PoolUse {
  std::uint64_t hits = 0, misses = 0;
  Latency waits;  // from the question to the sandbox

  using Time = std::chrono::steady_clock::time_point;
  void add_hit(Time asked) { ++hits, (void)waits.add(std::chrono::steady_clock::now() - asked); }
  void add_miss(Time asked) { ++misses, (void)waits.add(std::chrono::steady_clock::now() - asked); }
};

// What the process beside the service that makes sandboxes has to do, such as the spawner.
struct MakerUse {
  std::size_t waiting = 0;         // creates that wait for their turn, or for its answer
  const Latency* calls = nullptr;  // how long its answers to creates took
};

// A provider that counts how creates go, for metrics: a second face of those that have pools. Belongs to the
// loop thread; what it gives is valid as long as the provider.
class Pooled {
 public:
  virtual ~Pooled() = default;
  virtual const PoolUse& pool_use() const = 0;
};

// One whose sandboxes are made by a process beside the service.
class Measured : public Pooled {
 public:
  virtual MakerUse maker_use() const = 0;
  // Why interpreters start cold, though they are usually forked from warm ones; empty: they are, or never
  // were here.
  virtual std::string zygotes_away() const = 0;
};

}  // namespace atl::sandbox
