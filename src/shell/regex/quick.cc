#include "shell/regex/quick.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>

namespace atl::shell {

namespace {

// Whether `c` stands for itself outside brackets.
bool plain_character(char c) {
  return c != '\0' && static_cast<unsigned char>(c) < 0x80 && !std::strchr("\\^$.[]|()?*+{}", c);
}

// Whether backtracking over a short text stays cheap as a rule: few choices, and one repetition without
// bound.
bool backtracks_little(std::string_view pattern) {
  int unbounded = 0, optional = 0, groups = 0, alternatives = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (static_cast<unsigned char>(c) >= 0x80) return false;
    if (c == '\\') {
      ++i;
      continue;
    }
    bool after_group = i > 0 && pattern[i - 1] == ')';
    if (after_group && (c == '*' || c == '+' || c == '{')) return false;
    groups += c == '(';
    alternatives += c == '|';
    unbounded += c == '*' || c == '+';
    optional += c == '?' && i > 0 && pattern[i - 1] != '(';
    if (c != '{') continue;
    std::string_view bounds = pattern.substr(i, pattern.find('}', i) - i);
    if (bounds.size() > 3) return false;
    unbounded += bounds.ends_with(',');
  }
  return unbounded <= 1 && optional <= 3 && groups <= 2 && alternatives <= 8 && pattern.size() < 200;
}

bool all_ascii(std::string_view text) {
  std::uint64_t seen = 0, word = 0;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    memcpy(&word, text.data(), 8);
    seen |= word;
  }
  for (char c : text) seen |= static_cast<unsigned char>(c);
  return (seen & 0x8080808080808080ULL) == 0;
}

constexpr std::size_t kShort = 256;       // the longest text it takes
constexpr std::uint32_t kManyCalls = 32;  // from then on machine code is worth its compilation
constexpr std::size_t kStack = 32 << 10;
constexpr int kSlowMax = 6;

}  // namespace

// The longest run of characters that a match of `pattern` must contain. Nothing where there are groups or
// alternatives.
Required required_text(std::string_view pattern) {
  Required best;
  std::string run;
  bool anchored = pattern.starts_with('^'), from_start = anchored;
  std::size_t i = anchored ? 1 : 0;
  auto end_run = [&] {
    if (run.size() > best.text.size()) best = {run, from_start};
    run.clear();
    from_start = false;
  };
  while (i < pattern.size()) {
    char c = pattern[i++];
    if (c == '|' || c == '(' || c == ')') return {};
    if (c == '{') {
      end_run();
      i = std::min(pattern.find('}', i), pattern.size() - 1) + 1;
      continue;
    }
    if (c == '[') {
      end_run();
      // A bracket that stands first, and classes like [:alpha:], do not end the list.
      if (i < pattern.size() && pattern[i] == '^') ++i;
      if (i < pattern.size() && pattern[i] == ']') ++i;
      while (i < pattern.size() && pattern[i] != ']') {
        if (pattern[i] == '\\')
          ++i;
        else if (pattern.substr(i).starts_with("[:"))
          i = std::min(pattern.find(":]", i), pattern.size()) + 1;
        ++i;
      }
      ++i;
      continue;
    }
    bool literal = plain_character(c);
    if (c == '\\' && i < pattern.size()) {
      c = pattern[i++];
      literal = !isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 0x80;
      if (!literal && c != 'b' && c != 'B' && c != 'w' && c != 'W' && c != 's' && c != 'S' && c != 'd' &&
          c != 'D')
        return {};
    }
    bool optional = i < pattern.size() && (pattern[i] == '*' || pattern[i] == '?' || pattern[i] == '{');
    if (literal && !optional) run += c;
    if (!literal || optional || (i < pattern.size() && pattern[i] == '+')) end_run();
    if (i < pattern.size() && pattern[i] == '{') i = std::min(pattern.find('}', i), pattern.size());
  }
  end_run();
  return best;
}

struct Quick::Code {
  pcre2_code* code = nullptr;
  pcre2_match_data* data = nullptr;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;
  ~Code() {
    pcre2_jit_stack_free(stack);
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }
};

Quick::Quick(std::string pattern, bool ignore_case)
    : pattern_(std::move(pattern)), ignore_case_(ignore_case) {}
Quick::~Quick() = default;

std::unique_ptr<Quick> Quick::create(const std::string& pattern, bool ignore_case) {
  return backtracks_little(pattern) ? std::unique_ptr<Quick>(new Quick(pattern, ignore_case)) : nullptr;
}

void Quick::compile() {
  given_up_ = true;
  code_ = std::make_unique<Code>();
  std::uint32_t flags =
      PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE | (ignore_case_ ? PCRE2_CASELESS : 0U);
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern_.data()), pattern_.size(), flags, &error,
                              &offset, nullptr);
  if (!code_->code || pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE) != 0) return;
  code_->context = pcre2_match_context_create(nullptr);
  code_->stack = pcre2_jit_stack_create(kStack, kStack, nullptr);
  code_->data = pcre2_match_data_create(1, nullptr);
  if (!code_->context || !code_->stack || !code_->data) return;
  pcre2_jit_stack_assign(code_->context, nullptr, code_->stack);
  given_up_ = false;
}

std::optional<bool> Quick::matches(std::string_view text) {
  if (given_up_ || text.size() > kShort || !all_ascii(text) || ++calls_ < kManyCalls) return std::nullopt;
  if (calls_ == kManyCalls) compile();
  if (given_up_) return std::nullopt;
  auto run = [&] {
    return pcre2_jit_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                           code_->data, code_->context);
  };
  int count = 0;
  if (calls_ > 2 * kManyCalls && calls_ % 16 != 0) {
    count = run();
  } else {
    auto begin = std::chrono::steady_clock::now();
    count = run();
    bool slow = std::chrono::steady_clock::now() - begin > std::chrono::nanoseconds(500 + 4 * text.size());
    slow_ = std::max(0, slow_ + (slow ? 1 : -1));
    if (slow_ >= kSlowMax) given_up_ = true;
  }
  if (count < 0 && count != PCRE2_ERROR_NOMATCH) return std::nullopt;
  return count >= 0;
}

}  // namespace atl::shell
