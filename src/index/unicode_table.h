#pragma once

#include <span>

namespace atl::index {

struct CharacterPair {
  char32_t first, second;
};
struct CharacterParts {
  char32_t whole;
  char32_t parts[3];  // those behind the last are 0
};

// What becomes of characters, and which are words of their own, as the tokenizers of BERT's family have it.
// All in the order of their first member; what is in none of them stays as it is.

// A character, and the one that it becomes: in lower case and without marks.
std::span<const CharacterPair> folded();
// Those that fall apart into several. Hangul does, too, and is not here: it can be computed.
std::span<const CharacterParts> apart();
// Ranges, both ends in them: marks, and what is not seen.
std::span<const CharacterPair> dropped();
std::span<const CharacterPair> punctuation();

}  // namespace atl::index
