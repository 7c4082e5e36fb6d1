#include "api/e2b/numbers.h"

namespace atl::api::e2b {

// A default context that nobody used yet goes by its language; no id looks like "python".
Numbers::Key Numbers::key_of(const std::string& sandbox_id, const std::string& context,
                             const std::string& language) const {
  if (!context.empty()) return {sandbox_id, context};
  const auto known = defaults_.find({sandbox_id, language});
  return {sandbox_id, known == defaults_.end() ? language : known->second};
}

std::uint64_t Numbers::begin(const std::string& sandbox_id, const std::string& context,
                             const std::string& language) {
  State& state = states_[key_of(sandbox_id, context, language)];
  return state.last + ++state.running;
}

void Numbers::end(const std::string& sandbox_id, const std::string& context, const std::string& language,
                  const std::string& context_id, std::uint64_t count) {
  const auto found = states_.find(key_of(sandbox_id, context, language));
  if (found == states_.end()) return;
  State state = found->second;
  if (state.running > 0) --state.running;
  if (count != 0) state.last = count;
  found->second = state;
  if (context.empty() && !context_id.empty() &&
      defaults_.emplace(Key{sandbox_id, language}, context_id).second) {
    states_.erase(found);
    states_[{sandbox_id, context_id}] = state;
  }
}

void Numbers::restart(const std::string& sandbox_id, const std::string& context) {
  states_.erase({sandbox_id, context});
}

void Numbers::sweep(const std::function<bool(const std::string&)>& is_gone) {
  std::erase_if(states_, [&](const auto& entry) { return is_gone(entry.first.first); });
  std::erase_if(defaults_, [&](const auto& entry) { return is_gone(entry.first.first); });
}

}  // namespace atl::api::e2b
