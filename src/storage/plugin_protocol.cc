#include "storage/plugin_protocol.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace atl::storage {
namespace {

using SteadyClock = std::chrono::steady_clock;

Error gone(std::string detail) {
  return Error(Code::unavailable, "the process of the storage plugin is gone").with_detail(std::move(detail));
}

Result<void> wait_for(int socket, short what, SteadyClock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now());
    if (left.count() <= 0) return fail(Code::unavailable, "the storage plugin does not answer in time");
    pollfd one{.fd = socket, .events = what, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail(gone("poll"));
  }
}

// False: the other side closed before the first byte.
Result<bool> receive_all(int socket, char* to, std::size_t size, SteadyClock::time_point until) {
  for (std::size_t have = 0; have < size;) {
    TRY(wait_for(socket, POLLIN, until));
    const ssize_t got = ::recv(socket, to + have, size - have, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0) return fail(gone("recv"));
    if (got == 0 && have == 0) return false;
    if (got == 0) return fail(gone("closed within a frame"));
    have += static_cast<std::size_t>(got);
  }
  return true;
}

Result<void> send_all(int socket, std::string_view bytes, SteadyClock::time_point until) {
  while (!bytes.empty()) {
    TRY(wait_for(socket, POLLOUT, until));
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent < 0) return fail(gone("send"));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

}  // namespace

Result<void> send_frame(int socket, FrameKind kind, std::string_view body,
                        std::chrono::milliseconds longest) {
  if (body.size() > kFrameMax) return fail(Code::too_large, "too much at once for a storage plugin");
  const auto until = SteadyClock::now() + longest;
  const auto size = static_cast<std::uint32_t>(body.size());
  const std::array<char, 5> head = {static_cast<char>(size), static_cast<char>(size >> 8),
                                    static_cast<char>(size >> 16), static_cast<char>(size >> 24),
                                    static_cast<char>(kind)};
  TRY(send_all(socket, {head.data(), head.size()}, until));
  return send_all(socket, body, until);
}

Result<std::optional<Frame>> receive_frame(int socket, std::chrono::milliseconds longest) {
  const auto until = SteadyClock::now() + longest;
  std::array<char, 5> head{};
  if (!TRY(receive_all(socket, head.data(), head.size(), until))) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size |= std::size_t{static_cast<unsigned char>(head[i])} << (8 * i);
  if (size > kFrameMax) return fail(gone("a frame is too long"));
  Frame frame;
  frame.kind = static_cast<FrameKind>(head[4]);
  // As it comes: a length alone takes no memory.
  while (frame.body.size() < size) {
    const std::size_t have = frame.body.size();
    const std::size_t more = std::min<std::size_t>(size - have, std::size_t{1} << 20);
    frame.body.resize(have + more);
    if (!TRY(receive_all(socket, frame.body.data() + have, more, until)))
      return fail(gone("closed within a frame"));
  }
  return frame;
}

}  // namespace atl::storage
