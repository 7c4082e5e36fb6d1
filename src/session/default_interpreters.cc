#include "session/default_interpreters.h"

#include <algorithm>

namespace atl::session {

std::shared_ptr<sandbox::Interpreter> DefaultInterpreters::find(sandbox::Language language) const {
  const auto found = by_language_.find(language);
  return found == by_language_.end() ? nullptr : found->second;
}

void DefaultInterpreters::add(sandbox::Language language, std::shared_ptr<sandbox::Interpreter> interpreter) {
  if (auto lost = lost_.extract(language); !lost.empty())
    restarted_[interpreter->info().id] = std::move(lost.mapped());
  by_language_[language] = std::move(interpreter);
}

void DefaultInterpreters::remove(const std::string& context) {
  std::erase_if(by_language_, [&](const auto& entry) { return entry.second->info().id == context; });
  restarted_.erase(context);
}

TextMap DefaultInterpreters::match(const TextMap& expected,
                                   const std::vector<std::shared_ptr<sandbox::Interpreter>>& present,
                                   const std::vector<std::string>& left_behind,
                                   const std::string& otherwise) {
  by_language_.clear();
  restarted_.clear();
  TextMap found;
  for (const auto& [word, id] : expected) {
    const auto language = sandbox::parse_language(word);
    if (!language) continue;
    const auto same = std::ranges::find(present, id, [](const auto& one) { return one->info().id; });
    if (same != present.end()) {
      by_language_[*language] = *same;
      found.emplace(word, id);
      continue;
    }
    const auto named = std::ranges::find_if(
        left_behind, [&id = id](const std::string& what) { return what.find(id) != std::string::npos; });
    lost_[*language] = named == left_behind.end() ? otherwise : *named;
  }
  return found;
}

TextMap DefaultInterpreters::contexts() const {
  TextMap contexts;
  for (const auto& [language, interpreter] : by_language_)
    contexts.emplace(to_string(language), interpreter->info().id);
  return contexts;
}

std::string DefaultInterpreters::take_restart_note(const std::string& context) {
  auto note = restarted_.extract(context);
  return note.empty() ? std::string() : std::move(note.mapped());
}

}  // namespace atl::session
