#include "sandbox/e2b/remote_port.h"

#include <fmt/format.h>

namespace atl::sandbox::e2b {
namespace {

constexpr std::size_t kHeadMax = 64U << 10;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

class PortStream final : public ByteStream {
 public:
  PortStream(std::shared_ptr<Plane> plane, std::uint16_t port, std::unique_ptr<net::ByteStream> stream,
             std::string host)
      : plane_(std::move(plane)), port_(port), stream_(std::move(stream)), host_(std::move(host)) {}

  Task<std::string> read() override { return stream_->read(); }
  Task<void> write(std::string bytes) override {
    if (head_sent_) co_return co_await stream_->write(std::move(bytes));
    head_ += bytes;
    const std::size_t end = head_.find(kHeadEnd);
    if (end == std::string::npos) {
      if (head_.size() <= kHeadMax && looks_like_http()) co_return Result<void>();
      co_return fail(not_http());
    }
    const std::size_t size = end + kHeadEnd.size();
    CO_TRY(std::string head,
           with_routing(std::string_view(head_).substr(0, size), host_, plane_->headers_of(port_)));
    head += std::string_view(head_).substr(size);
    head_.clear();
    head_sent_ = true;
    co_return co_await stream_->write(std::move(head));
  }
  Task<void> close_write() override { return stream_->close_write(); }

  static Error not_http() {
    return Error(Code::unsupported, "ports of a remote sandbox are reached by HTTP only");
  }

 private:
  // Letters, then a space: the method of a request.
  bool looks_like_http() const {
    const std::string_view method = std::string_view(head_).substr(0, head_.find(' '));
    constexpr std::size_t kMethodMax = 20;
    return method.size() <= kMethodMax &&
           method.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == std::string_view::npos;
  }

  std::shared_ptr<Plane> plane_;
  std::uint16_t port_;
  std::unique_ptr<net::ByteStream> stream_;
  std::string host_;
  std::string head_;
  bool head_sent_ = false;
};

bool is_named(std::string_view line, std::string_view name) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && net::equal_ignoring_case(line.substr(0, colon), name);
}

}  // namespace

Result<std::string> with_routing(std::string_view head, const std::string& host,
                                 const net::Headers& routing) {
  const std::size_t first_end = head.find("\r\n");
  const std::string_view request = head.substr(0, first_end);
  if (first_end == std::string_view::npos || !request.ends_with(" HTTP/1.1"))
    return fail(PortStream::not_http());
  std::string made(request);
  made += "\r\nHost: " + host + "\r\n";
  std::string_view rest = head.substr(first_end + 2);
  bool upgrades = false;
  while (rest.size() > 2) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(line.size() + 2);
    bool ours = is_named(line, "Host");
    // Whoever is asked inside must not be able to say which sandbox is meant.
    for (const auto& [name, value] : routing) ours |= is_named(line, name);
    upgrades |= is_named(line, "Upgrade");
    if (is_named(line, "Connection") && !upgrades && line.find("pgrade") == std::string_view::npos)
      ours = true;
    if (!ours) made += fmt::format("{}\r\n", line);
  }
  for (const auto& [name, value] : routing) made += fmt::format("{}: {}\r\n", name, value);
  // The next request on this connection would go without these headers.
  if (!upgrades) made += "Connection: close\r\n";
  return made + "\r\n";
}

Task<std::unique_ptr<ByteStream>> connect_port(std::shared_ptr<Plane> plane, std::uint16_t port) {
  CO_CHECK(plane->check_running());
  CO_TRY(const net::Url url, plane->url_of(port));
  auto dialled = co_await plane->dial(port);
  if (!dialled)
    co_return fail(Code::unavailable, "the remote sandbox is not reached: " + dialled.error().message());
  std::unique_ptr<ByteStream> stream =
      std::make_unique<PortStream>(std::move(plane), port, std::move(*dialled), url.authority());
  co_return stream;
}

}  // namespace atl::sandbox::e2b
