#include "sandbox/native/filter.h"

#include <fmt/format.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <map>

#include "guest/zygote/drop.h"
#include "sandbox/native/filter_program.h"

namespace atl::sandbox::native {
namespace {

// Ordinary work of programs: files, memory, processes, signals, time, sockets, System V IPC (in its own
// namespace). The old asynchronous I/O (io_setup) is not among it: its contexts are counted for the whole
// machine, so that one sandbox could take them all. Programs take its absence for a kernel built without it.
constexpr const char* kAllowed[] = {
    // files
    "access", "chdir", "chmod", "chown", "close", "close_range", "copy_file_range", "creat", "dup", "dup2",
    "dup3", "faccessat", "faccessat2", "fadvise64", "fallocate", "fchdir", "fchmod", "fchmodat", "fchmodat2",
    "fchown", "fchownat", "fcntl", "fdatasync", "fgetxattr", "flistxattr", "flock", "fremovexattr",
    "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futimesat", "getcwd", "getdents", "getdents64",
    "getxattr", "getxattrat", "lchown", "lgetxattr", "link", "linkat", "listxattr", "listxattrat",
    "llistxattr", "lremovexattr", "lseek", "lsetxattr", "lstat", "mkdir", "mkdirat", "mknod", "mknodat",
    "newfstatat", "open", "openat", "openat2", "pipe", "pipe2", "pread64", "preadv", "preadv2", "pwrite64",
    "pwritev", "pwritev2", "read", "readahead", "readlink", "readlinkat", "readv", "removexattr",
    "removexattrat", "rename", "renameat", "renameat2", "rmdir", "sendfile", "setxattr", "setxattrat",
    "splice", "stat", "statfs", "statx", "symlink", "symlinkat", "sync", "sync_file_range", "syncfs", "tee",
    "truncate", "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes", "vmsplice", "write", "writev",
    "ioctl", "cachestat",
    // waiting
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd",
    "eventfd2", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch", "poll", "ppoll",
    "pselect6", "select", "signalfd", "signalfd4", "timerfd_create", "timerfd_gettime", "timerfd_settime",
    // memory
    "brk", "madvise", "membarrier", "memfd_create", "mincore", "mlock", "mlock2", "mlockall", "mmap",
    "mprotect", "mremap", "mseal", "msync", "munlock", "munlockall", "munmap", "pkey_alloc", "pkey_free",
    "pkey_mprotect", "remap_file_pages", "map_shadow_stack",
    // processes and threads; clone is filtered by its flags
    "alarm", "arch_prctl", "capget", "capset", "execve", "execveat", "exit", "exit_group", "fork", "vfork",
    "futex", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", "get_robust_list", "get_thread_area",
    "getegid", "geteuid", "getgid", "getgroups", "getpgid", "getpgrp", "getpid", "getppid", "getpriority",
    "getrandom", "getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "gettid", "getuid", "kill",
    "pause", "pidfd_open", "pidfd_send_signal", "prctl", "prlimit64", "restart_syscall", "rseq",
    "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend",
    "rt_sigtimedwait", "rt_tgsigqueueinfo", "sched_get_priority_max", "sched_get_priority_min",
    "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler", "sched_rr_get_interval",
    "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler", "sched_yield",
    "set_robust_list", "set_thread_area", "set_tid_address", "setfsgid", "setfsuid", "setgid", "setgroups",
    "setpgid", "setpriority", "setregid", "setresgid", "setresuid", "setreuid", "setrlimit", "setsid",
    "setuid", "sigaltstack", "tgkill", "tkill", "wait4", "waitid", "ioprio_get", "ioprio_set", "getcpu",
    "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp", "chroot",
    // time
    "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "gettimeofday", "nanosleep", "setitimer",
    "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "times",
    // sockets; socket and socketpair are filtered by their family
    "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen", "recvfrom",
    "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
    // System V and POSIX IPC
    "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl",
    "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl", "shmdt",
    "shmget",
    // questions about the system
    "sysinfo", "uname", "get_mempolicy", "getrandom"};

// Known, and refused: the answer is EPERM, as from a kernel that forbids it. What stands in neither list is
// ENOSYS.
constexpr const char* kRefused[] = {"acct",
                                    "add_key",
                                    "adjtimex",
                                    "bpf",
                                    "clock_adjtime",
                                    "clock_settime",
                                    "delete_module",
                                    "fanotify_init",
                                    "fanotify_mark",
                                    "finit_module",
                                    "fsconfig",
                                    "fsmount",
                                    "fsopen",
                                    "fspick",
                                    "init_module",
                                    "ioperm",
                                    "iopl",
                                    "kcmp",
                                    "kexec_file_load",
                                    "kexec_load",
                                    "keyctl",
                                    "lookup_dcookie",
                                    "mbind",
                                    "migrate_pages",
                                    "mount",
                                    "mount_setattr",
                                    "move_mount",
                                    "move_pages",
                                    "name_to_handle_at",
                                    "nfsservctl",
                                    "open_by_handle_at",
                                    "open_tree",
                                    "perf_event_open",
                                    "personality",
                                    "pidfd_getfd",
                                    "pivot_root",
                                    "process_madvise",
                                    "process_vm_readv",
                                    "process_vm_writev",
                                    "ptrace",
                                    "quotactl",
                                    "quotactl_fd",
                                    "reboot",
                                    "request_key",
                                    "set_mempolicy",
                                    "setdomainname",
                                    "sethostname",
                                    "setns",
                                    "settimeofday",
                                    "swapoff",
                                    "swapon",
                                    "syslog",
                                    "umount2",
                                    "unshare",
                                    "uselib",
                                    "userfaultfd",
                                    "ustat",
                                    "vhangup",
                                    "memfd_secret",
                                    "modify_ldt",
                                    "sysfs",
                                    "_sysctl",
                                    "listmount",
                                    "statmount",
                                    "process_mrelease"};

constexpr std::uint32_t kNamespaceFlags = 0x7E02'0080;  // CLONE_NEW*, NEWTIME included

// Unknown names are calls that this libseccomp does not know; they stay ENOSYS.
int number_of(const char* name) {
  // libseccomp is used for its table of names only; the program is assembled in filter_program.cc.
  return seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name);
}

// TCP and UDP over both internet protocols, and nothing else: for a protocol that it does not have, the
// kernel loads a module, whoever asks. Multipath TCP answers as from a kernel without it, and Go's servers
// then use TCP.
std::vector<sock_filter> internet_sockets() {
  const auto only = [](std::uint32_t protocol) {
    return ArgumentBlock()
        .look_at(2)
        .when(0, SECCOMP_RET_ALLOW)
        .when(protocol, SECCOMP_RET_ALLOW)
        .otherwise(refuse_with(EPROTONOSUPPORT));
  };
  return ArgumentBlock()
      // The type carries SOCK_CLOEXEC and SOCK_NONBLOCK above these bits.
      .look_at(1, 0xF)
      .when(SOCK_STREAM, only(IPPROTO_TCP))
      .when(SOCK_DGRAM, only(IPPROTO_UDP))
      .when(SOCK_RAW, refuse_with(EPERM))
      .when(SOCK_PACKET, refuse_with(EPERM))
      .otherwise(refuse_with(ESOCKTNOSUPPORT));
}

// Unix and internet families; netlink for reading one's own interfaces and addresses (getaddrinfo and many
// runtimes do). Families that are not there answer as from a kernel built without them: programs that ask for
// audit or Bluetooth then go on, and take ENOSYS for a broken system.
std::vector<sock_filter> sockets() {
  const std::vector<sock_filter> netlink =
      ArgumentBlock().look_at(2).when(0, SECCOMP_RET_ALLOW).otherwise(refuse_with(EPROTONOSUPPORT));
  return ArgumentBlock()
      .look_at(0)
      .when(AF_UNIX, SECCOMP_RET_ALLOW)
      .when(AF_INET, internet_sockets())
      .when(AF_INET6, internet_sockets())
      .when(AF_NETLINK, netlink)
      .otherwise(refuse_with(EAFNOSUPPORT));
}

// The kernel makes both sockets before it finds that internet families have no pairs.
std::vector<sock_filter> socket_pairs() {
  return ArgumentBlock()
      .look_at(0)
      .when(AF_UNIX, SECCOMP_RET_ALLOW)
      .when(AF_INET, internet_sockets())
      .when(AF_INET6, internet_sockets())
      .otherwise(refuse_with(EAFNOSUPPORT));
}

// Packet filters are translated into memory of which the whole machine has one small allowance
// (bpf_jit_limit): when it is used up, no sandbox can be started any more. TLS inside the kernel, signed TCP
// and its successor load modules of cryptography.
std::vector<sock_filter> socket_options() {
  const auto no_option = refuse_with(ENOPROTOOPT);
  const std::vector<sock_filter> general = ArgumentBlock()
                                               .look_at(2)
                                               .when(SO_ATTACH_FILTER, no_option)
                                               .when(SO_ATTACH_BPF, no_option)
                                               .when(SO_ATTACH_REUSEPORT_CBPF, no_option)
                                               .when(SO_ATTACH_REUSEPORT_EBPF, no_option)
                                               .otherwise(SECCOMP_RET_ALLOW);
  const std::vector<sock_filter> tcp = ArgumentBlock()
                                           .look_at(2)
                                           .when(TCP_MD5SIG, no_option)
                                           .when(TCP_MD5SIG_EXT, no_option)
                                           .when(TCP_ULP, no_option)
                                           .when(38 /* TCP_AO_ADD_KEY */, no_option)
                                           .otherwise(SECCOMP_RET_ALLOW);
  return ArgumentBlock()
      .look_at(1)
      .when(SOL_SOCKET, general)
      .when(IPPROTO_TCP, tcp)
      .otherwise(SECCOMP_RET_ALLOW);
}

// The limit on core dumps stays as it was set (guest/zygote/drop.h): with another one, 0 among them, a crash
// may run a program of the host. A call that only switches core dumps off succeeds without effect. A call
// that also asks for the old limit is refused, because a filter cannot fill in an answer.
std::vector<sock_filter> core_limit_by_prlimit() {
  constexpr std::uint32_t done = refuse_with(0);
  const std::vector<sock_filter> setting =
      ArgumentBlock().look_at(3).when(0, done).otherwise(refuse_with(EPERM));
  // Only a question has neither half of the address of a new limit.
  const std::vector<sock_filter> low_is_zero =
      ArgumentBlock().look_at_high(2).when(0, SECCOMP_RET_ALLOW).otherwise(done);
  std::vector<sock_filter> core = ArgumentBlock().look_at(2).when(0, low_is_zero).otherwise_block(setting);
  return ArgumentBlock().look_at(1).when(RLIMIT_CORE, core).otherwise(SECCOMP_RET_ALLOW);
}

// What is allowed by name and refused by argument.
std::map<std::uint32_t, Answer> by_arguments() {
  // Typing into a terminal that is somebody else's, console fonts and keymaps, line disciplines. Then bridges
  // and virtual networks, for which the kernel loads a module before it looks who asks.
  const auto requests = ArgumentBlock()
                            .look_at(1)
                            .when(TIOCSTI, refuse_with(EPERM))
                            .when(0x541C /* TIOCLINUX */, refuse_with(EPERM))
                            .when(TIOCSETD, refuse_with(EPERM))
                            .when(SIOCGIFBR, refuse_with(ENOPKG))
                            .when(SIOCSIFBR, refuse_with(ENOPKG))
                            .when(SIOCBRADDBR, refuse_with(ENOPKG))
                            .when(SIOCBRDELBR, refuse_with(ENOPKG))
                            .when(SIOCGIFVLAN, refuse_with(ENOPKG))
                            .when(SIOCSIFVLAN, refuse_with(ENOPKG))
                            .otherwise(SECCOMP_RET_ALLOW);
  // Huge pages come from one reserve of the machine, which no memory limit covers.
  const auto maps =
      ArgumentBlock().look_at(3).when_any_of(MAP_HUGETLB, refuse_with(ENOMEM)).otherwise(SECCOMP_RET_ALLOW);
  const auto memory_files =
      ArgumentBlock().look_at(1).when_any_of(MFD_HUGETLB, refuse_with(ENOMEM)).otherwise(SECCOMP_RET_ALLOW);
  const auto segments =
      ArgumentBlock().look_at(2).when_any_of(SHM_HUGETLB, refuse_with(EPERM)).otherwise(SECCOMP_RET_ALLOW);
  const auto limits =
      ArgumentBlock().look_at(0).when(RLIMIT_CORE, refuse_with(0)).otherwise(SECCOMP_RET_ALLOW);
  // Real-time and deadline scheduling; the bit that is masked away says that children do not inherit it.
  const auto policies = ArgumentBlock()
                            .look_at(1, 0xBFFF'FFFF)
                            .when(1 /* FIFO */, refuse_with(EPERM))
                            .when(2 /* RR */, refuse_with(EPERM))
                            .when(6 /* deadline */, refuse_with(EPERM))
                            .otherwise(SECCOMP_RET_ALLOW);
  // ENOSYS rather than EPERM: the library then tries again without the flags, and clone3, whose flags a
  // filter cannot see, is ENOSYS as a whole for the same reason.
  const auto clones = ArgumentBlock()
                          .look_at(0)
                          .when_any_of(kNamespaceFlags, refuse_with(ENOSYS))
                          .otherwise(SECCOMP_RET_ALLOW);
  const auto settings =
      ArgumentBlock().look_at(0).when(PR_SET_MM, refuse_with(EPERM)).otherwise(SECCOMP_RET_ALLOW);
  return {{SYS_clone, {.by_arguments = clones}},
          {SYS_socket, {.by_arguments = sockets()}},
          {SYS_socketpair, {.by_arguments = socket_pairs()}},
          {SYS_setsockopt, {.by_arguments = socket_options()}},
          {SYS_ioctl, {.by_arguments = requests}},
          {SYS_prctl, {.by_arguments = settings}},
          {SYS_mmap, {.by_arguments = maps}},
          {SYS_memfd_create, {.by_arguments = memory_files}},
          {SYS_shmget, {.by_arguments = segments}},
          {SYS_setrlimit, {.by_arguments = limits}},
          {SYS_prlimit64, {.by_arguments = core_limit_by_prlimit()}},
          {SYS_sched_setscheduler, {.by_arguments = policies}}};
}

}  // namespace

std::span<const char* const> allowed_system_calls() {
  return kAllowed;
}

std::span<const char* const> refused_system_calls() {
  return kRefused;
}

Result<Filter> compile_filter() {
  std::map<std::uint32_t, Answer> answers;
  for (const char* name : kAllowed)
    if (const int number = number_of(name); number >= 0)
      answers[static_cast<std::uint32_t>(number)] = {.verdict = SECCOMP_RET_ALLOW};
  for (auto& [number, answer] : by_arguments()) answers[number] = answer;
  Filter filter;
  filter.calls_allowed = static_cast<std::uint32_t>(answers.size());
  for (const char* name : kRefused)
    if (const int number = number_of(name); number >= 0)
      answers[static_cast<std::uint32_t>(number)] = {.verdict = refuse_with(EPERM)};
  filter.program = assemble(answers, refuse_with(ENOSYS), refuse_with(EPERM));
  if (filter.program.size() > BPF_MAXINSNS) return fail(Code::internal, "the system-call filter is too long");
  return filter;
}

Result<void> install_filter(const Filter& filter) {
  if (guest::install_filter(filter.program.data(), filter.program.size()) < 0)
    return fail(errno_error(errno, "install the system-call filter"));
  return {};
}

int landlock_version() {
  return guest::landlock_version();
}

Result<std::string> enter_landlock() {
  const int version = guest::landlock_version();
  if (version == 0) return fail(Code::unsupported, "this kernel has no Landlock");
  if (guest::enter_landlock(version) < 0) return fail(errno_error(errno, "enter Landlock"));
  return fmt::format(
      "version {}: no device nodes, no mounts; signals and abstract sockets are left to the pid and network "
      "namespaces",
      version);
}

}  // namespace atl::sandbox::native
