#include "egress/host_addresses.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace atl::egress {
namespace {

bool holds(const HostAddresses& host, std::string_view address) {
  const auto now = host.now();
  const auto wanted = Address::parse(address).value();
  return now && std::ranges::any_of(*now, [&](const Cidr& one) { return one.contains(wanted); });
}

// Gives the loopback of this namespace an address, or takes it away with 0.0.0.0.
bool give_loopback(const char* alias, const char* address) {
  const os::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, alias, IFNAMSIZ - 1);
  auto* place = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  place->sin_family = AF_INET;
  ::inet_pton(AF_INET, address, &place->sin_addr);
  return ::ioctl(socket.get(), SIOCSIFADDR, &request) == 0;
}

bool raise_loopback() {
  const os::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

TEST(HostAddresses, KnowsTheLoopbackAndNothingOfOthers) {
  const auto host = HostAddresses::open();
  ASSERT_TRUE(host) << host.error().message();
  EXPECT_TRUE(holds(**host, "127.0.0.1"));
  EXPECT_TRUE(holds(**host, "127.77.0.1"));  // the whole range is routed to the machine itself
  EXPECT_FALSE(holds(**host, "8.8.8.8"));
}

// What a child of its own network saw, as its exit status: 0 is everything as expected, 77 cannot be tried
// here.
int watch_an_address_come_and_go() {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 && ::unshare(CLONE_NEWNET) < 0) return 77;
  const auto host = HostAddresses::open();
  if (!host) return 1;
  if (!raise_loopback()) return 77;
  if (holds(**host, "45.1.2.3")) return 2;
  if (!give_loopback("lo:1", "45.1.2.3")) return 77;
  if (!holds(**host, "45.1.2.3")) return 3;
  // On the loopback the whole network of an address is the machine itself, so each is of another one. More
  // happens than the socket's buffer holds; the last word counts all the same.
  for (int i = 0; i < 5000; ++i)
    if (!give_loopback("lo:1", i % 2 == 0 ? "46.9.9.9" : "47.8.8.8")) return 4;
  if (!holds(**host, "47.8.8.8") || holds(**host, "45.1.2.3") || holds(**host, "46.9.9.9")) return 5;
  if (!give_loopback("lo:1", "0.0.0.0")) return 6;
  return holds(**host, "47.8.8.8") ? 7 : 0;
}

TEST(HostAddresses, AnAddressThatComesOrGoesIsKnownAtOnce) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(watch_an_address_come_and_go());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no network namespace can be made here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace atl::egress
