#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace atl::api::rest {

// Bytes that come in pieces cut anywhere, as text in whole characters. What is no UTF-8 becomes U+FFFD.
class TextFlow {
 public:
  std::string add(std::string_view bytes) {
    held_ += bytes;
    const std::size_t whole = held_.size() - open_tail(held_);
    std::string text = to_valid_utf8(std::string_view(held_).substr(0, whole));
    held_.erase(0, whole);
    return text;
  }
  std::string finish() {
    std::string text = to_valid_utf8(held_);
    held_.clear();
    return text;
  }

 private:
  // How many bytes at the end begin a character that is not complete yet.
  static std::size_t open_tail(std::string_view text) {
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
      const auto byte = static_cast<unsigned char>(text[text.size() - back]);
      if (byte < 0x80) return 0;
      if (byte < 0xC0) continue;
      const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
      return length > back ? back : 0;
    }
    return 0;
  }
  std::string held_;
};

}  // namespace atl::api::rest
