#pragma once

#include <string>
#include <string_view>

#include "shell/stream.h"

namespace atl::shell {

// Reads from a string.
class TextInput final : public Input {
 public:
  explicit TextInput(std::string text) : text_(std::move(text)) {}
  std::string_view fill() override { return std::string_view(text_).substr(at_); }
  void consume(std::size_t count) override { at_ += count; }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

// Collects into a string, up to a bound; beyond it writes fail.
class TextOutput final : public Output {
 public:
  explicit TextOutput(std::size_t bytes_max = 256 << 20) : bytes_max_(bytes_max) {}
  bool write(std::string_view bytes) override {
    if (text_.size() + bytes.size() > bytes_max_) return false;
    text_.append(bytes);
    return true;
  }
  std::string_view error() const override { return "File too large"; }
  // What was written; leaves this empty.
  std::string take() { return std::move(text_); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t bytes_max_;
};

}  // namespace atl::shell
