#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace atl::shell {

// The words that begin or join compound commands, in the order in which bash lists them (compgen -k).
inline constexpr std::array<std::string_view, 22> reserved_words = {
    "if", "then", "else", "elif",     "fi",   "case", "esac", "for", "select", "while", "until",
    "do", "done", "in",   "function", "time", "{",    "}",    "!",   "[[",     "]]",    "coproc"};

inline bool is_reserved_word(std::string_view text) {
  return std::ranges::find(reserved_words, text) != reserved_words.end();
}

}  // namespace atl::shell
