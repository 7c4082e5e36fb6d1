#pragma once

#include <span>

namespace atl::index {

struct CharacterPair {
  char32_t first, second;
};

// All in the order of `first`. bases: a letter with marks, and the letter alone. The others are ranges, both
// ends in them.
std::span<const CharacterPair> bases();
std::span<const CharacterPair> marks();
std::span<const CharacterPair> punctuation();
std::span<const CharacterPair> invisible();

}  // namespace atl::index
