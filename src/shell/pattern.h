#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace atl::shell {

// A compiled glob pattern. A backslash quotes the next character. Matching takes time bounded by pattern x
// text, extended forms included (each position of each alternative is tried once).
class Pattern {
 public:
  struct Flags {
    bool extglob = true;
    bool ignore_case = false;
  };
  // The empty pattern, which matches the empty text.
  Pattern() = default;
  Pattern(std::string_view text, Flags flags);

  // The whole text.
  bool matches(std::string_view text) const;
  // The length of the shortest or longest prefix (suffix) that matches; npos if none does.
  std::size_t prefix(std::string_view text, bool longest) const;
  std::size_t suffix(std::string_view text, bool longest) const;
  // First match at or after `from`, longest: offset and length. False if none.
  bool find(std::string_view text, std::size_t from, std::size_t& at, std::size_t& length) const;
  // Matching never throws by itself; the meter may.
  // No special character: the text it stands for.
  bool is_literal() const { return literal_; }
  const std::string& literal() const { return literal_text_; }
  // Accounts for work done in matching.
  // Null: nobody counts. Set for the time of a script by Machine; must outlive its use.
  static thread_local const std::function<void(std::uint64_t)>* meter;

 private:
  struct Range {
    std::uint32_t low, high;
  };
  struct Set {
    bool negated = false;
    std::vector<Range> ranges;
    std::uint32_t classes = 0;
  };
  enum class Kind : std::uint8_t { text, any, star, set, group };
  struct Item {
    Kind kind = Kind::text;
    char op = 0;             // group: ? * + @ !
    std::uint32_t code = 0;  // text
    int index = 0;           // into sets_ or groups_
  };
  using Sequence = std::vector<Item>;
  struct Group {
    std::vector<Sequence> alternatives;
    std::vector<int> ids;  // of the alternatives, for the memory of what was tried
  };
  class Matcher;

  static constexpr int depth_max = 100;  // of groups; deeper ones are plain text
  Sequence parse(std::string_view text, std::size_t& at, int depth);
  bool closes(std::string_view text, std::size_t at);
  bool parse_set(std::string_view text, std::size_t& at, Item& item);
  bool in_set(const Set& set, std::uint32_t code) const;

  Sequence items_;
  std::vector<Set> sets_;
  std::vector<Group> groups_;
  bool literal_ = true;
  std::string literal_text_;
  Flags flags_;
};

// Whether the text has a live glob character (unquoted by backslash).
bool has_glob(std::string_view pattern, bool extglob);
// The text with backslashes that quote removed.
std::string unquote_pattern(std::string_view pattern);

}  // namespace atl::shell
