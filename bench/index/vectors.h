#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

// Vectors, the right answers and the measuring, for programs that differ in what they search with.
namespace bench {

using Vector = std::vector<float>;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kDimension = 384, kLatent = 32, kWanted = 10;
// A million takes long: what there is so far is measured on the way.
constexpr std::size_t kReportEvery = 100'000;

// Of this program alone, whatever else the machine does.
inline double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

inline double seconds_since(Steady::time_point begun) {
  return std::chrono::duration<double>(Steady::now() - begun).count();
}

inline std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

inline float product(const Vector& a, const Vector& b) {
  float sum = 0;
  for (std::size_t i = 0; i < kDimension; ++i) sum += a[i] * b[i];
  return sum;
}

// Sentence vectors lie near a surface of few dimensions and in heaps: so do these. Vectors that are random in
// all 384 directions have no neighbours to speak of, and nothing is like them.
class Source {
 public:
  Source() {
    for (float& x : axes_) x = normal_(dice_);
    for (Vector& centre : centres_) {
      centre.resize(kLatent);
      for (float& x : centre) x = normal_(dice_);
    }
  }
  Vector next() {
    Vector latent = centres_[dice_() % centres_.size()];
    for (float& x : latent) x += 0.6F * normal_(dice_);
    Vector vector(kDimension);
    for (std::size_t i = 0; i < kDimension; ++i) {
      float sum = 0;
      for (std::size_t j = 0; j < kLatent; ++j) sum += axes_[i * kLatent + j] * latent[j];
      vector[i] = sum + 0.5F * normal_(dice_);
    }
    const float scale = 1 / std::sqrt(product(vector, vector));
    for (float& x : vector) x *= scale;
    return vector;
  }

 private:
  std::mt19937 dice_{17};
  std::normal_distribution<float> normal_;
  std::vector<float> axes_ = std::vector<float>(kDimension * kLatent);
  std::vector<Vector> centres_ = std::vector<Vector>(2000);
};

// The ten nearest of every query, kept up while the vectors pass by: a million of them are never held.
class Exact {
 public:
  explicit Exact(std::vector<Vector> queries) : queries_(std::move(queries)), best_(queries_.size()) {}
  void see(std::uint64_t number, const Vector& vector) {
    for (std::size_t i = 0; i < queries_.size(); ++i) {
      best_[i].emplace(-product(queries_[i], vector), number);
      if (best_[i].size() > kWanted) best_[i].erase(std::prev(best_[i].end()));
    }
  }
  bool has(std::size_t query, std::uint64_t number) const {
    return std::ranges::any_of(best_[query], [&](const auto& one) { return one.second == number; });
  }
  const std::vector<Vector>& queries() const { return queries_; }

 private:
  std::vector<Vector> queries_;
  std::vector<std::set<std::pair<float, std::uint64_t>>> best_;
};

template <class Search>
void report(const char* name, std::size_t count, double build, std::uint64_t memory, const Exact& exact,
            const std::vector<Vector>& timed, Search search) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < exact.queries().size(); ++i)
    for (const std::uint64_t number : search(exact.queries()[i])) right += exact.has(i, number) ? 1 : 0;
  // Both clocks: on a machine that does other work the wall's says how long others had it.
  std::vector<double> times, own;
  for (const Vector& query : timed) {
    const auto begun = Steady::now();
    const double used = processor_seconds();
    (void)search(query);
    own.push_back((processor_seconds() - used) * 1000);
    times.push_back(seconds_since(begun) * 1000);
  }
  std::ranges::sort(own);
  std::ranges::sort(times);
  fmt::print(
      R"({{"name":"{}","vectors":{},"build_cpu_s":{:.1f},"memory_mb":{:.0f},"recall":{:.4f},"p50_ms":{:.3f},"p95_ms":{:.3f},"p50_cpu_ms":{:.3f},"p95_cpu_ms":{:.3f}}})"
      "\n",
      name, count, build, static_cast<double>(memory) / 1e6,
      static_cast<double>(right) / static_cast<double>(exact.queries().size() * kWanted),
      times[times.size() / 2], times[times.size() * 95 / 100], own[own.size() / 2],
      own[own.size() * 95 / 100]);
  std::fflush(stdout);
}

// Building takes long and may be done on a busy machine; every line of input after it measures the searches
// once more, when the machine is quiet.
template <class Measure>
void measure_again(Measure measure) {
  for (std::string line; std::getline(std::cin, line);) measure();
}

inline std::vector<Vector> some(Source& source, std::size_t count) {
  std::vector<Vector> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(source.next());
  return all;
}

}  // namespace bench
