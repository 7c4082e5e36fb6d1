#include "os/local_addresses.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace atl::os {
namespace {

// One datagram of the kernel is at most this long; a dump comes in several.
constexpr std::size_t kDatagramMax = 64 * 1024;

// One question for all entries of a kind, as the kernel reads it.
struct Question {
  nlmsghdr header{};
  // Long enough for every kind; strict checking wants the exact length, which `header` has.
  alignas(8) std::array<char, sizeof(rtmsg)> body{};
};

Question ask_addresses(unsigned char family) {
  Question question;
  ifaddrmsg body{};
  body.ifa_family = family;
  std::memcpy(question.body.data(), &body, sizeof body);
  question.header.nlmsg_len = NLMSG_LENGTH(sizeof body);
  question.header.nlmsg_type = RTM_GETADDR;
  return question;
}

Question ask_routes(unsigned char family, unsigned char type) {
  Question question;
  rtmsg body{};
  body.rtm_family = family;
  body.rtm_type = type;
  std::memcpy(question.body.data(), &body, sizeof body);
  question.header.nlmsg_len = NLMSG_LENGTH(sizeof body);
  question.header.nlmsg_type = RTM_GETROUTE;
  return question;
}

// The range that begins at the address in `attribute`. Unset: it is of neither kind.
std::optional<LocalRange> range_of(unsigned char family, const rtattr& attribute, unsigned bits) {
  const std::size_t wanted = family == AF_INET ? 4 : 16;
  if ((family != AF_INET && family != AF_INET6) || RTA_PAYLOAD(&attribute) != wanted) return std::nullopt;
  LocalRange range;
  range.is_v6 = family == AF_INET6;
  range.bits = bits;
  std::memcpy(range.bytes.data(), RTA_DATA(&attribute), wanted);
  return range;
}

// IFA_LOCAL and IFA_ADDRESS differ on point-to-point links: the second is the other end, and only the first
// is ours. IPv6 without a peer has only the second.
void read_address(const nlmsghdr& message, std::vector<LocalRange>& found) {
  const auto* body = static_cast<const ifaddrmsg*>(NLMSG_DATA(&message));
  const unsigned bits = body->ifa_family == AF_INET ? 32 : 128;
  std::optional<LocalRange> local, other;
  int rest = static_cast<int>(IFA_PAYLOAD(&message));
  for (const rtattr* one = IFA_RTA(body); RTA_OK(one, rest); one = RTA_NEXT(one, rest)) {
    if (one->rta_type == IFA_LOCAL) local = range_of(body->ifa_family, *one, bits);
    if (one->rta_type == IFA_ADDRESS) other = range_of(body->ifa_family, *one, bits);
  }
  const auto& ours = local ? local : other;
  if (ours) found.push_back(*ours);
}

bool is_to_ourselves(const rtmsg& route) {
  return route.rtm_type == RTN_LOCAL || route.rtm_type == RTN_ANYCAST;
}

void read_route(const nlmsghdr& message, std::vector<LocalRange>& found) {
  const auto* body = static_cast<const rtmsg*>(NLMSG_DATA(&message));
  // A kernel without strict checking tells every route.
  if (!is_to_ourselves(*body)) return;
  int rest = static_cast<int>(RTM_PAYLOAD(&message));
  // Without a destination it is a default route to ourselves (a transparent proxy's), which says nothing
  // about whose the addresses are.
  if (body->rtm_dst_len == 0) return;
  for (const rtattr* one = RTM_RTA(body); RTA_OK(one, rest); one = RTA_NEXT(one, rest)) {
    if (one->rta_type != RTA_DST) continue;
    if (const auto to = range_of(body->rtm_family, *one, body->rtm_dst_len)) found.push_back(*to);
  }
}

Error cannot_read(int error_number) {
  return errno_error(error_number, "read the addresses of this machine from the kernel");
}

// A machine without IPv6 has no such tables, and says so in one of these ways.
Error refusal(int error_number) {
  if (error_number != EAFNOSUPPORT && error_number != EOPNOTSUPP) return cannot_read(error_number);
  return Error(Code::unsupported, "the kernel has no such table");
}

// Reads the whole answer to `question`. EINTR of a dump means that the table changed under it; the caller
// tries again.
Result<void> ask(int socket, Question question, std::uint32_t number, std::vector<LocalRange>& found) {
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.header.nlmsg_seq = number;
  if (::send(socket, &question, question.header.nlmsg_len, MSG_NOSIGNAL) < 0) return fail(cannot_read(errno));
  std::vector<char> buffer(kDatagramMax);
  for (;;) {
    const ssize_t size = ::recv(socket, buffer.data(), buffer.size(), MSG_TRUNC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail(cannot_read(errno));
    if (static_cast<std::size_t>(size) > buffer.size()) return fail(cannot_read(EMSGSIZE));
    auto rest = static_cast<unsigned>(size);
    // JUSTIFICATION: netlink messages arrive as bytes; the buffer is aligned for their head.
    for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(message, rest);
         message = NLMSG_NEXT(message, rest)) {
      if (message->nlmsg_seq != number) continue;
      if ((message->nlmsg_flags & NLM_F_DUMP_INTR) != 0) return fail(cannot_read(EINTR));
      if (message->nlmsg_type == NLMSG_DONE) return {};
      if (message->nlmsg_type == NLMSG_ERROR)
        return fail(refusal(-static_cast<const nlmsgerr*>(NLMSG_DATA(message))->error));
      if (message->nlmsg_type == RTM_NEWADDR) read_address(*message, found);
      if (message->nlmsg_type == RTM_NEWROUTE) read_route(*message, found);
    }
  }
}

Result<Fd> open_socket(unsigned groups, int flags) {
  Fd made(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, NETLINK_ROUTE));
  if (made.get() < 0) return fail(cannot_read(errno));
  sockaddr_nl here{};
  here.nl_family = AF_NETLINK;
  here.nl_groups = groups;
  if (::bind(made.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) < 0)
    return fail(cannot_read(errno));
  return made;
}

