#include <algorithm>

#include "policy/scan/compiled.h"

namespace atl::policy {

PathTrie::PathTrie() : states_(2), texts_(1) {}

PathTrie::State PathTrie::add(std::string_view dotted) {
  State state = root;
  while (!dotted.empty()) {
    std::size_t dot = dotted.find('.');
    std::string_view part = dotted.substr(0, dot);
    dotted = dot == std::string_view::npos ? std::string_view() : dotted.substr(dot + 1);
    auto [found, fresh] = words_.try_emplace(std::string(part), static_cast<std::uint32_t>(texts_.size()));
    if (fresh) texts_.emplace_back(part);
    std::uint32_t word = found->second;
    State next = child(state, word);
    if (next == nothing) {
      next = static_cast<State>(states_.size());
      states_.push_back({.parent = state, .word = word});
      auto& children = states_[state].children;
      children.insert(std::ranges::lower_bound(children, std::pair(word, State{0})), {word, next});
    }
    state = next;
  }
  return state;
}

void PathTrie::set_model(std::string_view dotted, Model model) {
  states_[add(dotted)].model = model;
}
void PathTrie::set_mention(std::string_view dotted, ListedIndex listed) {
  states_[add(dotted)].mention = listed;
}
void PathTrie::set_call(std::string_view dotted, ListedIndex listed) {
  states_[add(dotted)].call = listed;
}

std::uint32_t PathTrie::word(std::string_view text) const {
  auto found = words_.find(text);
  return found == words_.end() ? 0 : found->second;
}

PathTrie::State PathTrie::child(State state, std::uint32_t word) const {
  if (state == nothing || word == 0) return nothing;
  const auto& children = states_[state].children;
  auto found = std::ranges::lower_bound(children, std::pair(word, State{0}));
  return found != children.end() && found->first == word ? found->second : nothing;
}

std::string PathTrie::name(State state) const {
  std::string text;
  for (; state > root; state = states_[state].parent) {
    text = text.empty() ? texts_[states_[state].word] : texts_[states_[state].word] + "." + text;
  }
  return text;
}

}  // namespace atl::policy
