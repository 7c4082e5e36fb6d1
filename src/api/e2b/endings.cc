#include "api/e2b/endings.h"

namespace atl::api::e2b {
namespace {

constexpr std::chrono::seconds kKept{30};
constexpr std::size_t kCountMax = 10'000;

}  // namespace

void Endings::forget() {
  const SteadyTime now = clock_.steady();
  while (!kept_.empty() && (kept_.size() > kCountMax || now - kept_.front().at > kKept)) kept_.pop_front();
}

void Endings::keep(const std::string& sandbox_id, std::uint32_t pid, const std::string& tag,
                   std::string event) {
  kept_.push_back({sandbox_id, pid, tag, std::move(event), clock_.steady()});
  forget();
}

std::optional<Endings::Ending> Endings::find(const std::string& sandbox_id,
                                             const session::ProcessSelector& selector) {
  forget();
  for (auto ending = kept_.rbegin(); ending != kept_.rend(); ++ending) {
    const bool fits = selector.pid != 0 ? ending->pid == selector.pid : ending->tag == selector.tag;
    if (fits && ending->sandbox_id == sandbox_id) return *ending;
  }
  return std::nullopt;
}

}  // namespace atl::api::e2b
