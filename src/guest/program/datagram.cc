// Datagrams that programs inside send to a port of their loopback (questions to a resolver, for instance),
// handed to the host, and its answers.
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/program/guest.h"

namespace atl::guest {
namespace {

// Senders that wait for an answer. The newest takes the place of the oldest: a datagram may get lost.
struct Sender {
  uint32_t serial = 0;
  sockaddr_in address{};
};

struct Port : Channel {
  Source socket;
  uint32_t serial = 0;
  Sender senders[kDatagramsMax];
};

void ready(Source* source, uint32_t) {
  auto* const port = static_cast<Port*>(source->owner);
  char frame[sizeof(uint32_t) + kDatagramBytesMax];
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const ssize_t got = recvfrom(source->fd, frame + sizeof(uint32_t), kDatagramBytesMax, MSG_DONTWAIT,
                               reinterpret_cast<sockaddr*>(&from), &size);
  if (got <= 0) return;
  const uint32_t serial = ++port->serial;
  Sender& sender = port->senders[serial % kDatagramsMax];
  sender.serial = serial, sender.address = from;
  memcpy(frame, &serial, sizeof serial);
  send_frame(port->id, Type::datagram, 0, frame, sizeof serial + static_cast<size_t>(got));
}

void message(Channel* channel, Type type, uint16_t, Reader in) {
  auto* const port = static_cast<Port*>(channel);
  if (type == Type::close) return end_channel(channel);
  if (type != Type::datagram) return;
  const uint32_t serial = in.u32();
  const Text bytes = in.rest();
  Sender& sender = port->senders[serial % kDatagramsMax];
  if (serial == 0 || sender.serial != serial) return;
  sender.serial = 0;
  sendto(port->socket.fd, bytes.data, bytes.size, MSG_DONTWAIT | MSG_NOSIGNAL,
         reinterpret_cast<const sockaddr*>(&sender.address), sizeof sender.address);
}

void destroy(Channel* channel) {
  auto* const port = static_cast<Port*>(channel);
  close_source(&port->socket);
  port->~Port();
  free(port);
}

}  // namespace

void request_datagrams(uint32_t channel, Reader in) {
  const uint16_t number = in.u16();
  if (!in.done() || number == 0) return send_failed(channel, EINVAL, "malformed request");
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_port = htons(number),
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return send_failed(channel, error, strerror(error));
  }
  auto* const port = new (malloc(sizeof(Port))) Port;
  port->message = message, port->destroy = destroy;
  port->socket.fd = fd, port->socket.ready = ready, port->socket.owner = port;
  add_channel(port, channel);
  watch_source(&port->socket, EPOLLIN);
  send_empty(channel, Type::reply);
}

}  // namespace atl::guest
