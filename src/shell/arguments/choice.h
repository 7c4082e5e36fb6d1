#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "shell/command.h"

namespace atl::shell {

// A word that an option's value may be. Words of one meaning share an id and stand side by side.
struct Choice {
  std::string_view word;
  int id;
};

// Which of the words `value` is, or is an unambiguous beginning of. Nothing after a complaint that lists the
// words as GNU does; `option` is what the message names, such as "--sort".
std::optional<int> choose(Invocation& call, std::string_view option, std::string_view value,
                          std::span<const Choice> words);

}  // namespace atl::shell
