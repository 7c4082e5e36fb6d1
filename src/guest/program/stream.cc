#include "guest/program/stream.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/program/guest.h"

namespace atl::guest {
namespace {

constexpr size_t kQueueHigh = 192U << 10;

int fd = -1;
// Where output goes: the same descriptor, or another where the stream is a pair of pipes.
int out_fd = -1;
bool lost = false;
bool is_socket = false;
// The host asked to begin anew on the same stream.
bool again = false;
bool held = false;          // hears `release` and `again` only
bool expects_host = false;  // hears kAgainBytes only
Bytes input(256U << 10), output(256U << 10);
// A request that came in several frames.
Bytes partial;
Header partial_header{};

void handle_request(Header header, const char* data, size_t size) {
  const Reader in(data, size);
  if (!channel_room()) return send_failed(header.channel, EMFILE, "too many open channels");
  switch (static_cast<Type>(header.type)) {
    case Type::start: return request_start(header.channel, data, size);
    case Type::adopt: return request_adopt(header.channel, data, size);
    case Type::stat:
    case Type::make_directory:
    case Type::chmod:
    case Type::read:
    case Type::write: return request_file(header.channel, static_cast<Type>(header.type), in);
    case Type::list:
    case Type::move:
    case Type::copy:
    case Type::remove: return request_tree(header.channel, static_cast<Type>(header.type), in);
    case Type::watch: return request_watch(header.channel, in);
    case Type::connect: return request_connect(header.channel, in);
    case Type::listen: return request_listen(header.channel, in);
    case Type::ports: return request_ports(header.channel);
    case Type::datagrams: return request_datagrams(header.channel, in);
    case Type::sweep: return request_sweep(header.channel, in);
    case Type::ping: tell_watches(); return send_empty(header.channel, Type::reply);
    case Type::hold: sync(), held = true; return send_empty(header.channel, Type::reply);
    default: return send_failed(header.channel, ENOSYS, "unknown request");
  }
}

void handle(Header header, const char* data, size_t size) {
  const bool request =
      header.type >= static_cast<uint16_t>(Type::start) && header.type < static_cast<uint16_t>(Type::signal);
  if (header.channel == 0 && header.type == static_cast<uint16_t>(Type::again)) {
    again = true;
    return;
  }
  Channel* const channel = find_channel(header.channel);
  if (channel != nullptr && !request) {
    channel->message(channel, static_cast<Type>(header.type), header.flags, Reader(data, size));
  } else if (channel == nullptr && request && header.channel != 0 && (header.channel & kGuestChannel) == 0) {
    handle_request(header, data, size);
  }
}

void handle_frame(Header header, const char* data) {
  // Whoever began a request in several frames is not there any more to end it.
  if (header.channel == 0 && header.type == static_cast<uint16_t>(Type::again)) partial.clear();
  if (partial.empty() && (header.flags & kMore) == 0) return handle(header, data, header.size);
  if (!partial.empty() && (header.channel != partial_header.channel || header.type != partial_header.type))
    lost = true;
  if (partial.size() + header.size > kRequestMax) lost = true;
  if (lost) return;
  partial.append(data, header.size);
  partial_header = header;
  if ((header.flags & kMore) != 0) return;
  Bytes whole;
  whole.swap(partial);
  handle(header, whole.data(), whole.size());
}

// Until the host lets it go on: nothing but its two words is heard.
void handle_held(Header header) {
  const auto type = static_cast<Type>(header.type);
  if (header.channel != 0 || (type != Type::release && type != Type::again))
    lost = true;
  else
    held = false, again = type == Type::again;
}

// Drops what a host before has left, up to and with the new one's first words.
bool find_host() {
  for (size_t at = 0; at + kAgainSize <= input.size(); ++at)
    if (memcmp(input.data() + at, kAgainBytes, kAgainSize) == 0) {
      input.consume(at + kAgainSize);
      return true;
    }
  if (input.size() >= kAgainSize) input.consume(input.size() - (kAgainSize - 1));
  return false;
}

void parse() {
  if (expects_host) {
    if (!find_host()) return;
    expects_host = held = false, again = true;
  }
  while (!lost && !again && input.size() >= sizeof(Header) && !stream_is_full()) {
    Header header;
    memcpy(&header, input.data(), sizeof header);
    if (header.size > kFrameMax) {
      lost = true;
      return;
    }
    if (input.size() < sizeof header + header.size) return;
    if (held)
      handle_held(header);
    else
      handle_frame(header, input.data() + sizeof header);
    input.consume(sizeof header + header.size);
  }
}

}  // namespace

void stream_replace(int new_fd, int new_out_fd) {
  if (out_fd >= 0 && out_fd != fd) close(out_fd);
  if (fd >= 0) close(fd);
  fd = new_fd, out_fd = new_out_fd >= 0 ? new_out_fd : new_fd, lost = false, again = false;
  held = expects_host = false;
  input.clear(), output.clear(), partial.clear();
  int kind = 0;
  socklen_t size = sizeof kind;
  is_socket = fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) == 0;
}

