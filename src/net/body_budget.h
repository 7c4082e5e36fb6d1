#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/result.h"

namespace atl::net {

// How much memory requests may make the server hold: bodies that are gathered into one piece, listings that
// are turned into an answer. Bodies that a handler passes on piece by piece (uploads) are not counted: they
// hold one buffer each.
struct BodyLimits {
  std::uint64_t total_bytes = 256U << 20;      // of all connections together
  std::uint64_t connection_bytes = 64U << 20;  // of one connection
};

// The account of those bytes. One for a server; belongs to the loop thread and outlives its shares.
//
// Nobody ever waits for it: a body that does not fit fails at once, so that bodies cannot wait for each
// other. The last quarter is kept for small bodies, so that ordinary calls go on while large bodies fill the
// rest.
class BodyBudget {
 public:
  // A body up to this may use the last quarter.
  static constexpr std::uint64_t kSmallBody = 64U << 10;

  explicit BodyBudget(BodyLimits limits) : limits_(limits) {}
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;

  // What one body holds; returned when this is destroyed.
  class Share {
   public:
    Share() = default;
    explicit Share(BodyBudget& budget) : budget_(&budget) {}
    Share(Share&& other) noexcept { swap(other); }
    Share& operator=(Share&& other) noexcept {
      Share moved(std::move(other));
      swap(moved);
      return *this;
    }
    ~Share() { release(); }

    // Takes `bytes` more. Code::too_large over the connection's limit, Code::unavailable when the machine's
    // is used up; nothing is taken then.
    Result<void> grow(std::uint64_t bytes);
    void release();
    std::uint64_t bytes() const { return bytes_; }

   private:
    void swap(Share& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
    }
    BodyBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  std::uint64_t used_bytes() const { return used_bytes_; }
  const BodyLimits& limits() const { return limits_; }
  Error over_the_connection() const;
  // Gives what bodies held back to the machine, when most of a large amount was returned since the last call.
  void trim();
  // Called when a body does not fit, once a time, before it is refused: may give something back (a body that
  // stands still).
  void on_shortage(std::function<void()> callback) { on_shortage_ = std::move(callback); }

 private:
  bool fits(std::uint64_t body_bytes, std::uint64_t more) const;

  BodyLimits limits_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;  // since memory was last given back to the machine
  std::function<void()> on_shortage_;
};

}  // namespace atl::net
