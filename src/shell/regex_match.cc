#include "shell/regex_match.h"

#include <re2/re2.h>

#include <cctype>

namespace atl::shell {

std::string translate_extended(std::string_view pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      char d = pattern[++i];
      if (d == '<' || d == '>') {
        out += "\\b";
      } else if (std::isalnum(static_cast<unsigned char>(d)) &&
                 std::string_view("wWsSbB").find(d) == std::string_view::npos) {
        out += d;
      } else {
        out += '\\';
        out += d;
      }
      continue;
    }
    if (c == '[') {
      out += '[';
      std::size_t j = i + 1;
      if (j < pattern.size() && pattern[j] == '^') out += '^', ++j;
      bool first = true;
      while (j < pattern.size() && (first || pattern[j] != ']')) {
        first = false;
        if (pattern[j] == '[' && j + 1 < pattern.size() &&
            (pattern[j + 1] == ':' || pattern[j + 1] == '.' || pattern[j + 1] == '=')) {
          std::string close = {pattern[j + 1], ']'};
          std::size_t end = pattern.find(close, j + 2);
          if (end != std::string_view::npos) {
            if (pattern[j + 1] == ':') {
              out += pattern.substr(j, end + 2 - j);
            } else {
              std::string_view inner = pattern.substr(j + 2, end - j - 2);
              for (char e : inner) {
                if (std::string_view("\\]^-[").find(e) != std::string_view::npos) out += '\\';
                out += e;
              }
            }
            j = end + 2;
            continue;
          }
        }
        char e = pattern[j];
        if (e == '\\' || e == '[' || (e == ']')) out += '\\';
        if (e == '^') out += '\\';
        out += e;
        ++j;
      }
      if (j < pattern.size()) out += ']';
      i = j;
      continue;
    }
    if (c == '(' && i + 1 < pattern.size() && pattern[i + 1] == '?') {
      out += "(";  // (? has no meaning in POSIX: let RE2 refuse the ? that follows
      continue;
    }
    out += c;
  }
  return out;
}

MatchResult match_extended(std::string_view text, std::string_view pattern, bool ignore_case,
                           std::uint64_t memory_bytes, std::vector<std::string>& groups) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_longest_match(true);
  options.set_case_sensitive(!ignore_case);
  options.set_dot_nl(true);
  options.set_never_nl(false);
  options.set_max_mem(static_cast<std::int64_t>(memory_bytes));
  options.set_one_line(true);
  std::string translated = translate_extended(pattern);
  RE2 re(translated, options);
  if (!re.ok() && re.error_code() == RE2::ErrorBadUTF8) {
    options.set_encoding(RE2::Options::EncodingLatin1);
    RE2 bytes(translated, options);
    if (!bytes.ok()) return MatchResult::bad_pattern;
  }
  if (!re.ok()) return MatchResult::bad_pattern;
  int count = re.NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> found(static_cast<std::size_t>(count));
  if (!re.Match(re2::StringPiece(text.data(), text.size()), 0, text.size(), RE2::UNANCHORED, found.data(),
                count))
    return MatchResult::no;
  for (const auto& piece : found)
    groups.emplace_back(piece.data() ? std::string(piece.data(), piece.size()) : std::string());
  return MatchResult::yes;
}

}  // namespace atl::shell
