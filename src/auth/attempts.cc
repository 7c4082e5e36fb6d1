#include "auth/attempts.h"

#include <algorithm>
#include <cmath>

namespace atl::auth {

void Attempts::forget_old() {
  if (counts_.size() < limits_.names_max) return;
  const SteadyTime now = clock_.steady();
  std::erase_if(counts_, [&](const auto& one) { return now - one.second.at > limits_.forget_after; });
  // A flood from more addresses than can be remembered: each of them is new, and no count says anything.
  if (counts_.size() >= limits_.names_max) counts_.clear();
}

double Attempts::note(const std::string& name) {
  const SteadyTime now = clock_.steady();
  auto [found, fresh] = counts_.try_emplace(name, Count{0, now});
  Count& count = found->second;
  const double passed = std::chrono::duration<double>(now - count.at).count();
  const double forgotten = passed * limits_.free / static_cast<double>(limits_.forget_after.count());
  count.failures = std::max(0.0, count.failures - forgotten) + 1;
  count.at = now;
  return count.failures;
}

std::chrono::milliseconds Attempts::failed(const std::string& address, const std::string& key_id) {
  if (limits_.delay_max.count() == 0) return std::chrono::milliseconds(0);
  forget_old();
  double failures = note("address " + address);
  if (!key_id.empty()) failures = std::max(failures, note("key " + key_id));
  if (failures <= limits_.free) return std::chrono::milliseconds(0);
  // Doubles with every failure beyond the free ones, from 50 ms on.
  const double delay = 50.0 * std::exp2(std::min(failures - limits_.free, 20.0) - 1);
  return std::min(std::chrono::milliseconds(static_cast<std::int64_t>(delay)), limits_.delay_max);
}

bool Attempts::begin_wait() {
  if (waiting_ >= limits_.waiting_max) return false;
  ++waiting_;
  return true;
}

}  // namespace atl::auth
