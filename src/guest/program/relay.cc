// Connections: from the host to servers inside, and from programs inside to the host (a proxy, for instance).
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/program/guest.h"
#include "guest/program/stream.h"

namespace atl::guest {
namespace {

struct Connection : Channel {
  Source socket;
  uint32_t credit = kInputWindow;  // bytes the host still takes
  bool connecting = false;
  bool try_six = false;   // the other loopback is left to try
  int four_error = 0;     // why the first one failed
  bool told_end = false;  // no more from inside
  bool input_ended = false;
  uint16_t port = 0;
  Bytes input;
};

void ready(Source* source, uint32_t events);

void refresh(Connection* connection) {
  uint32_t events = 0;
  if (connection->connecting || !connection->input.empty()) events |= EPOLLOUT;
  if (!connection->connecting && !connection->told_end && connection->credit > 0) events |= EPOLLIN;
  watch_source(&connection->socket, events);
}

void end_if_done(Connection* connection) {
  if (connection->told_end && connection->input_ended && connection->input.empty()) end_channel(connection);
}

void abort_connection(Connection* connection, int error) {
  if (connection->over) return;
  send_failed(connection->id, error, strerror(error));
  end_channel(connection);
}

// Starts to connect to one of the two loopback addresses. 0, EINPROGRESS, or why not.
int dial(Connection* connection, bool six) {
  close_source(&connection->socket);
  const int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connection->socket.fd = fd;
  connection->socket.ready = ready, connection->socket.owner = connection;
  if (six) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6, address.sin6_port = htons(connection->port),
    address.sin6_addr = in6addr_loopback;
    return connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_port = htons(connection->port),
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

void connected(Connection* connection, int error) {
  if (error == EINPROGRESS) {
    connection->connecting = true;
    return refresh(connection);
  }
  if (error != 0 && connection->try_six) {
    connection->try_six = false;
    connection->four_error = error;
    return connected(connection, dial(connection, true));
  }
  connection->connecting = false;
  // A container may have no other loopback: then the first one's answer stands.
  if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == ENETUNREACH)
    return abort_connection(connection, connection->four_error);
  if (error != 0) return abort_connection(connection, error);
  send_empty(connection->id, Type::reply);
  refresh(connection);
}

void flush(Connection* connection) {
  uint32_t written = 0;
  while (!connection->input.empty()) {
    const ssize_t sent =
        send(connection->socket.fd, connection->input.data(), connection->input.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) break;
    if (sent < 0) return abort_connection(connection, errno);
    connection->input.consume(static_cast<size_t>(sent));
    written += static_cast<uint32_t>(sent);
  }
  if (written > 0) send_credit(connection->id, written);
  if (connection->input.empty() && connection->input_ended) shutdown(connection->socket.fd, SHUT_WR);
  end_if_done(connection);
}

void receive(Connection* connection) {
  if (connection->credit == 0 || connection->told_end) return;
  const size_t size = connection->credit < kDataMax ? connection->credit : kDataMax;
  const ssize_t got = send_from(connection->id, 0, connection->socket.fd, size);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return abort_connection(connection, errno);
  connection->credit -= static_cast<uint32_t>(got);
  if (got > 0) return;
  connection->told_end = true;
  send_empty(connection->id, Type::end);
  end_if_done(connection);
}

void ready(Source* source, uint32_t events) {
  auto* const connection = static_cast<Connection*>(source->owner);
  if (connection->connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(source->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return connected(connection, error);
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive(connection);
  if (!connection->over && (events & EPOLLOUT) != 0) flush(connection);
  if (!connection->over) refresh(connection);
}

void message(Channel* channel, Type type, uint16_t, Reader in) {
  auto* const connection = static_cast<Connection*>(channel);
  switch (type) {
    case Type::close: return end_channel(connection);
    case Type::end: connection->input_ended = true; break;
    case Type::credit: {
      const uint32_t bytes = in.u32();
      if (bytes <= kOutputWindow - connection->credit) connection->credit += bytes;
      break;
    }
    case Type::data: {
      const Text bytes = in.rest();
      if (connection->input_ended || connection->input.size() + bytes.size > kInputWindow) return;
      connection->input.append(bytes.data, bytes.size);
      break;
    }
    default: return;
  }
  if (connection->connecting) return;
  if (type != Type::credit) flush(connection);
  if (!connection->over) refresh(connection);
}

void destroy(Channel* channel) {
  auto* const connection = static_cast<Connection*>(channel);
  close_source(&connection->socket);
  connection->~Connection();
  free(connection);
}

Connection* make_connection(uint32_t channel) {
  auto* const connection = new (malloc(sizeof(Connection))) Connection;
  connection->message = message, connection->destroy = destroy;
  add_channel(connection, channel);
  return connection;
}

struct Server : Channel {
  Source socket;
};

void accept_ready(Source* source, uint32_t) {
  auto* const server = static_cast<Server*>(source->owner);
  const int fd = accept4(source->fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  if (!channel_room()) {
    close(fd);
    return;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Connection* const connection = make_connection(next_guest_channel());
  connection->socket.fd = fd, connection->socket.ready = ready, connection->socket.owner = connection;
  send_frame(server->id, Type::accepted, 0, &connection->id, sizeof connection->id);
  refresh(connection);
}

void server_message(Channel* channel, Type type, uint16_t, Reader) {
  if (type == Type::close) end_channel(channel);
}

void server_destroy(Channel* channel) {
  auto* const server = static_cast<Server*>(channel);
  close_source(&server->socket);
  server->~Server();
  free(server);
}

// Ports in state LISTEN (0A) of a table like /proc/net/tcp: "sl local:port remote:port st ...".
void append_ports(Bytes* out, const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  Bytes text(0);
  for (;;) {
    const ssize_t got = read(fd, text.reserve(4096), 4096);
    if (got <= 0 || text.size() > (4U << 20)) break;
    text.commit(static_cast<size_t>(got));
  }
  close(fd);
  text.c_str();
  for (const char* line = strchr(text.empty() ? "" : text.data(), '\n'); line != nullptr && line[1] != 0;
       line = strchr(line + 1, '\n')) {
    const char* const local = strchr(line, ':');
    const char* const port = local == nullptr ? nullptr : strchr(local + 1, ':');
    if (port == nullptr) return;
    char* end = nullptr;
    const auto number = static_cast<uint16_t>(strtoul(port + 1, &end, 16));
    const char* const remote = strchr(end + 1, ' ');
    if (remote == nullptr || strtoul(remote + 1, nullptr, 16) != 0x0a) continue;
    bool known = false;
    for (size_t at = 0; at + 2 <= out->size(); at += 2)
      known = known || memcmp(out->data() + at, &number, 2) == 0;
    if (!known && out->size() < kFrameMax - 2) Writer<Bytes>(*out).u16(number);
  }
}

}  // namespace

void request_connect(uint32_t channel, Reader in) {
  const uint16_t port = in.u16();
  const uint32_t credit = in.u32();
  if (!in.done() || port == 0) return send_failed(channel, EINVAL, "malformed request");
  Connection* const connection = make_connection(channel);
  connection->port = port;
  connection->credit = credit < kOutputWindow ? credit : kOutputWindow;
  connection->try_six = true;
  connected(connection, dial(connection, false));
}

void request_listen(uint32_t channel, Reader in) {
  const uint16_t port = in.u16();
  if (!in.done()) return send_failed(channel, EINVAL, "malformed request");
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_port = htons(port),
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(fd, 128) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return send_failed(channel, error, strerror(error));
  }
  auto* const server = new (malloc(sizeof(Server))) Server;
  server->message = server_message, server->destroy = server_destroy;
  server->socket.fd = fd, server->socket.ready = accept_ready, server->socket.owner = server;
  add_channel(server, channel);
  watch_source(&server->socket, EPOLLIN);
  const uint16_t bound = ntohs(address.sin_port);
  send_frame(channel, Type::reply, 0, &bound, sizeof bound);
}

void request_ports(uint32_t channel) {
  Bytes ports(0);
  append_ports(&ports, "/proc/net/tcp");
  append_ports(&ports, "/proc/net/tcp6");
  send_frame(channel, Type::reply, 0, ports.data(), ports.size());
}

}  // namespace atl::guest
