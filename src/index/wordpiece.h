#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace atl::index {

// Turns text into the token numbers of a model of BERT's family: lower case, without accents, words and signs
// apart, words cut into the longest parts that the vocabulary has. Immutable; any thread may use it.
class WordPiece {
 public:
  // A tokenizer.json with a model "WordPiece". Code::invalid_argument for anything else.
  static Result<WordPiece> load(std::string_view json);

  // The tokens of the text between [CLS] and [SEP], cut off so that there are at most `most` with those two.
  // A "[SEP]" or another of the model's own signs inside the text is read as brackets and a word, so that a
  // text cannot steer the model. Otherwise the numbers are those of the model's own tokenizer
  // (tests/index/run-long compares them).
  std::vector<std::int64_t> encode(std::string_view text, std::size_t most) const;

 private:
  WordPiece() = default;
  void add_word(std::u32string_view word, std::size_t most, std::vector<std::int64_t>& to) const;

  std::unordered_map<std::string, std::int64_t> vocabulary_;
  std::int64_t unknown_ = 0, first_ = 0, last_ = 0;
};

}  // namespace atl::index
