// A whole client of the proxy, in pieces as the input cuts them. One host is allowed on one port: whatever is
// said, only it is dialled, and what it is sent is at most one request, framed so that nothing can hide
// behind it.
#include <boost/asio/io_context.hpp>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "egress/http_request.h"
#include "egress/proxy.h"

namespace {

using namespace atl;
using namespace atl::egress;

// Gives its text piece by piece, then ends; keeps what is written.
class Script final : public ByteStream {
 public:
  Script(std::string text, std::size_t piece, std::string& written)
      : text_(std::move(text)), piece_(piece), written_(written) {}
  Task<std::string> read() override {
    auto bytes = text_.substr(0, piece_);
    text_.erase(0, piece_);
    co_return bytes;
  }
  Task<void> write(std::string bytes) override {
    written_ += bytes;
    co_return Result<void>();
  }
  Task<void> close_write() override { co_return Result<void>(); }

 private:
  std::string text_;
  std::size_t piece_;
  std::string& written_;
};

class World final : public Resolver, public Connector {
 public:
  Task<std::vector<Address>> resolve(std::string name) override {
    if (name != "good.com") std::abort();
    co_return std::vector{Address::v4({1, 1, 1, 1})};
  }
  Task<std::unique_ptr<ByteStream>> connect(Address address, std::uint16_t port) override {
    if (address != Address::v4({1, 1, 1, 1}) || port != 80 || ++dialled > 1) std::abort();
    co_return std::make_unique<Script>("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 7, sent);
  }
  Task<std::unique_ptr<ByteStream>> secure(std::unique_ptr<ByteStream>, std::string) override {
    std::abort();
  }

  int dialled = 0;
  std::string sent;
};

// Chunks up to the last one, with nothing behind it; the end may be missing.
void check_chunks(std::string_view body) {
  while (!body.empty()) {
    const auto end = body.find("\r\n");
    if (end == std::string_view::npos) return;
    std::uint64_t size = 0;
    const auto [stop, error] = std::from_chars(body.data(), body.data() + end, size, 16);
    if (error != std::errc() || stop != body.data() + end) std::abort();
    body.remove_prefix(end + 2);
    if (body.size() < size) return;
    body.remove_prefix(size);
    if (body.size() < 2) return;
    if (!body.starts_with("\r\n")) std::abort();
    body.remove_prefix(2);
    if (size == 0 && !body.empty()) std::abort();
  }
}

void check_sent(std::string_view sent) {
  if (sent.empty()) return;
  const auto end = sent.find("\r\n\r\n");
  if (end == std::string_view::npos) std::abort();
  const ConnectRequest origin{std::string("good.com"), 80};
  const auto request = parse_request(sent.substr(0, end + 4), origin);
  if (!request || request->host != origin.host) std::abort();
  const auto body = sent.substr(end + 4);
  if (request->body == HttpRequest::Body::none && !body.empty()) std::abort();
  if (request->body == HttpRequest::Body::length && body.size() > request->length) std::abort();
  if (request->body == HttpRequest::Body::chunked) check_chunks(body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const auto rules = std::make_shared<const Rules>(Rules::compile({.allow = {"good.com:80"}}).value());
  boost::asio::io_context loop;
  World world;
  Outside outside;
  outside.resolver = &world;
  outside.connector = &world;
  std::string answered;
  {
    Proxy proxy(loop.get_executor(), rules, outside, [](const Attempt&) {});
    std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    proxy.serve(std::make_unique<Script>(std::move(text), data[0] % 64 + 1U, answered));
    loop.run();
  }
  check_sent(world.sent);
  return 0;
}
