#include "sandbox/docker/seccomp_profile.h"

#include <errno.h>
#include <linux/memfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>
#include <string_view>
#include <vector>

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;

// Allowed if the argument compares so.
struct Condition {
  const char* call;
  unsigned argument;
  const char* comparison;
  std::uint64_t value, second;
};

constexpr std::uint64_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

// Namespaces, raw and exotic sockets, typing into terminals, huge pages of the machine's one reserve.
constexpr Condition kConditions[] = {
    {"clone", 0, "SCMP_CMP_MASKED_EQ", kNamespaces, 0},
    {"socket", 0, "SCMP_CMP_EQ", AF_UNIX, 0},
    {"socket", 0, "SCMP_CMP_EQ", AF_INET, 0},
    {"socket", 0, "SCMP_CMP_EQ", AF_INET6, 0},
    {"socket", 0, "SCMP_CMP_EQ", AF_NETLINK, 0},
    {"socketpair", 0, "SCMP_CMP_EQ", AF_UNIX, 0},
    {"ioctl", 1, "SCMP_CMP_NE", TIOCSTI, 0},
    {"prctl", 0, "SCMP_CMP_NE", PR_SET_MM, 0},
    {"mmap", 3, "SCMP_CMP_MASKED_EQ", MAP_HUGETLB, 0},
    {"memfd_create", 1, "SCMP_CMP_MASKED_EQ", MFD_HUGETLB, 0},
};

// Allowed here whatever their arguments: what could be done with them needs capabilities that nobody inside
// has.
constexpr const char* kPlain[] = {"setsockopt", "shmget", "setrlimit", "prlimit64", "sched_setscheduler"};

bool is_conditional(std::string_view name) {
  return std::ranges::any_of(kConditions, [&](const Condition& one) { return one.call == name; });
}

}  // namespace

std::string seccomp_profile(std::span<const char* const> allowed, std::span<const char* const> refused) {
  bj::array plain, denied, rules;
  for (const char* name : allowed)
    if (!is_conditional(name)) plain.emplace_back(name);
  for (const char* name : kPlain) plain.emplace_back(name);
  for (const char* name : refused) denied.emplace_back(name);
  rules.push_back(bj::object{{"names", std::move(plain)}, {"action", "SCMP_ACT_ALLOW"}});
  for (const Condition& one : kConditions)
    rules.push_back(bj::object{{"names", bj::array{one.call}},
                               {"action", "SCMP_ACT_ALLOW"},
                               {"args", bj::array{bj::object{{"index", one.argument},
                                                             {"value", one.value},
                                                             {"valueTwo", one.second},
                                                             {"op", one.comparison}}}}});
  rules.push_back(
      bj::object{{"names", std::move(denied)}, {"action", "SCMP_ACT_ERRNO"}, {"errnoRet", EPERM}});
  // Its arguments cannot be looked at. Engines that ignore the default's number must say that it does not
  // exist, because C libraries then take clone().
  rules.push_back(
      bj::object{{"names", bj::array{"clone3"}}, {"action", "SCMP_ACT_ERRNO"}, {"errnoRet", ENOSYS}});
  const bj::object profile{{"defaultAction", "SCMP_ACT_ERRNO"},
                           {"defaultErrnoRet", ENOSYS},
                           {"architectures", bj::array{"SCMP_ARCH_X86_64"}},
                           {"syscalls", std::move(rules)}};
  return bj::serialize(profile);
}

}  // namespace atl::sandbox::docker
