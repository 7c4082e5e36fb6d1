#pragma once

#include <vector>

#include "shell/command.h"

namespace atl::shell {

// Lines by the number of their class: equal numbers are equal lines.
using LineClasses = std::vector<int>;

// Which lines of two files changed.
struct Alignment {
  std::vector<bool> a, b;
};

// Chooses among the shortest (or nearly shortest) edits those that GNU diff chooses, so that hunks fall where
// its users expect them. `margin` is how many of the equal lines before and after the changes take part: the
// lines of context.
Alignment align(Invocation& call, const LineClasses& a, const LineClasses& b, std::size_t margin,
                bool minimal);

}  // namespace atl::shell
