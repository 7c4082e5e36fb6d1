#include "sandbox/docker/relay.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstring>

#include "os/message.h"

namespace atl::sandbox::docker {
namespace {

namespace asio = boost::asio;
constexpr std::size_t kBlockHeader = 8;
constexpr char kStandardOutput = 1;

// Moves bytes from the front of `bytes` until `header` has `size`; true if it does.
bool fill(std::string& header, std::string_view& bytes, std::size_t size) {
  const std::size_t take = std::min(size - header.size(), bytes.size());
  header.append(bytes.substr(0, take));
  bytes.remove_prefix(take);
  return header.size() == size;
}

guest::Header header_of(std::string_view bytes) {
  guest::Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

std::string again_frame() {
  const guest::Header header{0, 0, static_cast<std::uint16_t>(guest::Type::again), 0};
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace

bool BlockReader::feed(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    if (left_ == 0) {
      if (!fill(header_, bytes, kBlockHeader)) return true;
      if (header_[0] < 0 || header_[0] > 2 || header_[1] != 0 || header_[2] != 0 || header_[3] != 0)
        return false;
      wanted_ = header_[0] == kStandardOutput;
      for (std::size_t i = 4; i < kBlockHeader; ++i)
        left_ = left_ << 8 | static_cast<unsigned char>(header_[i]);
      header_.clear();
      continue;
    }
    const std::size_t take = std::min<std::size_t>(left_, bytes.size());
    if (wanted_) out.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    left_ -= static_cast<std::uint32_t>(take);
  }
  return true;
}

bool FrameFilter::feed(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    if (left_ == 0) {
      if (!fill(header_, bytes, sizeof(guest::Header))) return true;
      const guest::Header header = header_of(header_);
      if (header.size > guest::kFrameMax) return false;
      const bool is_hello =
          header.type == static_cast<std::uint16_t>(guest::Type::hello) && header.channel == 0;
      if (is_hello) skipping_ = false;
      passing_ = !skipping_ && !(is_hello && has_greeted_);
      has_greeted_ |= is_hello;
      if (passing_) out += header_;
      left_ = header.size;
      header_.clear();
      continue;
    }
    const std::size_t take = std::min<std::size_t>(left_, bytes.size());
    if (passing_) out.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    left_ -= static_cast<std::uint32_t>(take);
  }
  return true;
}

void FrameFilter::skip_to_hello() {
  skipping_ = true;
  passing_ = false;
  has_greeted_ = false;
}

bool FrameCollector::feed(std::string_view bytes, std::string& out) {
  pending_.append(bytes);
  std::size_t whole = 0;
  while (pending_.size() - whole >= sizeof(guest::Header)) {
    const guest::Header header = header_of(std::string_view(pending_).substr(whole));
    if (header.size > guest::kFrameMax) return false;
    if (pending_.size() - whole < sizeof(guest::Header) + header.size) break;
    whole += sizeof(guest::Header) + header.size;
  }
  out.append(pending_, 0, whole);
  pending_.erase(0, whole);
  return true;
}

struct Relay::Host {
  Host(const asio::any_io_executor& executor, os::Fd fd)
      : socket(executor, asio::local::stream_protocol(), fd.release()) {}
  asio::local::stream_protocol::socket socket;
};

Relay::Relay(asio::any_io_executor executor, std::unique_ptr<net::ByteStream> attached, Guest guest)
    : executor_(executor),
      attached_(std::move(attached)),
      writing_(executor, 1),
      was_open_(guest == Guest::has_spoken) {}

void Relay::start(std::function<void(std::string)> on_end) {
  on_end_ = std::move(on_end);
  asio::co_spawn(executor_, carry_up(), asio::detached);
}

Result<os::Fd> Relay::open() {
  os::SocketPair pair = TRY(os::socket_pair(os::SocketKind::stream));
  close();
  host_ = std::make_shared<Host>(executor_, std::move(pair.first));
  const bool again = was_open_;
  if (again) filter_.skip_to_hello();
  was_open_ = true;
  asio::co_spawn(executor_, carry_down(host_, again), asio::detached);
  return std::move(pair.second);
}

void Relay::close() {
  if (!host_) return;
  boost::system::error_code ignored;
  host_->socket.close(ignored);
  host_.reset();
}

asio::awaitable<void> Relay::carry_up() {
  const auto self = shared_from_this();
  std::string why = "its guest ended";
  for (;;) {
    auto bytes = co_await attached_->read();
    if (!bytes || bytes->empty()) break;
    std::string frames, out;
    if (!blocks_.feed(*bytes, frames) || !filter_.feed(frames, out)) {
      why = "its guest broke the protocol";
      break;
    }
    if (out.empty()) continue;
    if (const auto host = host_) {
      constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
      auto [error, size] = co_await asio::async_write(host->socket, asio::buffer(out), kAwait);
      (void)size;
      // A daemon that is gone may have heard half a frame; the next one begins anew.
      if (error && host_ == host) filter_.skip_to_hello();
    }
  }
  if (auto on_end = std::exchange(on_end_, nullptr)) on_end(std::move(why));
}

asio::awaitable<void> Relay::carry_down(std::shared_ptr<Host> host, bool again) {
  const auto self = shared_from_this();
  // Whoever carried for the daemon before may be in the middle of a frame.
  auto turn = co_await writing_.take();
  if (!turn) co_return;
  if (again) {
    auto told = co_await attached_->write(again_frame());
    if (!told) co_return;
  }
  FrameCollector frames;
  std::string room(64U << 10, '\0');
  for (;;) {
    constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
    auto [error, size] = co_await host->socket.async_read_some(asio::buffer(room), kAwait);
    if (error || size == 0) co_return;
    std::string out;
    if (!frames.feed(std::string_view(room).substr(0, size), out)) co_return;
    if (out.empty()) continue;
    auto written = co_await attached_->write(std::move(out));
    if (!written) co_return;
  }
}

}  // namespace atl::sandbox::docker
