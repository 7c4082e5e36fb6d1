#include "shell/arguments/choice.h"

#include <fmt/format.h>

#include "shell/arguments/usage.h"
#include "shell/text/quotes.h"

namespace atl::shell {

std::optional<int> choose(Invocation& call, std::string_view option, std::string_view value,
                          std::span<const Choice> words) {
  std::optional<int> found;
  bool ambiguous = false;
  for (const Choice& choice : words) {
    if (!choice.word.starts_with(value)) continue;
    if (choice.word.size() == value.size()) return choice.id;
    if (found && *found != choice.id) ambiguous = true;
    found = choice.id;
  }
  if (found && !ambiguous) return found;
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    bool synonym = i > 0 && words[i].id == words[i - 1].id;
    list += fmt::format("{}'{}'", synonym ? ", " : "\n  - ", words[i].word);
  }
  usage_error(call, fmt::format("{} argument {} for '{}'\nValid arguments are:{}",
                                ambiguous ? "ambiguous" : "invalid", quote_operand(value), option, list));
  return std::nullopt;
}

}  // namespace atl::shell
