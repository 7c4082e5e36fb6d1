#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "os/byte_stream.h"

namespace atl::egress {

// A stream with what was read from it and not yet used.
class Buffered final : public ByteStream {
 public:
  explicit Buffered(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  // Waits until at least `count` bytes are buffered. Code::unavailable if the stream ends before.
  Task<void> need(std::size_t count);
  // Waits until `mark` is buffered and returns the length up to and including it. Code::too_large past `max`.
  Task<std::size_t> need_until(std::string_view mark, std::size_t max);
  std::string_view buffered() const { return buffer_; }
  // The first `count` bytes, which must be buffered.
  std::string take(std::size_t count);

  Task<std::string> read() override;
  Task<void> write(std::string bytes) override;
  Task<void> close_write() override;

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string buffer_;
};

}  // namespace atl::egress
