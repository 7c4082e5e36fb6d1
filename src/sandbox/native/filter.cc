#include "sandbox/native/filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "guest/zygote/drop.h"
#include "os/fd.h"

namespace atl::sandbox::native {
namespace {

// Ordinary work of programs: files, memory, processes, signals, time, sockets, System V IPC (in its own
// namespace).
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
    // old asynchronous I/O, which libaio and databases use
    "io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit",
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

constexpr std::uint64_t kNamespaceFlags = 0x7E02'0080ULL;  // CLONE_NEW*, NEWTIME included

using Context = std::unique_ptr<void, decltype(&seccomp_release)>;

Error seccomp_error(int code, std::string_view what) {
  return errno_error(-code, what);
}

Result<std::vector<sock_filter>> compile(scmp_filter_ctx context) {
  const os::Fd memory(::memfd_create("filter", MFD_CLOEXEC));
  if (!memory.is_open()) return fail(errno_error(errno, "memfd_create"));
  if (const int code = seccomp_export_bpf(context, memory.get()); code < 0)
    return fail(seccomp_error(code, "compile the system-call filter"));
  const off_t bytes = ::lseek(memory.get(), 0, SEEK_END);
  std::vector<sock_filter> program(static_cast<std::size_t>(bytes) / sizeof(sock_filter));
  if (::pread(memory.get(), program.data(), static_cast<std::size_t>(bytes), 0) != bytes)
    return fail(Code::internal, "the system-call filter was cut short");
  return program;
}

Result<Context> new_context(std::uint32_t otherwise) {
  Context context(seccomp_init(otherwise), &seccomp_release);
  if (!context) return fail(Code::internal, "libseccomp gave no context");
  (void)seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (const int code = seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
      code < 0)
    return fail(seccomp_error(code, "refuse other system-call ABIs"));
  (void)seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_NNP, 0);
  return context;
}

// Unknown names are calls that this libseccomp does not know; they stay ENOSYS.
int number_of(const char* name) {
  return seccomp_syscall_resolve_name(name);
}

Result<void> allow_by_argument(scmp_filter_ctx context) {
  const auto rule = [&](const char* name, std::initializer_list<scmp_arg_cmp> conditions) -> Result<void> {
    const std::vector<scmp_arg_cmp> list(conditions);
    const int code = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, number_of(name),
                                            static_cast<unsigned>(list.size()), list.data());
    if (code < 0) return fail(seccomp_error(code, std::string("allow ") + name));
    return {};
  };
  TRY(rule("clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, kNamespaceFlags, 0)}));
  for (const int family : {AF_UNIX, AF_INET, AF_INET6}) {
    TRY(rule("socket", {SCMP_A0_32(SCMP_CMP_EQ, static_cast<std::uint32_t>(family))}));
    TRY(rule("socketpair", {SCMP_A0_32(SCMP_CMP_EQ, static_cast<std::uint32_t>(family))}));
  }
  // Reading one's own interfaces and addresses (getaddrinfo and many runtimes do).
  TRY(rule("socket", {SCMP_A0_32(SCMP_CMP_EQ, AF_NETLINK), SCMP_A2_32(SCMP_CMP_EQ, 0U)}));
  return {};
}

// Families that are not there answer as from a kernel built without them: programs that ask for audit or
// Bluetooth then go on, and take ENOSYS for a broken system.
Result<void> refuse_families(scmp_filter_ctx context) {
  constexpr std::uint32_t families = 46;
  constexpr std::uint32_t netlink_protocols = 32;
  const auto rule = [&](std::uint32_t error, std::initializer_list<scmp_arg_cmp> conditions) {
    const std::vector<scmp_arg_cmp> list(conditions);
    return seccomp_rule_add_array(context, SCMP_ACT_ERRNO(error), number_of("socket"),
                                  static_cast<unsigned>(list.size()), list.data());
  };
  int code = 0;
  for (std::uint32_t family = 0; family < families; ++family)
    if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK)
      code |= rule(EAFNOSUPPORT, {SCMP_A0_32(SCMP_CMP_EQ, family)});
  for (std::uint32_t protocol = 1; protocol < netlink_protocols; ++protocol)
    code |= rule(EPROTONOSUPPORT, {SCMP_A0_32(SCMP_CMP_EQ, AF_NETLINK), SCMP_A2_32(SCMP_CMP_EQ, protocol)});
  if (code != 0) return fail(Code::internal, "the socket filter could not be made");
  return {};
}

Result<std::vector<sock_filter>> compile_arguments() {
  Context context = TRY(new_context(SCMP_ACT_ALLOW));
  const auto refuse = [&](const char* name, std::uint64_t error,
                          std::initializer_list<scmp_arg_cmp> conditions) {
    const std::vector<scmp_arg_cmp> list(conditions);
    return seccomp_rule_add_array(context.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                                  number_of(name), static_cast<unsigned>(list.size()), list.data());
  };
  int code = 0;
  // Typing into a terminal that is somebody else's, console fonts and keymaps, line disciplines.
  for (const unsigned request : {unsigned{TIOCSTI}, 0x541CU /* TIOCLINUX */, unsigned{TIOCSETD}})
    code |= refuse("ioctl", EPERM, {SCMP_A1(SCMP_CMP_MASKED_EQ, 0xFFFFFFFFULL, request)});
  // Real-time and deadline scheduling (1 FIFO, 2 RR, 6 deadline).
  for (const unsigned policy : {1U, 2U, 6U})
    code |= refuse("sched_setscheduler", EPERM, {SCMP_A1(SCMP_CMP_MASKED_EQ, 0xBFFFFFFFULL, policy)});
  code |= refuse("prctl", EPERM, {SCMP_A0_32(SCMP_CMP_EQ, PR_SET_MM)});
  for (const unsigned type : {unsigned{SOCK_RAW}, unsigned{SOCK_PACKET}})
    for (const unsigned family : {unsigned{AF_INET}, unsigned{AF_INET6}})
      code |= refuse("socket", EPERM,
                     {SCMP_A0_32(SCMP_CMP_EQ, family), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xFULL, type)});
  if (code != 0) return fail(Code::internal, "the argument filter could not be made");
  return compile(context.get());
}

}  // namespace

Result<Filter> compile_filter() {
  Filter filter;
  Context context = TRY(new_context(SCMP_ACT_ERRNO(ENOSYS)));
  for (const char* name : kAllowed) {
    const int number = number_of(name);
    if (number < 0) continue;
    const int code = seccomp_rule_add(context.get(), SCMP_ACT_ALLOW, number, 0);
    if (code == -EEXIST) continue;
    if (code < 0) return fail(seccomp_error(code, std::string("allow ") + name));
    ++filter.calls_allowed;
  }
  TRY(allow_by_argument(context.get()));
  TRY(refuse_families(context.get()));
  filter.calls_allowed += 3;
  for (const char* name : kRefused)
    if (const int number = number_of(name); number >= 0)
      if (const int code = seccomp_rule_add(context.get(), SCMP_ACT_ERRNO(EPERM), number, 0); code < 0)
        return fail(seccomp_error(code, std::string("refuse ") + name));
  filter.allow_list = TRY(compile(context.get()));
  filter.arguments = TRY(compile_arguments());
  return filter;
}

Result<void> install_filter(const Filter& filter) {
  for (const std::vector<sock_filter>* part : {&filter.arguments, &filter.allow_list})
    if (guest::install_filter(part->data(), part->size()) < 0)
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
  return fmt::format("version {}: no device nodes, no mounts", version);
}

}  // namespace atl::sandbox::native
