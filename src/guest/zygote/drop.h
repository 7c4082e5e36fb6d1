#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// The steps by which a process that enters a sandbox gives up its power. Process 1 takes them before it
// becomes the guest, and an interpreter that is forked from a zygote takes the very same ones: whoever
// changes a wall changes it for both. C headers only, because one of the two lives inside an interpreter.
// Each step answers 0, or -1 with errno.
namespace atl::guest {

// What root inside keeps, in its own user namespace. Everything else acts on kernel objects beyond it, or
// opens kernel surface that programs inside do not need.
inline constexpr int kKeptCapabilities[] = {
    CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER,           CAP_FSETID,     CAP_KILL,
    CAP_SETGID, CAP_SETUID,       CAP_SETPCAP,         CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_SETFCAP};

inline int limit_resource(int what, rlim_t value) {
  struct rlimit now {};
  if (syscall(SYS_prlimit64, 0, what, nullptr, &now) != 0) return -1;
  if (value > now.rlim_max) value = now.rlim_max;
  const struct rlimit wanted { value, value };
  return static_cast<int>(syscall(SYS_prlimit64, 0, what, &wanted, nullptr));
}

// No core dump, neither to a file nor to a program of the host. Where core_pattern names a program the kernel
// runs it whatever the limit is, except for the limit of one byte, which is too small for a file as well.
// Programs inside cannot set another one: the filter does not let them. True if that is the limit now; a host
// that allows none gives 0.
inline bool limit_core_dumps() {
  const struct rlimit one { 1, 1 };
  if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, &one, nullptr) == 0) return true;
  const struct rlimit none { 0, 0 };
  syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, nullptr);
  return false;
}

// Limits that are the same for every process of every sandbox.
inline int limit_resources() {
  limit_core_dumps();
  const struct {
    int what;
    rlim_t value;
  } limits[] = {{RLIMIT_MSGQUEUE, 819200},
                {RLIMIT_SIGPENDING, 4096},
                {RLIMIT_MEMLOCK, 8U << 20},
                {RLIMIT_RTPRIO, 0},
                {RLIMIT_NICE, 0}};
  for (const auto& limit : limits)
    if (limit_resource(limit.what, limit.value) != 0) return -1;
  return 0;
}

// Root of the user namespace that was just entered, and nobody's group.
inline int become_root_inside() {
  if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, 0, 0, 0) != 0) return -1;
  return static_cast<int>(syscall(SYS_setresuid, 0, 0, 0));
}

inline int drop_capabilities() {
  uint64_t kept = 0;
  for (const int capability : kKeptCapabilities) kept |= 1ULL << capability;
  for (int capability = 0; capability <= CAP_LAST_CAP + 8; ++capability)
    if (((kept >> capability) & 1) == 0 && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 &&
        errno != EINVAL)
      return -1;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  data[0].effective = data[0].permitted = static_cast<uint32_t>(kept);
  data[1].effective = data[1].permitted = static_cast<uint32_t>(kept >> 32);
  return static_cast<int>(syscall(SYS_capset, &header, data));
}

// The kernel's Landlock version; 0 where there is none.
inline int landlock_version() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

// Everything below "/" stays usable except making device nodes and changing mounts.
inline int enter_landlock(int version) {
  // The header of this system may be older than the kernel: fields beyond the first are written by hand.
  struct {
    uint64_t filesystem, network, scoped;
  } rules{};
  rules.filesystem = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;  // version 1
  if (version >= 2) rules.filesystem |= 1ULL << 13;           // refer
  if (version >= 3) rules.filesystem |= 1ULL << 14;           // truncate
  if (version >= 5) rules.filesystem |= 1ULL << 15;           // ioctl on devices
  // Nothing is scoped: process and network namespaces keep signals and abstract sockets inside already, and a
  // scope would part process 1 from interpreters that entered by themselves, which it must be able to signal.
  const size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, size, 0));
  if (ruleset < 0) return -1;
  landlock_path_beneath_attr beneath{};
  beneath.parent_fd = open("/", O_PATH | O_CLOEXEC);
  beneath.allowed_access =
      rules.filesystem & ~uint64_t{LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK};
  const bool entered =
      beneath.parent_fd >= 0 &&
      syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0 &&
      syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  const int error = errno;
  if (beneath.parent_fd >= 0) close(beneath.parent_fd);
  close(ruleset);
  errno = error;
  return entered ? 0 : -1;
}

inline int install_filter(const sock_filter* instructions, size_t count) {
  // JUSTIFICATION: the program of a filter travels as bytes, and the kernel only reads it.
  const sock_fprog program{static_cast<unsigned short>(count), const_cast<sock_filter*>(instructions)};
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

}  // namespace atl::guest
