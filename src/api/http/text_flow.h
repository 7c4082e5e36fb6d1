#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/utf8.h"

namespace atl::api::http {

// Makes text of bytes that come in pieces cut anywhere: only whole characters are given out, and what is no
// UTF-8 becomes U+FFFD. One for each stream of output.
class TextFlow {
 public:
  // May be empty: then the piece ended within its first character.
  std::string add(std::string_view bytes) {
    held_ += bytes;
    const std::size_t whole = held_.size() - utf8::incomplete_tail(held_);
    std::string text = to_valid_utf8(std::string_view(held_).substr(0, whole));
    held_.erase(0, whole);
    return text;
  }
  // After the last piece: a character that was never completed.
  std::string finish() {
    std::string text = to_valid_utf8(held_);
    held_.clear();
    return text;
  }

 private:
  std::string held_;
};

}  // namespace atl::api::http
