#include "sandbox/docker/seccomp_profile.h"

#include <errno.h>
#include <linux/memfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;

struct Comparison {
  unsigned argument;
  const char* how;
  std::uint64_t value, second = 0;
};

// What is done with a call if all of these hold. An argument may be looked at once only: engines take two
// looks at the same one for a choice.
struct Rule {
  const char* call;
  std::vector<Comparison> when;
  int error = 0;  // 0: it is allowed
};

constexpr std::uint64_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr std::uint64_t kSocketType = 0xF;
// The bit that is left out says that children do not inherit the policy.
constexpr std::uint64_t kPolicy = 0xBFFF'FFFF;

Comparison equal(unsigned argument, std::uint64_t value) {
  return {argument, "SCMP_CMP_EQ", value};
}
Comparison masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, "SCMP_CMP_MASKED_EQ", mask, value};
}

// TCP and UDP over both internet protocols: for a protocol that it does not have the kernel loads a module,
// whoever asks. Netlink for reading one's own interfaces and addresses.
void add_sockets(std::vector<Rule>& rules) {
  rules.push_back({"socket", {equal(0, AF_UNIX)}});
  rules.push_back({"socket", {equal(0, AF_NETLINK), equal(2, 0)}});
  rules.push_back({"socket", {equal(0, AF_NETLINK), {2, "SCMP_CMP_GT", 0}}, EPROTONOSUPPORT});
  rules.push_back({"socket", {{0, "SCMP_CMP_GT", AF_NETLINK}}, EAFNOSUPPORT});
  for (const std::uint64_t family : {AF_INET, AF_INET6}) {
    const auto kind = [&](std::uint64_t type, std::uint64_t protocol) {
      const Comparison of_family = equal(0, family), of_type = masked(1, kSocketType, type);
      rules.push_back({"socket", {of_family, of_type, equal(2, 0)}});
      rules.push_back({"socket", {of_family, of_type, equal(2, protocol)}});
      // Multipath TCP among them: servers then use TCP.
      rules.push_back({"socket", {of_family, of_type, {2, "SCMP_CMP_GT", protocol}}, EPROTONOSUPPORT});
    };
    kind(SOCK_STREAM, IPPROTO_TCP);
    kind(SOCK_DGRAM, IPPROTO_UDP);
  }
  rules.push_back({"socketpair", {equal(0, AF_UNIX)}});
}

// Of a level, all options but these, which must be in order.
void add_options(std::vector<Rule>& rules, std::uint64_t level,
                 std::initializer_list<std::uint64_t> refused) {
  rules.push_back({"setsockopt", {equal(1, level), {2, "SCMP_CMP_LT", *refused.begin()}}});
  rules.push_back({"setsockopt", {equal(1, level), {2, "SCMP_CMP_GT", *(refused.end() - 1)}}});
  for (std::uint64_t option = *refused.begin(); option < *(refused.end() - 1); ++option)
    if (std::ranges::find(refused, option) == refused.end())
      rules.push_back({"setsockopt", {equal(1, level), equal(2, option)}});
  for (const std::uint64_t option : refused)
    rules.push_back({"setsockopt", {equal(1, level), equal(2, option)}, ENOPROTOOPT});
}

// Packet filters take memory of which the machine has one small allowance; TLS inside the kernel and signed
// TCP load modules.
void add_socket_options(std::vector<Rule>& rules) {
  constexpr std::uint64_t kSignedTcp = 38;  // TCP_AO_ADD_KEY
  add_options(rules, SOL_SOCKET,
              {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF});
  add_options(rules, IPPROTO_TCP, {TCP_MD5SIG, TCP_ULP, TCP_MD5SIG_EXT, kSignedTcp});
  for (std::uint64_t level = 0; level < IPPROTO_TCP; ++level)
    if (level != SOL_SOCKET) rules.push_back({"setsockopt", {equal(1, level)}});
  rules.push_back({"setsockopt", {{1, "SCMP_CMP_GT", IPPROTO_TCP}}});
}

// What depends on arguments: namespaces, raw and exotic sockets, typing into terminals, huge pages of the
// machine's one reserve, real-time scheduling.
std::vector<Rule> rules_by_arguments() {
  std::vector<Rule> rules{
      {"clone", {masked(0, kNamespaces, 0)}},        {"ioctl", {{1, "SCMP_CMP_NE", TIOCSTI}}},
      {"prctl", {{0, "SCMP_CMP_NE", PR_SET_MM}}},    {"mmap", {masked(3, MAP_HUGETLB, 0)}},
      {"memfd_create", {masked(1, MFD_HUGETLB, 0)}}, {"shmget", {masked(2, SHM_HUGETLB, 0)}}};
  add_sockets(rules);
  add_socket_options(rules);
  for (const std::uint64_t policy : {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE})
    rules.push_back({"sched_setscheduler", {masked(1, kPolicy, policy)}});
  constexpr int kDeadline = 6;
  for (const int policy : {SCHED_FIFO, SCHED_RR, kDeadline})
    rules.push_back({"sched_setscheduler", {masked(1, kPolicy, static_cast<std::uint64_t>(policy))}, EPERM});
  return rules;
}

// Allowed here whatever their arguments: core dumps are off by a limit that nobody inside can raise.
constexpr const char* kPlain[] = {"setrlimit", "prlimit64"};

bj::object rule_object(const Rule& rule) {
  bj::array comparisons;
  for (const Comparison& one : rule.when)
    comparisons.push_back(
        bj::object{{"index", one.argument}, {"value", one.value}, {"valueTwo", one.second}, {"op", one.how}});
  bj::object object{{"names", bj::array{rule.call}},
                    {"action", rule.error == 0 ? "SCMP_ACT_ALLOW" : "SCMP_ACT_ERRNO"},
                    {"args", std::move(comparisons)}};
  if (rule.error != 0) object["errnoRet"] = rule.error;
  return object;
}

}  // namespace

std::string seccomp_profile(std::span<const char* const> allowed, std::span<const char* const> refused) {
  bj::array plain, denied, rules;
  const std::vector<Rule> conditional = rules_by_arguments();
  const auto is_conditional = [&](std::string_view name) {
    return std::ranges::any_of(conditional, [&](const Rule& one) { return one.call == name; });
  };
  for (const char* name : allowed)
    if (!is_conditional(name)) plain.emplace_back(name);
  for (const char* name : kPlain) plain.emplace_back(name);
  for (const char* name : refused) denied.emplace_back(name);
  rules.push_back(bj::object{{"names", std::move(plain)}, {"action", "SCMP_ACT_ALLOW"}});
  for (const Rule& one : conditional) rules.push_back(rule_object(one));
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
