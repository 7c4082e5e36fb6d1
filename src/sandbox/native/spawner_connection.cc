#include "sandbox/native/spawner_connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "os/message.h"

namespace atl::sandbox::native {
namespace {

// A daemon that takes nothing for so long has stopped.
constexpr std::size_t kOutboxMessagesMax = 8192;
constexpr std::size_t kOutboxBytesMax = 32 << 20;

}  // namespace

bool has_left(int socket) {
  char byte = 0;
  return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

SpawnerConnection::SpawnerConnection(SpawnerEvents& events, os::Fd daemon, Listener heard)
    : events_(events), heard_(std::move(heard)), daemon_(std::move(daemon)) {}

void SpawnerConnection::listen(os::Fd listener, os::Fd run_directory) {
  listener_ = std::move(listener);
  run_directory_ = std::move(run_directory);
}

void SpawnerConnection::begin() {
  events_.watch(daemon_.get(), Source::daemon);
  if (listener_.is_open()) events_.watch(listener_.get(), Source::listener);
}

std::optional<SpawnerConnection::Incoming> SpawnerConnection::receive() {
  auto message = os::receive_message(daemon_.get(), os::Wait::no);
  // Nothing is there, or it is larger than any request of ours.
  if (!message) return std::nullopt;
  if (message->bytes.empty()) {
    lose_connection();
    return std::nullopt;
  }
  auto request = decode_request(message->bytes);
  if (request && message->fds_lost)
    request = fail(Code::resource_exhausted, "the spawner has too many files open for what came with this");
  if (request)
    return Incoming{std::move(*request), message->fds.empty() ? os::Fd() : std::move(message->fds.front())};
  if (const auto token = token_of(message->bytes))
    answer(Reply{.token = *token, .error = std::move(request).error()});
  return std::nullopt;
}

void SpawnerConnection::watch_daemon(bool for_room) {
  events_.watch_for_room(daemon_.get(), Source::daemon, for_room);
}

SpawnerConnection::Given SpawnerConnection::answer(Reply reply, std::span<const int> fds) {
  if (!daemon_.is_open()) return Given::yes;
  std::string bytes = encode(reply);
  if (bytes.size() > os::kMessageBytesMax)
    return cannot_answer(reply, Error(Code::too_large, "the answer is too long"));
  if (!outbox_.empty()) return keep(reply, std::move(bytes), fds);
  auto sent = os::send_message(daemon_.get(), bytes, fds, os::Wait::no);
  if (sent) return Given::yes;
  if (sent.error().code() == Code::conflict) return keep(reply, std::move(bytes), fds);
  if (sent.error().code() == Code::resource_exhausted && !fds.empty())
    return cannot_answer(reply, sent.error());
  lose_connection();
  return Given::yes;
}

SpawnerConnection::Given SpawnerConnection::keep(const Reply& reply, std::string bytes,
                                                 std::span<const int> fds) {
  Outgoing outgoing{.bytes = std::move(bytes), .fds = {}, .failure = {}};
  outgoing.failure.verb = reply.verb, outgoing.failure.token = reply.token,
  outgoing.failure.name = reply.name;
  for (const int fd : fds) {
    outgoing.fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!outgoing.fds.back().is_open())
      return cannot_answer(reply, Error(Code::resource_exhausted, "the spawner has too many files open"));
  }
  outbox_bytes_ += outgoing.bytes.size();
  outbox_.push_back(std::move(outgoing));
  if (outbox_.size() > kOutboxMessagesMax || outbox_bytes_ > kOutboxBytesMax)
    lose_connection();
  else if (outbox_.size() == 1)
    watch_daemon(true);
  return Given::yes;
}

SpawnerConnection::Given SpawnerConnection::cannot_answer(const Reply& reply, const Error& why) {
  answer(Reply{.verb = reply.verb, .token = reply.token, .error = why, .name = reply.name});
  return Given::lost;
}

void SpawnerConnection::send_kept() {
  while (!outbox_.empty()) {
    Outgoing& next = outbox_.front();
    std::vector<int> fds;
    for (const os::Fd& fd : next.fds) fds.push_back(fd.get());
    auto sent = os::send_message(daemon_.get(), next.bytes, fds, os::Wait::no);
    if (!sent && sent.error().code() == Code::unavailable) return lose_connection();
    if (!sent && sent.error().code() == Code::conflict) return;
    outbox_bytes_ -= next.bytes.size();
    if (sent || next.fds.empty()) {
      outbox_.pop_front();
      continue;
    }
    // The caller gets an error in the place of this answer, and the sandbox that was made for it ends.
    if (next.failure.verb == Verb::create) heard_.undelivered(next.failure.name);
    next.failure.error = std::move(sent).error();
    next.bytes = encode(next.failure), next.fds.clear();
    outbox_bytes_ += next.bytes.size();
  }
  watch_daemon(false);
}

void SpawnerConnection::flush() {
  constexpr int patience_ms = 2000;
  while (daemon_.is_open() && !outbox_.empty()) {
    pollfd room{daemon_.get(), POLLOUT, 0};
    if (::poll(&room, 1, patience_ms) <= 0) return;
    send_kept();
  }
}

void SpawnerConnection::answer_error(const Request& request, Error error) {
  answer(
      Reply{.verb = request.verb(), .token = request.token, .error = std::move(error), .name = request.name});
}

void SpawnerConnection::answer_done(const Request& request) {
  answer(Reply{.verb = request.verb(), .token = request.token, .name = request.name});
}

void SpawnerConnection::add_second(const Request& request) {
  auto pair = os::socket_pair(os::SocketKind::packets);
  if (!pair) return answer_error(request, std::move(pair).error());
  const int theirs = pair->second.get();
  Reply reply{.verb = request.verb(), .token = request.token};
  if (answer(std::move(reply), {&theirs, 1}) == Given::yes) second_ = std::move(pair->first);
}

bool SpawnerConnection::has_daemon() const {
  return daemon_.is_open() && (!has_left(daemon_.get()) || (second_.is_open() && !has_left(second_.get())));
}

// A daemon that lives has the other end of a spare one and will go on there. What was not
// told by the first is not told by the second: the client repeats or fails every call that it has no answer
// to.
void SpawnerConnection::lose_connection() {
  outbox_.clear();
  outbox_bytes_ = 0;
  daemon_ = std::move(second_);
  if (daemon_.is_open() && !has_left(daemon_.get())) return watch_daemon(false);
  lose_daemon();
}

// The next daemon must not get what the last one left unread.
void SpawnerConnection::lose_daemon() {
  outbox_.clear();
  outbox_bytes_ = 0;
  daemon_.reset();
  second_.reset();
  heard_.lost();
}

bool SpawnerConnection::is_findable() const {
  struct stat info {};
  return listener_.is_open() &&
         ::fstatat(run_directory_.get(), "spawner.sock", &info, AT_SYMLINK_NOFOLLOW) == 0;
}

void SpawnerConnection::hide() {
  if (listener_.is_open()) ::unlinkat(run_directory_.get(), "spawner.sock", 0);
  listener_.reset();
}

bool SpawnerConnection::accept() {
  os::Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  // A daemon that was killed may not have been noticed yet.
  if (daemon_.is_open() && !has_daemon()) lose_daemon();
  if (!connection.is_open() || daemon_.is_open() || !listener_.is_open()) return false;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return false;
  if (peer.uid != ::geteuid() && peer.uid != 0) return false;
  daemon_ = std::move(connection);
  watch_daemon(false);
  return true;
}

}  // namespace atl::sandbox::native
