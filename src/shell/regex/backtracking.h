#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/regex/regex.h"

namespace atl::shell {

// The limits of the innermost RegexScope of this thread, or the defaults.
const RegexLimits& regex_limits();

// An expression that PCRE2 matches, under the limits of the scope it is used in: one that takes long asks for
// leave as it goes, so that a cancellation ends it within milliseconds.
class Backtracking {
 public:
  Backtracking();
  ~Backtracking();
  // `too_big_elsewhere`: it did not fit into the memory that another engine was given.
  Result<void> compile(const std::string& text, const RegexOptions& options, bool perl,
                       bool too_big_elsewhere);
  // May throw what the limits' callbacks throw.
  bool run(std::string_view text, std::size_t from, bool anchored) const;
  // Of the last match that was found.
  Regex::Span span(std::size_t group) const;

  std::size_t groups = 0;
  std::vector<std::pair<std::string, std::size_t>> names;

 private:
  struct Compiled;
  int run_quickly(std::string_view text, std::size_t from, std::uint32_t flags) const;
  int run_asking(std::string_view text, std::size_t from, std::uint32_t flags) const;

  std::string text_;
  std::uint32_t flags_ = 0;
  std::unique_ptr<Compiled> quick_;
  mutable std::unique_ptr<Compiled> asking_;  // the same, asking for leave; made when a match takes long
  mutable const Compiled* used_ = nullptr;    // the one whose data hold the last match
};

}  // namespace atl::shell
