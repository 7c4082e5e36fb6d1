#include "os/message.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace atl::os {

namespace {

// A socket that blocks says EAGAIN only when its own time limit is over.
bool may_wait_on(int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

}  // namespace

static Error send_error(int number) {
  switch (number) {
    case EAGAIN: return Error(Code::conflict, "the other process has not taken its messages yet");
    // Descriptors on their way are counted for each user, and a message needs memory.
    case ETOOMANYREFS:
    case ENOBUFS:
    case ENOMEM:
      return Error(Code::resource_exhausted, "the kernel has no room for a message")
          .with_detail(std::strerror(number));
    default:
      return Error(Code::unavailable, "the other process does not take messages")
          .with_detail(std::strerror(number));
  }
}

Result<SocketPair> socket_pair(SocketKind kind) {
  int fds[2];
  const int type = kind == SocketKind::stream ? SOCK_STREAM : SOCK_SEQPACKET;
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) < 0) return fail(errno_error(errno, "socketpair"));
  return SocketPair{Fd(fds[0]), Fd(fds[1])};
}

Result<void> send_message(int socket, std::string_view bytes, std::span<const int> fds, Wait wait) {
  // JUSTIFICATION: iovec has no const form, and sending writes nothing.
  iovec data{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMessageFdsMax)] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (fds.size() > kMessageFdsMax) return fail(Code::internal, "too many descriptors in one message");
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* first = CMSG_FIRSTHDR(&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(first), fds.data(), sizeof(int) * fds.size());
  }
  for (;;) {
    const int flags = MSG_NOSIGNAL | (wait == Wait::no ? MSG_DONTWAIT : 0);
    if (::sendmsg(socket, &header, flags) >= 0) return {};
    if (errno == EINTR) continue;
    if (errno == EAGAIN && wait == Wait::yes && may_wait_on(socket)) {
      pollfd ready{socket, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    return fail(send_error(errno));
  }
}

Result<Message> receive_message(int socket, Wait wait) {
  Message message;
  // Kept: so much memory, taken and given back each time, would cost more than the message.
  thread_local const auto room = std::make_unique_for_overwrite<char[]>(kMessageBytesMax);
  iovec data{room.get(), kMessageBytesMax};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMessageFdsMax)] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t n;
  bool was_reset = false;
  for (;;) {
    n = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | (wait == Wait::no ? MSG_DONTWAIT : 0));
    if (n >= 0) break;
    if (errno == EINTR) continue;
    // A peer that ended without reading our last message is reported as a reset, once, before the messages
    // that it had sent itself.
    if (errno == ECONNRESET && !std::exchange(was_reset, true)) continue;
    if (errno == ECONNRESET) {
      n = 0;
      break;
    }
    if (errno == EAGAIN && wait == Wait::yes && may_wait_on(socket)) {
      pollfd ready{socket, POLLIN, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    return fail(Error(Code::unavailable, "no message").with_detail(std::strerror(errno)));
  }
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      message.fds.emplace_back(fd);
    }
  }
  if ((header.msg_flags & MSG_TRUNC) != 0) return fail(Code::internal, "a message was cut short");
  if ((header.msg_flags & MSG_CTRUNC) != 0) message.fds_lost = true, message.fds.clear();
  message.bytes.assign(room.get(), static_cast<std::size_t>(n));
  return message;
}

}  // namespace atl::os
