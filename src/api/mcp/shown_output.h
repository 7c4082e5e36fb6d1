#pragma once

#include <string>

#include "api/http/text_flow.h"

namespace atl::api::mcp {

// What a model is shown of one stream of output: its beginning and its end, as text. Bounded however much
// comes.
class ShownOutput {
 public:
  static constexpr std::size_t kHead = 24U << 10, kTail = 8U << 10;

  void add(std::string_view bytes);
  void finish();
  std::uint64_t total() const { return total_; }
  bool truncated() const { return cut_ > 0; }
  // With a line in the place of what is left out.
  std::string text() const;
  // The last line that was begun, for whoever wants to know that something goes on.
  std::string last_line() const;

 private:
  void keep(std::string_view text);

  http::TextFlow flow_;
  std::string head_, tail_;
  std::uint64_t total_ = 0;  // bytes as they came
  std::uint64_t cut_ = 0;    // bytes of text that are neither in head_ nor in tail_
};

}  // namespace atl::api::mcp
