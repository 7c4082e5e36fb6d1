#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::shell {

// The language that a pattern is written in.
enum class Syntax : unsigned char {
  basic,     // POSIX BRE with GNU's \+ \? \| \w \b \< ...
  extended,  // POSIX ERE with the same
  awk,       // ERE where backslash escapes mean what they mean in awk strings, also in brackets
  perl,      // grep -P, jq
  fixed,     // a plain string
};

// How a pattern matches.
struct RegexOptions {
  bool ignore_case = false;
  bool multiline = false;  // ^ and $ match at inner newlines
  bool lines =
      false;  // many lines at once: ^ $ at each, no match crosses a newline; where it ends is left open
  bool whole_line = false;      // the match must be the whole line (grep -x)
  bool captures = true;         // false: only where the match lies is wanted
  bool extended_space = false;  // perl: x
  bool dot_newline = true;      // perl: s (the POSIX syntaxes: always)
  bool quick = false;  // matches() is asked about many short texts: machine code is worth its compilation
};

// What expressions may cost on this thread, as long as a RegexScope lives: whoever runs scripts sets it, so
// that no command can forget it. Inside another RegexScope the inner one counts.
struct RegexLimits {
  std::uint64_t memory_bytes = 32U << 20;  // one compiled expression
  std::uint32_t steps = 2'000'000;         // one match that backtracks
  std::function<void()> exceeded;          // a match ran out of steps; may throw
  std::function<void()> too_big;           // an expression does not fit into memory_bytes; may throw
  std::function<void(std::uint64_t)> charge;
};

// Puts limits in force on this thread for its life. Scopes nest and must end in the reverse order.
class RegexScope {
 public:
  explicit RegexScope(RegexLimits limits);
  ~RegexScope();
  RegexScope(const RegexScope&) = delete;
  RegexScope& operator=(const RegexScope&) = delete;

 private:
  RegexLimits limits_;
  const RegexLimits* outer_;
};

// A compiled pattern. Linear-time (RE2) unless the pattern needs back-references or look-around; then PCRE2
// with match limits. A match that hits them calls RegexLimits::exceeded, and fails if that returns.
class Regex {
 public:
  // Where a match or a group lies: bytes [begin, end) of the text. npos: the group took no part.
  struct Span {
    std::size_t begin = npos;
    std::size_t end = npos;
    bool matched() const { return begin != npos; }
  };
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  // Errors carry glibc's words ("Unmatched [, [^, [:, [., or [=").
  static Result<Regex> compile(std::string_view pattern, Syntax syntax, const RegexOptions& options = {});
  // Several patterns, any of which may match.
  static Result<Regex> compile(const std::vector<std::string>& patterns, Syntax syntax,
                               const RegexOptions& options = {});

  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // The leftmost(-longest) match at or after `from`. Text before `from` is context for ^ and \b. spans[0] is
  // the match; spans beyond groups() stay unmatched. `spans` is resized to groups() + 1 unless captures were
  // off.
  bool search(std::string_view text, std::size_t from, std::vector<Span>& spans) const;
  // Only where; the quick form.
  bool search(std::string_view text, std::size_t from, Span& span) const;
  // A match that begins exactly at `from`, with `text` cut at `to`.
  bool match_at(std::string_view text, std::size_t from, std::size_t to, Span& span) const;
  // Whether there is a match anywhere in the text.
  bool matches(std::string_view text) const;

  // How many groups the pattern has, and the names of those that have one.
  std::size_t groups() const;
  const std::vector<std::pair<std::string, std::size_t>>& names() const;
  // The pattern if it is a plain string without options that change its meaning; else empty.
  std::string_view literal() const;
  // A text that every match contains, empty if none is known; and whether every match begins with it, at a
  // line's start.
  std::string_view required() const;
  bool required_at_start() const;
  // Whether matches() runs machine code on short texts (RegexOptions::quick).
  bool quick() const;

 private:
  struct Body;
  explicit Regex(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace atl::shell
