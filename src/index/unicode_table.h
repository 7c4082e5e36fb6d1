#pragma once

#include <span>

namespace atl::index {

struct CharacterPair {
  char32_t first, second;
};

// Tables that the tokenizer looks characters up in, each sorted by `first`. In bases() `first` is a letter
// with marks and `second` the letter without; in the others a pair is a range that includes both ends.
std::span<const CharacterPair> bases();
std::span<const CharacterPair> marks();
std::span<const CharacterPair> punctuation();
std::span<const CharacterPair> invisible();

}  // namespace atl::index
