#include "egress/buffered.h"

namespace atl::egress {

Task<void> Buffered::need(std::size_t count) {
  while (buffer_.size() < count) {
    CO_TRY(auto bytes, co_await stream_->read());
    if (bytes.empty()) co_return fail(Code::unavailable, "the connection ended in the middle of a request");
    buffer_ += bytes;
  }
  co_return Result<void>();
}

Task<std::size_t> Buffered::need_until(std::string_view mark, std::size_t max) {
  for (std::size_t from = 0;;) {
    if (const auto at = buffer_.find(mark, from); at != std::string::npos) co_return at + mark.size();
    if (buffer_.size() > max) co_return fail(Code::too_large, "the head of the request is too large");
    from = buffer_.size() < mark.size() ? 0 : buffer_.size() - mark.size() + 1;
    CO_CHECK(co_await need(buffer_.size() + 1));
  }
}

std::string Buffered::take(std::size_t count) {
  auto bytes = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return bytes;
}

Task<std::string> Buffered::read() {
  if (buffer_.empty()) co_return co_await stream_->read();
  co_return std::exchange(buffer_, {});
}

Task<void> Buffered::write(std::string bytes) {
  return stream_->write(std::move(bytes));
}
Task<void> Buffered::close_write() {
  return stream_->close_write();
}

}  // namespace atl::egress
