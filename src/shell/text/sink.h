#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "shell/stream.h"

namespace atl::shell {

class Invocation;

// Collects small writes. finish() must be called on the normal way out; what an ended command had collected
// is lost as it would be with stdio.
class Sink {
 public:
  explicit Sink(Output& out) : out_(out) { buffer_.reserve(4096); }

  void append(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= kFlushAt) flush();
  }
  void put(char c) {
    buffer_.push_back(c);
    if (buffer_.size() >= kFlushAt) flush();
  }
  // The bytes and a delimiter.
  void line(std::string_view bytes, char delimiter = '\n') {
    buffer_.append(bytes);
    put(delimiter);
  }
  // False when a write failed, now or before.
  bool flush();
  // Whether a write failed so far.
  bool failed() const { return failed_; }
  // Flushes; complains "write error: ..." and gives 1 if anything failed, else `status`.
  int finish(Invocation& call, int status = 0);

 private:
  static constexpr std::size_t kFlushAt = 64 * 1024;
  Output& out_;
  std::string buffer_;
  bool failed_ = false;
};

}  // namespace atl::shell
