#include "net/body_budget.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

namespace atl::net {
namespace {

// A peak below this is not worth the time of giving memory back to the machine.
constexpr std::uint64_t kPeakWorthTrimming = 32U << 20;

}  // namespace

bool BodyBudget::fits(std::uint64_t body_bytes, std::uint64_t more) const {
  const bool small = body_bytes + more <= kSmallBody;
  const std::uint64_t usable = small ? limits_.total_bytes : limits_.total_bytes - limits_.total_bytes / 4;
  return used_bytes_ <= usable && more <= usable - used_bytes_;
}

Result<void> BodyBudget::Share::grow(std::uint64_t bytes) {
  if (budget_ == nullptr) return fail(Code::internal, "a share of no budget");
  const std::uint64_t most = budget_->limits_.connection_bytes;
  if (bytes_ > most || bytes > most - bytes_) {
    return fail(budget_->over_the_connection());
  }
  if (!budget_->fits(bytes_, bytes) && budget_->on_shortage_) budget_->on_shortage_();
  if (!budget_->fits(bytes_, bytes)) {
    return fail(Code::unavailable,
                "the service holds as many bytes of requests as it may; try again in a second");
  }
  bytes_ += bytes;
  budget_->used_bytes_ += bytes;
  budget_->peak_bytes_ = std::max(budget_->peak_bytes_, budget_->used_bytes_);
  return {};
}

Error BodyBudget::over_the_connection() const {
  return {Code::too_large, fmt::format("more than {} bytes, the most that is held for one connection",
                                       limits_.connection_bytes)};
}

void BodyBudget::Share::release() {
  if (budget_ != nullptr) budget_->used_bytes_ -= std::exchange(bytes_, 0);
}

// The allocator keeps what was freed below a block that is still in use. After a flood that would be most of
// it, for as long as the process lives.
void BodyBudget::trim() {
  if (peak_bytes_ < kPeakWorthTrimming || used_bytes_ > peak_bytes_ / 8) return;
  peak_bytes_ = used_bytes_;
  ::malloc_trim(1U << 20);
}

}  // namespace atl::net
