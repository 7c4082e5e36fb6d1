#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace atl::shell {

// A text that every match of an expression contains (empty: none is known), and whether every match begins
// with it.
struct Required {
  std::string text;
  bool at_start = false;
};

// For one expression in the syntax that RE2 and PCRE2 share. Nothing where there are groups or alternatives.
Required required_text(std::string_view pattern);

// Machine code that says whether short texts match, beside RE2, which says the same of all. Only for
// expressions that backtrack little; compiled when many texts came, and given up when it turns out to be slow
// for them.
class Quick {
 public:
  // Null if the expression is not of that kind.
  static std::unique_ptr<Quick> create(const std::string& pattern, bool ignore_case);
  ~Quick();
  Quick(const Quick&) = delete;
  Quick& operator=(const Quick&) = delete;

  // Whether `text`, without a newline, matches; nothing if RE2 has to be asked.
  std::optional<bool> matches(std::string_view text);
  bool given_up() const { return given_up_; }

 private:
  struct Code;
  Quick(std::string pattern, bool ignore_case);
  void compile();

  std::string pattern_;
  bool ignore_case_;
  std::unique_ptr<Code> code_;
  std::uint32_t calls_ = 0;
  int slow_ = 0;
  bool given_up_ = false;
};

}  // namespace atl::shell