Result<std::vector<LocalRange>> read_all() {
  const Fd socket = TRY(open_socket(0, 0));
  // The kernel answers at once. Should it not, whoever asks must not wait for ever.
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  // So that it filters by type: a router has a million other routes. Older kernels (before 4.20) do not know
  // it.
  const int on = 1;
  ::setsockopt(socket.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  const std::array questions = {ask_addresses(AF_INET), ask_addresses(AF_INET6),
                                ask_routes(AF_INET, RTN_LOCAL), ask_routes(AF_INET6, RTN_LOCAL),
                                ask_routes(AF_INET6, RTN_ANYCAST)};
  std::vector<LocalRange> found;
  std::uint32_t number = 0;
  for (const Question& question : questions) {
    auto answered = ask(socket.get(), question, ++number, found);
    if (!answered && number > 1 && answered.error().code() == Code::unsupported) continue;
    TRY(answered);
  }
  return found;
}

bool concerns_us(const nlmsghdr& message) {
  if (message.nlmsg_type == RTM_NEWADDR || message.nlmsg_type == RTM_DELADDR) return true;
  if (message.nlmsg_type != RTM_NEWROUTE && message.nlmsg_type != RTM_DELROUTE) return false;
  return is_to_ourselves(*static_cast<const rtmsg*>(NLMSG_DATA(&message)));
}

}  // namespace

Result<std::unique_ptr<LocalAddresses>> LocalAddresses::open() {
  constexpr unsigned groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  std::unique_ptr<LocalAddresses> made(new LocalAddresses(TRY(open_socket(groups, SOCK_NONBLOCK))));
  TRY(made->now());
  return made;
}

bool LocalAddresses::has_changed() const {
  bool changed = false;
  std::array<char, 16 * 1024> buffer{};
  for (;;) {
    const ssize_t size = ::recv(events_.get(), buffer.data(), buffer.size(), MSG_TRUNC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return changed;
    // ENOBUFS: more happened than fits, and nobody knows what. Any other failure says as little.
    if (size < 0) {
      if (errno != ENOBUFS) return true;
      changed = true;
      continue;
    }
    if (static_cast<std::size_t>(size) > buffer.size()) changed = true;
    auto rest = static_cast<unsigned>(std::min<std::size_t>(static_cast<std::size_t>(size), buffer.size()));
    // JUSTIFICATION: netlink messages arrive as bytes; the buffer is aligned for their head.
    for (const auto* message = reinterpret_cast<const nlmsghdr*>(buffer.data()); NLMSG_OK(message, rest);
         message = NLMSG_NEXT(message, rest))
      changed = changed || concerns_us(*message);
  }
}

Result<std::vector<LocalRange>> LocalAddresses::now() const {
  const std::lock_guard lock(mutex_);
  if (has_changed()) is_stale_ = true;
  constexpr int attempts = 5;
  for (int i = 0; is_stale_; ++i) {
    auto read = read_all();
    if (read) {
      known_ = std::move(*read);
      is_stale_ = false;
    } else if (i + 1 == attempts) {
      return fail(std::move(read).error());
    }
  }
  return known_;
}

}  // namespace atl::os
