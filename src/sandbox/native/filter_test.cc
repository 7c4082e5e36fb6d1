#include "sandbox/native/filter.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include "sandbox/native/filter_program.h"

namespace atl::sandbox::native {
namespace {

// A filter as the kernel runs it: the few instructions that ours are made of. Nothing if it runs out of the
// program.
std::optional<std::uint32_t> verdict(const std::vector<sock_filter>& program, const seccomp_data& call) {
  std::uint32_t word = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    const auto jump = [&](bool holds) { at += holds ? step.jt : step.jf; };
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (step.k % 4 != 0 || step.k + 4 > sizeof call) return std::nullopt;
        std::memcpy(&word, reinterpret_cast<const char*>(&call) + step.k, 4);
        break;
      case BPF_ALU | BPF_AND | BPF_K: word &= step.k; break;
      case BPF_JMP | BPF_JA: at += step.k; break;
      case BPF_JMP | BPF_JEQ | BPF_K: jump(word == step.k); break;
      case BPF_JMP | BPF_JGE | BPF_K: jump(word >= step.k); break;
      case BPF_JMP | BPF_JSET | BPF_K: jump((word & step.k) != 0); break;
      case BPF_RET | BPF_K: return step.k;
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

std::uint32_t answer(const std::vector<sock_filter>& program, int number,
                     std::initializer_list<std::uint64_t> arguments = {},
                     std::uint32_t architecture = AUDIT_ARCH_X86_64) {
  seccomp_data call{};
  call.nr = number;
  call.arch = architecture;
  std::ranges::copy(arguments, call.args);
  const auto given = verdict(program, call);
  EXPECT_TRUE(given) << "call " << number << " runs out of the program";
  return given.value_or(SECCOMP_RET_KILL_PROCESS);
}

TEST(FilterTest, EveryNumberGetsItsAnswerAndNoneKills) {
  const auto filter = compile_filter();
  ASSERT_TRUE(filter) << filter.error().message();
  std::uint32_t allowed = 0;
  for (int number = -2; number < 2000; ++number) {
    const std::uint32_t given = answer(filter->program, number);
    EXPECT_TRUE(given == SECCOMP_RET_ALLOW || (given & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
        << number;
    allowed += given == SECCOMP_RET_ALLOW ? 1 : 0;
    EXPECT_EQ(answer(filter->program, number, {}, AUDIT_ARCH_I386), refuse_with(EPERM)) << number;
    EXPECT_EQ(answer(filter->program, number | 0x4000'0000), refuse_with(EPERM)) << number;
  }
  // socket and socketpair of family 0 are refused, the others that look at arguments let zeros pass.
  EXPECT_EQ(allowed, filter->calls_allowed - 2);
  for (const int number :
       {SYS_read, SYS_openat, SYS_execve, SYS_exit_group, SYS_statx, SYS_rseq, SYS_fork, SYS_wait4})
    EXPECT_EQ(answer(filter->program, number), SECCOMP_RET_ALLOW) << number;
  for (const int number :
       {SYS_mount, SYS_ptrace, SYS_bpf, SYS_unshare, SYS_setns, SYS_keyctl, SYS_open_by_handle_at,
        SYS_perf_event_open, SYS_userfaultfd, SYS_kexec_load, SYS_init_module, SYS_pidfd_getfd})
    EXPECT_EQ(answer(filter->program, number), refuse_with(EPERM)) << number;
  for (const int number : {SYS_io_uring_setup, SYS_clone3, SYS_io_setup, SYS_io_submit, 999})
    EXPECT_EQ(answer(filter->program, number), refuse_with(ENOSYS)) << number;
}

TEST(FilterTest, ArgumentsDecideWhereTheNameDoesNot) {
  const auto filter = compile_filter();
  ASSERT_TRUE(filter);
  const auto& program = filter->program;
  const auto allow = SECCOMP_RET_ALLOW;
  EXPECT_EQ(answer(program, SYS_clone, {CLONE_VM | CLONE_THREAD | 17}), allow);
  for (const std::uint64_t flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                                   CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80 /* CLONE_NEWTIME */})
    EXPECT_EQ(answer(program, SYS_clone, {flag | 17}), refuse_with(ENOSYS)) << flag;
  for (const std::uint64_t request :
       {std::uint64_t{TIOCSTI}, std::uint64_t{0x541C}, std::uint64_t{TIOCSETD}}) {
    EXPECT_EQ(answer(program, SYS_ioctl, {0, request}), refuse_with(EPERM));
    // The kernel looks at 32 bits of the request; so does the filter.
    EXPECT_EQ(answer(program, SYS_ioctl, {0, request | (1ULL << 32)}), refuse_with(EPERM));
  }
  EXPECT_EQ(answer(program, SYS_ioctl, {0, TCGETS}), allow);
  for (const std::uint64_t policy : {1, 2, 6}) {
    EXPECT_EQ(answer(program, SYS_sched_setscheduler, {0, policy}), refuse_with(EPERM));
    EXPECT_EQ(answer(program, SYS_sched_setscheduler, {0, policy | 0x4000'0000}), refuse_with(EPERM));
  }
  for (const std::uint64_t policy : {0, 3, 5})
    EXPECT_EQ(answer(program, SYS_sched_setscheduler, {0, policy}), allow);
  EXPECT_EQ(answer(program, SYS_prctl, {PR_SET_MM}), refuse_with(EPERM));
  EXPECT_EQ(answer(program, SYS_prctl, {PR_SET_NAME}), allow);
}

TEST(FilterTest, SocketsAreOfTheFamiliesThatProgramsNeed) {
  const auto filter = compile_filter();
  ASSERT_TRUE(filter);
  const auto socket = [&](std::uint64_t family, std::uint64_t type, std::uint64_t protocol) {
    return answer(filter->program, SYS_socket, {family, type, protocol});
  };
  const auto allow = SECCOMP_RET_ALLOW;
  for (std::uint64_t family = 0; family < 64; ++family) {
    const bool known = family == AF_UNIX || family == AF_INET || family == AF_INET6;
    EXPECT_EQ(socket(family, SOCK_STREAM, 0),
              known || family == AF_NETLINK ? allow : refuse_with(EAFNOSUPPORT))
        << family;
    EXPECT_EQ(answer(filter->program, SYS_socketpair, {family, SOCK_STREAM}),
              known ? allow : refuse_with(EAFNOSUPPORT));
    // The high half of the register is not the kernel's business, and not ours.
    EXPECT_EQ(socket(family | (1ULL << 32), SOCK_STREAM, 0), socket(family, SOCK_STREAM, 0));
  }
  for (const std::uint64_t family : {AF_INET, AF_INET6})
    for (const std::uint64_t flags : {0, int{SOCK_CLOEXEC}, int{SOCK_NONBLOCK}})
      for (const std::uint64_t type : {int{SOCK_RAW}, int{SOCK_PACKET}})
        EXPECT_EQ(socket(family, type | flags, 1), refuse_with(EPERM));
  EXPECT_EQ(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), allow);
  EXPECT_EQ(socket(AF_NETLINK, SOCK_RAW, 0), allow) << "reading one's own interfaces";
  EXPECT_EQ(socket(AF_NETLINK, SOCK_RAW, 12), refuse_with(EPROTONOSUPPORT)) << "netfilter";
}

// For what the kernel does not have it loads a module, whoever asks.
TEST(FilterTest, ProtocolsAreTcpAndUdpAndNothingElse) {
  const auto filter = compile_filter();
  ASSERT_TRUE(filter);
  for (const int call : {SYS_socket, SYS_socketpair})
    for (const std::uint64_t family : {AF_INET, AF_INET6}) {
      const auto socket = [&](std::uint64_t type, std::uint64_t protocol) {
        return answer(filter->program, call, {family, type, protocol});
      };
      for (std::uint64_t protocol = 0; protocol < 300; ++protocol) {
        const auto refused = refuse_with(EPROTONOSUPPORT);
        EXPECT_EQ(socket(SOCK_STREAM | SOCK_CLOEXEC, protocol),
                  protocol == 0 || protocol == IPPROTO_TCP ? SECCOMP_RET_ALLOW : refused)
            << protocol;
        EXPECT_EQ(socket(SOCK_DGRAM, protocol),
                  protocol == 0 || protocol == IPPROTO_UDP ? SECCOMP_RET_ALLOW : refused)
            << protocol;
      }
      EXPECT_EQ(socket(SOCK_SEQPACKET, 132 /* SCTP */), refuse_with(ESOCKTNOSUPPORT));
      EXPECT_EQ(socket(6 /* DCCP */, 33), refuse_with(ESOCKTNOSUPPORT));
      EXPECT_EQ(socket(SOCK_RAW, IPPROTO_ICMP), refuse_with(EPERM));
    }
  const auto option = [&](std::uint64_t level, std::uint64_t name) {
    return answer(filter->program, SYS_setsockopt, {3, level, name});
  };
  for (const int name : {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF})
    EXPECT_EQ(option(SOL_SOCKET, static_cast<std::uint64_t>(name)), refuse_with(ENOPROTOOPT)) << name;
  for (const int name : {14 /* MD5SIG */, 31 /* ULP */, 32 /* MD5SIG_EXT */, 38 /* AO_ADD_KEY */})
    EXPECT_EQ(option(IPPROTO_TCP, static_cast<std::uint64_t>(name)), refuse_with(ENOPROTOOPT)) << name;
  EXPECT_EQ(option(SOL_SOCKET, SO_REUSEADDR), SECCOMP_RET_ALLOW);
  EXPECT_EQ(option(IPPROTO_TCP, 1 /* NODELAY */), SECCOMP_RET_ALLOW);
  EXPECT_EQ(option(IPPROTO_IP, SO_ATTACH_FILTER), SECCOMP_RET_ALLOW) << "another level, another option";
  for (const std::uint64_t request : {0x8940, 0x8941, 0x8982, 0x8983, 0x89a0, 0x89a1})
    EXPECT_EQ(answer(filter->program, SYS_ioctl, {3, request}), refuse_with(ENOPKG)) << request;
}

TEST(FilterTest, TheLimitOfCoreDumpsStays) {
  const auto filter = compile_filter();
  ASSERT_TRUE(filter);
  const auto& program = filter->program;
  constexpr std::uint64_t somewhere = 0x7fff'1234'5678, only_high = 0x7fff'0000'0000;
  const auto done = refuse_with(0);
  EXPECT_EQ(answer(program, SYS_setrlimit, {RLIMIT_CORE, somewhere}), done);
  EXPECT_EQ(answer(program, SYS_setrlimit, {RLIMIT_NOFILE, somewhere}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(program, SYS_prlimit64, {0, RLIMIT_CORE, somewhere, 0}), done);
  EXPECT_EQ(answer(program, SYS_prlimit64, {0, RLIMIT_CORE, only_high, 0}), done);
  EXPECT_EQ(answer(program, SYS_prlimit64, {7, RLIMIT_CORE, somewhere, somewhere}), refuse_with(EPERM));
  EXPECT_EQ(answer(program, SYS_prlimit64, {0, RLIMIT_CORE, 0, somewhere}), SECCOMP_RET_ALLOW)
      << "a question";
  EXPECT_EQ(answer(program, SYS_prlimit64, {0, RLIMIT_NOFILE, somewhere, 0}), SECCOMP_RET_ALLOW);
}

TEST(FilterTest, HugePagesAreTheMachines) {
  const auto filter = compile_filter();
  ASSERT_TRUE(filter);
  const auto& program = filter->program;
  constexpr std::uint64_t anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  EXPECT_EQ(answer(program, SYS_mmap, {0, 4096, 3, anonymous}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(program, SYS_mmap, {0, 4096, 3, anonymous | MAP_HUGETLB}), refuse_with(ENOMEM));
  EXPECT_EQ(answer(program, SYS_memfd_create, {0, MFD_CLOEXEC}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(program, SYS_memfd_create, {0, MFD_HUGETLB}), refuse_with(ENOMEM));
  EXPECT_EQ(answer(program, SYS_shmget, {0, 4096, 01600}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(program, SYS_shmget, {0, 4096, 01600 | SHM_HUGETLB}), refuse_with(EPERM));
}

// Long programs need jumps that reach further than a condition does.
TEST(FilterTest, ASearchFindsEveryNumberHoweverLongTheProgram) {
  std::map<std::uint32_t, Answer> answers;
  for (std::uint32_t number = 1; number < 1500; number += 1 + number % 3)
    answers[number] = {.verdict = refuse_with(static_cast<int>(1 + number % 100))};
  const auto program = assemble(answers, SECCOMP_RET_ALLOW, refuse_with(EPERM));
  ASSERT_GT(program.size(), 512U);
  for (std::uint32_t number = 0; number < 1600; ++number) {
    const auto known = answers.find(number);
    EXPECT_EQ(answer(program, static_cast<int>(number)),
              known == answers.end() ? SECCOMP_RET_ALLOW : known->second.verdict)
        << number;
  }
}

}  // namespace
}  // namespace atl::sandbox::native
