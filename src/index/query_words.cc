#include "index/query_words.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace atl::index {
namespace {

// In order, because they are searched by halves.
constexpr auto kFunctionWords = std::to_array<std::string_view>(
    {"a",     "able",   "about", "all",   "am",       "an",      "and",       "any",       "anything",
     "are",   "as",     "at",    "be",    "been",     "but",     "by",        "can",       "could",
     "did",   "do",     "does",  "for",   "from",     "had",     "has",       "have",      "how",
     "i",     "if",     "in",    "into",  "is",       "it",      "its",       "just",      "me",
     "my",    "need",   "needs", "of",    "on",       "one",     "or",        "our",       "please",
     "shall", "should", "so",    "some",  "somehow",  "someone", "something", "somewhere", "such",
     "than",  "that",   "the",   "their", "them",     "then",    "there",     "these",     "they",
     "thing", "things", "this",  "those", "to",       "us",      "want",      "wants",     "was",
     "way",   "we",     "were",  "what",  "whatever", "when",    "where",     "whether",   "which",
     "who",   "whom",   "whose", "why",   "will",     "with",    "within",    "would",     "yet",
     "you",   "your"});
static_assert(std::ranges::is_sorted(kFunctionWords));

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80;
}

std::string lower(std::string_view word) {
  std::string small(word);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

}  // namespace

std::string telling_words(std::string_view question) {
  std::string telling;
  for (std::size_t at = 0; at < question.size();) {
    const std::size_t begin = at;
    while (at < question.size() && is_word_byte(question[at])) ++at;
    const std::string_view word = question.substr(begin, at - begin);
    if (word.empty()) {
      ++at;
    } else if (!std::ranges::binary_search(kFunctionWords, std::string_view(lower(word)))) {
      if (!telling.empty()) telling += ' ';
      telling += word;
    }
  }
  return telling.empty() ? std::string(question) : telling;
}

}  // namespace atl::index
