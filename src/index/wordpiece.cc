#include "index/wordpiece.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/utf8.h"
#include "index/unicode_table.h"

namespace atl::index {
namespace {

constexpr std::size_t kWordMax = 100;  // characters; longer ones are unknown, as in the model's own tokenizer

bool is_within(std::span<const CharacterPair> ranges, char32_t c) {
  const auto after = std::ranges::upper_bound(ranges, c, {}, &CharacterPair::first);
  return after != ranges.begin() && c <= std::prev(after)->second;
}

// Other characters that part lines, such as form feed, are no space to the models' own tokenizer: it drops
// them.
bool is_space(char32_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

// Characters that are words of their own in the writing of Chinese.
bool is_ideograph(char32_t c) {
  constexpr CharacterPair kRanges[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                       {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                       {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return is_within(kRanges, c);
}

// A character in lower case, without its marks, and taken apart as decomposition has it.
class Plain {
 public:
  explicit Plain(char32_t c) {
    if (c < 0x80) {
      add(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (c >= 0xAC00 && c <= 0xD7A3) {
      const char32_t at = c - 0xAC00;
      add(0x1100 + at / 588), add(0x1161 + at % 588 / 28);
      if (at % 28 != 0) add(0x11A7 + at % 28);
    } else if (const auto* one = find(folded(), c, &CharacterPair::first)) {
      add(one->second);
    } else if (const auto* several = find(apart(), c, &CharacterParts::whole)) {
      for (const char32_t part : several->parts)
        if (part != 0) add(part);
    } else {
      add(c);
    }
  }
  const char32_t* begin() const { return parts_; }
  const char32_t* end() const { return parts_ + count_; }

 private:
  template <class Row, class Member>
  static const Row* find(std::span<const Row> rows, char32_t c, Member member) {
    const auto found = std::ranges::lower_bound(rows, c, {}, member);
    return found != rows.end() && (*found).*member == c ? &*found : nullptr;
  }
  void add(char32_t c) { parts_[count_++] = c; }

  char32_t parts_[3];
  std::size_t count_ = 0;
};

std::string utf8_of(std::u32string_view text) {
  std::string bytes;
  for (const char32_t c : text) utf8::append(bytes, c);
  return bytes;
}

}  // namespace

Result<WordPiece> WordPiece::load(std::string_view text) {
  const auto wrong = [](const char* why) {
    return fail(Code::invalid_argument, std::string("the tokenizer cannot be used: ") + why);
  };
  const auto parsed = json::parse(text, {.max_bytes = 64U << 20});  // a vocabulary has many words
  if (!parsed || !parsed->is_object()) return wrong("it is no JSON object");
  const auto* model = parsed->get_object().if_contains("model");
  if (model == nullptr || !model->is_object()) return wrong("it has no model");
  const auto& object = model->get_object();
  const auto* type = object.if_contains("type");
  if (type != nullptr && *type != "WordPiece") return wrong("it is no WordPiece");
  const auto* vocabulary = object.if_contains("vocab");
  if (vocabulary == nullptr || !vocabulary->is_object()) return wrong("it has no vocabulary");
  WordPiece made;
  for (const auto& [word, number] : vocabulary->get_object()) {
    if (!number.is_int64()) return wrong("its vocabulary has no numbers");
    made.vocabulary_.emplace(std::string(word), number.get_int64());
  }
  for (const auto& [word, to] : {std::pair("[UNK]", &made.unknown_), std::pair("[CLS]", &made.first_),
                                 std::pair("[SEP]", &made.last_)}) {
    const auto found = made.vocabulary_.find(word);
    if (found == made.vocabulary_.end()) return wrong("its vocabulary lacks [UNK], [CLS] or [SEP]");
    *to = found->second;
  }
  return made;
}

void WordPiece::add_word(std::u32string_view word, std::size_t most, std::vector<std::int64_t>& to) const {
  std::vector<std::int64_t> parts;
  for (std::size_t at = 0; at < word.size() && word.size() <= kWordMax;) {
    std::size_t end = word.size();
    auto found = vocabulary_.end();
    for (; end > at; --end) {
      found = vocabulary_.find((at > 0 ? "##" : "") + utf8_of(word.substr(at, end - at)));
      if (found != vocabulary_.end()) break;
    }
    if (found == vocabulary_.end()) {
      parts.clear();
      break;
    }
    parts.push_back(found->second);
    at = end;
  }
  if (parts.empty()) parts.push_back(unknown_);
  for (const std::int64_t part : parts)
    if (to.size() + 1 < most) to.push_back(part);
}

std::vector<std::int64_t> WordPiece::encode(std::string_view text, std::size_t most) const {
  std::vector<std::int64_t> numbers = {first_};
  std::u32string word;
  const auto finish = [&] {
    if (!word.empty()) add_word(word, most, numbers);
    word.clear();
  };
  while (!text.empty() && numbers.size() + 1 < most) {
    const std::size_t length = utf8::well_formed_sequence(text);
    const char32_t c = length == 0 ? utf8::replacement : utf8::decode(text, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
    if (is_space(c)) finish();
    if (is_space(c) || is_within(dropped(), c)) continue;
    const bool stands_alone = is_ideograph(c);
    if (stands_alone) finish();
    for (const char32_t part : Plain(c)) {
      const bool is_sign = is_within(punctuation(), part);
      if (is_sign) finish();
      word += part;
      if (is_sign) finish();
    }
    if (stands_alone) finish();
    if (word.size() > kWordMax * 2) word.resize(kWordMax + 1);  // unknown anyway
  }
  finish();
  numbers.push_back(last_);
  return numbers;
}

}  // namespace atl::index
