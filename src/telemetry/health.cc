#include "telemetry/health.h"

#include <algorithm>
#include <utility>

namespace atl::telemetry {

std::string_view to_string(Condition condition) {
  switch (condition) {
    case Condition::ok: return "ok";
    case Condition::degraded: return "degraded";
    case Condition::down: return "down";
    case Condition::off: return "off";
  }
  std::unreachable();
}

void Health::add(std::string name, std::function<ComponentState()> probe, std::string remedy) {
  const Condition first = probe().condition;
  watched_.push_back({std::move(name), std::move(probe), std::move(remedy), first, clock_.now()});
}

std::vector<Health::Component> Health::look() {
  std::vector<Component> found;
  for (Watched& one : watched_) {
    ComponentState state = one.probe();
    if (state.condition != one.last) {
      one.last = state.condition;
      one.since = clock_.now();
    }
    const bool is_bad = state.condition == Condition::degraded || state.condition == Condition::down;
    found.push_back({one.name, std::move(state), one.since, is_bad ? one.remedy : std::string()});
  }
  return found;
}

Condition Health::worst(const std::vector<Component>& components) {
  const auto has = [&](Condition condition) {
    return std::ranges::any_of(components, [&](const auto& one) { return one.state.condition == condition; });
  };
  if (has(Condition::down)) return Condition::down;
  return has(Condition::degraded) ? Condition::degraded : Condition::ok;
}

}  // namespace atl::telemetry