int stream_fd() {
  return fd;
}
int stream_out_fd() {
  return out_fd;
}
void stream_expect_host() {
  if (fd < 0) return;
  input.clear(), output.clear(), partial.clear();
  again = held = false, expects_host = true;
  output.append(kAgainBytes, kAgainSize);
}

bool stream_is_quiet() {
  return held || expects_host;
}

bool stream_begins_again() {
  const bool asked = again;
  again = false;
  return asked;
}
bool stream_lost() {
  return lost && fd >= 0;
}

void stream_hello(uint32_t live_channels) {
  Bytes body;
  Writer<Bytes> out(body);
  out.u32(kMagic), out.u32(kVersion), out.u32(live_channels);
  send_frame(0, Type::hello, 0, body.data(), body.size());
}

void stream_receive() {
  char* const room = input.reserve(kFrameMax);
  const ssize_t got = is_socket ? recv(fd, room, kFrameMax, MSG_DONTWAIT) : read(fd, room, kFrameMax);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    lost = true;
    return;
  }
  input.commit(static_cast<size_t>(got));
  parse();
}

void stream_flush() {
  // Requests that waited while the queue was long.
  if (!stream_is_full()) parse();
  while (!lost && fd >= 0 && !output.empty()) {
    const ssize_t sent = is_socket ? send(out_fd, output.data(), output.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                   : write(out_fd, output.data(), output.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent <= 0) {
      lost = true;
      return;
    }
    output.consume(static_cast<size_t>(sent));
  }
}

bool stream_has_output() {
  return !output.empty();
}
bool stream_is_full() {
  return output.size() > kQueueHigh;
}

void send_frame(uint32_t channel, Type type, uint16_t flags, const void* data, size_t size) {
  if (fd < 0) return;
  const Header header{static_cast<uint32_t>(size), channel, static_cast<uint16_t>(type), flags};
  output.append(reinterpret_cast<const char*>(&header), sizeof header);
  output.append(static_cast<const char*>(data), size);
}

void send_credit(uint32_t channel, uint32_t bytes) {
  send_frame(channel, Type::credit, 0, &bytes, sizeof bytes);
}

void send_failed(uint32_t channel, int error_number, const char* message, const char* subject) {
  Bytes text, body;
  text.append(message);
  if (subject != nullptr) text.append(" '"), text.append(subject), text.append("'");
  Writer<Bytes> out(body);
  out.u32(static_cast<uint32_t>(error_number));
  out.text(text.data(), text.size() > 8192 ? 8192 : text.size());
  send_frame(channel, Type::failed, 0, body.data(), body.size());
}

void send_errno(uint32_t channel, int error_number, const char* path) {
  Bytes text;
  text.append(path), text.append(": "), text.append(strerror(error_number));
  send_failed(channel, error_number, text.c_str());
}

ssize_t send_from(uint32_t channel, uint16_t flags, int from, size_t size_max) {
  char* const room = output.reserve(sizeof(Header) + size_max);
  const ssize_t got = read(from, room + sizeof(Header), size_max);
  if (got <= 0) return got;
  const Header header{static_cast<uint32_t>(got), channel, static_cast<uint16_t>(Type::data), flags};
  memcpy(room, &header, sizeof header);
  output.commit(sizeof header + static_cast<size_t>(got));
  return got;
}

}  // namespace atl::guest
