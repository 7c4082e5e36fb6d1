#include "os/local_addresses.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "os/fd.h"

namespace atl::os {
namespace {

// In a network of its own, which has nothing but a loopback that is down.
int in_own_network(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWNET) == 0 ? body() : 77);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has(const std::vector<LocalRange>& ranges, const char* text, unsigned bits = 32) {
  in_addr wanted{};
  ::inet_pton(AF_INET, text, &wanted);
  return std::ranges::any_of(ranges, [&](const LocalRange& range) {
    return !range.is_v6 && range.bits == bits &&
           std::equal(range.bytes.begin(), range.bytes.begin() + 4,
                      reinterpret_cast<const unsigned char*>(&wanted));
  });
}

bool has_v6(const std::vector<LocalRange>& ranges) {
  return std::ranges::any_of(ranges, [](const LocalRange& range) { return range.is_v6; });
}

// "lo:2" and the like are more addresses of the same interface.
bool give_address(const char* interface, const char* text) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
  auto* address = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  address->sin_family = AF_INET;
  ::inet_pton(AF_INET, text, &address->sin_addr);
  return ::ioctl(socket.get(), SIOCSIFADDR, &request) == 0;
}

bool bring(const char* interface, bool up) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) return false;
  request.ifr_flags = static_cast<short>(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

TEST(LocalAddresses, HasWhatTheKernelHas) {
  const auto addresses = LocalAddresses::open();
  ASSERT_TRUE(addresses) << addresses.error().message();
  const auto now = (*addresses)->now();
  ASSERT_TRUE(now);
  EXPECT_TRUE(has(*now, "127.0.0.1")) << "the address";
  EXPECT_TRUE(has(*now, "127.0.0.0", 8)) << "the route to ourselves";
  EXPECT_FALSE(has(*now, "192.0.2.77"));
}

TEST(LocalAddresses, AnAddressThatComesOrGoesIsNoticedAtTheNextQuestion) {
  const int answer = in_own_network([] {
    auto addresses = LocalAddresses::open();
    if (!addresses) return 1;
    if (auto none = (*addresses)->now(); !none || has(*none, "127.0.0.1")) return 2;
    if (!bring("lo", true)) return 77;
    auto up = (*addresses)->now();
    if (!up || !has(*up, "127.0.0.1")) return 3;
    if (!give_address("lo:2", "203.0.113.9")) return 4;
    auto more = (*addresses)->now();
    if (!more || !has(*more, "203.0.113.9") || !has(*more, "127.0.0.1")) return 5;
    if (!give_address("lo:2", "203.0.113.10")) return 6;
    auto moved = (*addresses)->now();
    if (!moved || has(*moved, "203.0.113.9") || !has(*moved, "203.0.113.10")) return 7;
    // Nothing happened: the answer is the same.
    auto same = (*addresses)->now();
    if (!same || same->size() != moved->size()) return 8;
    if (!bring("lo:2", false) || !bring("lo", false)) return 9;
    auto down = (*addresses)->now();
    return down && !has(*down, "203.0.113.10") && !has_v6(*down) ? 0 : 10;
  });
  if (answer == 77) GTEST_SKIP() << "needs a network of its own";
  EXPECT_EQ(answer, 0);
}

// More happens than the kernel keeps for us: then nobody knows what, and everything is read again.
TEST(LocalAddresses, ALostNoticeIsAChange) {
  const int answer = in_own_network([] {
    if (!bring("lo", true)) return 77;
    auto addresses = LocalAddresses::open();
    if (!addresses) return 1;
    char text[INET_ADDRSTRLEN];
    for (int i = 0; i < 3000; ++i) {
      const in_addr next{htonl(0xCB007100U + static_cast<unsigned>(i % 250))};
      if (!give_address("lo:3", ::inet_ntop(AF_INET, &next, text, sizeof text))) return 2;
    }
    if (!give_address("lo:3", "198.51.100.7")) return 3;
    auto now = (*addresses)->now();
    return now && has(*now, "198.51.100.7") && !has(*now, "203.0.113.1") ? 0 : 4;
  });
  if (answer == 77) GTEST_SKIP() << "needs a network of its own";
  EXPECT_EQ(answer, 0);
}

}  // namespace
}  // namespace atl::os
