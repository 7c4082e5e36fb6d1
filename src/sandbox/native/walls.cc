// Runs between clone and exec, in memory shared with the suspended parent: allocation is safe because nothing
// else runs, but whatever is left allocated at the exec is leaked in the parent. Everything owned here is
// released before.
#include "sandbox/native/walls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "guest/zygote/drop.h"
#include "os/file.h"
#include "os/mount.h"
#include "os/process.h"
#include "sandbox/native/mount_point.h"

namespace atl::sandbox::native {
namespace {

using os::MountChange;
using os::Subtree;

// Names in /proc that tell about the host or act on it. Files and directories are covered where they exist.
constexpr const char* kMaskedFiles[] = {
    "kcore",   "kallsyms",      "keys",     "key-users",   "timer_list",  "sysrq-trigger", "kmsg",
    "cmdline", "interrupts",    "modules",  "config.gz",   "sched_debug", "partitions",    "diskstats",
    "locks",   "latency_stats", "slabinfo", "vmallocinfo", "iomem",       "ioports"};
constexpr const char* kMaskedDirectories[] = {"acpi", "scsi", "bus", "irq", "fs", "driver", "asound"};

constexpr int kTerminalsMax = 32;

struct Child {
  WallPlan& plan;
  WallReport& report;
  int lowers = 0;

  void stands(const char* name, std::string value) {
    report.isolation.walls.push_back({name, std::move(value)});
  }
  void lacks(const char* name, std::string remedy) {
    report.isolation.missing.push_back({name, std::move(remedy)});
  }

  Result<void> run();
  Result<void> join_cgroups();
  Result<void> join_network();
  Result<void> make_upper();
  Result<std::string> place_lower(os::Fd mount);
  Result<std::string> place_own(const char* path);
  Result<void> mount_overlay(const std::string& lowers_top_first, const char* upper, const char* work,
                             const std::string& at);
  Result<void> make_root();
  Result<void> fill_upper();
  Result<void> mount_proc();
  Result<void> mount_dev();
  Result<os::Fd> mount_point(const Bind& bind);
  Result<void> mount_binds();
  Result<void> enter_root();
  Result<void> set_limits();
  Result<void> leave_realtime();
  void tell_core_dumps();
  void tell_ids();
  Result<void> limit_without_groups();
  Result<void> become_inside();
  Result<void> drop_capabilities();
  Result<void> put_filters();
};

Result<void> Child::join_cgroups() {
  TRY_CONTEXT(
      "join control groups",
      plan.cgroups.join(plan.group, plan.realtime ? CgroupTree::Part::all_but_cpu : CgroupTree::Part::all,
                        plan.starts_in_group));
  if (plan.cgroups.version() != "none") stands("cgroup", std::string(plan.cgroups.version()));
  return {};
}

Result<void> Child::join_network() {
  TRY_CONTEXT("enter the network namespace",
              os::enter_namespace(plan.slot.network_namespace.get(), CLONE_NEWNET));
  stands("network_namespace", "own, loopback only");
  return {};
}

// The writable layer: upper and work directories for each overlay, and the files that are mounted over
// others.
Result<void> Child::make_upper() {
  const Limits& limits = plan.spec.limits;
  os::Fd mount;
  if (plan.image_mount.is_open()) {
    mount = std::move(plan.image_mount);
    stands("disk_limit", fmt::format("{} bytes, disk image", limits.disk_bytes));
  } else {
    os::FilesystemContext tmpfs = TRY(os::FilesystemContext::open("tmpfs"));
    TRY(tmpfs.set("size", std::to_string(limits.disk_bytes)));
    // What is in every writable layer from the start is not the workload's.
    constexpr std::uint64_t own_inodes = 16;
    TRY(tmpfs.set("nr_inodes", std::to_string(limits.inodes_max + own_inodes)));
    TRY(tmpfs.set("mode", "0755"));
    mount = TRY(tmpfs.mount(MOUNT_ATTR_NODEV));
    stands("disk_limit",
           fmt::format("{} bytes and {} inodes, in memory", limits.disk_bytes, limits.inodes_max));
  }
  TRY(os::attach(mount.get(), AT_FDCWD, tiny::kUpper));
  report.upper = TRY_CONTEXT("writable layer", os::open(tiny::kUpper, O_RDONLY | O_DIRECTORY));
  // overlayfs wants its work directory on the same filesystem as the upper one, and beside it.
  for (const char* name : {"root", "root.work", "usr", "usr.work", "shm"})
    if (::mkdirat(report.upper.get(), name, 0755) < 0 && errno != EEXIST)
      return fail(errno_error(errno, "make writable layer"));
  return {};
}

Result<void> Child::fill_upper() {
  const int upper = report.upper.get();
  const auto owned = [&](const char* name, uid_t id) {
    const uid_t owner = plan.slot.ids.outside(id);
    return ::fchownat(upper, name, owner, owner, AT_SYMLINK_NOFOLLOW);
  };
  for (const char* name : {"root", "usr", "shm"})
    if (owned(name, 0) < 0) return fail(errno_error(errno, "own writable layer"));
  // mkdirat() is subject to the umask, fchmodat() is not.
  ::fchmodat(upper, "shm", 01777, 0);
  for (const char* name : {"root/etc"})
    if (::mkdirat(upper, name, 0755) < 0 && errno != EEXIST)
      return fail(errno_error(errno, "make writable layer"));
  TRY(os::write_file_at(upper, "root/etc/machine-id", plan.machine_id + "\n"));
  TRY(os::write_file_at(upper, "boot_id", plan.boot_id + "\n", 0444));
  const std::string hosts = fmt::format(
      "127.0.0.1\tlocalhost\n127.0.1.1\t{}\n::1\tlocalhost ip6-localhost ip6-loopback\n", plan.spec.hostname);
  TRY(os::write_file_at(upper, "root/etc/hostname", plan.spec.hostname + "\n"));
  TRY(os::write_file_at(upper, "root/etc/hosts", hosts));
  // Nothing listens there until a network is opened (sandbox/proxy_endpoint.h).
  TRY(os::write_file_at(upper, "root/etc/resolv.conf", "nameserver 127.0.0.1\n"));
  for (const char* name :
       {"root/etc", "root/etc/machine-id", "root/etc/hostname", "root/etc/hosts", "root/etc/resolv.conf"})
    if (owned(name, 0) < 0) return fail(errno_error(errno, "own writable layer"));
  return {};
}

// Attaches a detached layer at the next numbered place. The place's path is what overlayfs wants.
Result<std::string> Child::place_lower(os::Fd mount) {
  if (lowers >= tiny::kLowerMax) return fail(Code::invalid_argument, "too many layers");
  const std::string at = fmt::format("{}/{}", tiny::kLower, lowers++);
  TRY(os::attach(mount.get(), AT_FDCWD, at.c_str()));
  return at;
}

Result<std::string> Child::place_own(const char* path) {
  // What is mounted below cannot be left out by an ordinary user. Ids are mapped by root only; see tell_ids.
  const Subtree below = plan.privileges.rootless ? Subtree::yes : Subtree::no;
  os::Fd mount = TRY(os::clone_mount(AT_FDCWD, path, below));
  MountChange change{.set = MOUNT_ATTR_RDONLY, .user_namespace = plan.slot.user_namespace.get()};
  if (plan.privileges.rootless) {
    change.user_namespace = -1;
    TRY(os::change_mount(mount.get(), "", below, change));
  } else if (!os::change_mount(mount.get(), "", Subtree::no, change)) {
    change.user_namespace = -1;
    TRY(os::change_mount(mount.get(), "", Subtree::no, change));
    lacks("idmapped_layers", "needs a kernel that maps ids on this filesystem (tmpfs: 6.3)");
  }
  return place_lower(std::move(mount));
}

Result<void> Child::mount_overlay(const std::string& lowers_top_first, const char* upper, const char* work,
                                  const std::string& at) {
  os::FilesystemContext overlay = TRY(os::FilesystemContext::open("overlay"));
  TRY(overlay.set("lowerdir", lowers_top_first));
  TRY(overlay.set("upperdir", fmt::format("{}/{}", tiny::kUpper, upper)));
  TRY(overlay.set("workdir", fmt::format("{}/{}", tiny::kUpper, work)));
  // Whiteouts and opaque directories are marked by attributes; an ordinary user can write only those in
  // user.*.
  if (plan.privileges.rootless) TRY(overlay.set_flag("userxattr"));
  unsigned attributes = MOUNT_ATTR_NODEV;
  if (!plan.spec.sudo) attributes |= MOUNT_ATTR_NOSUID;
  const os::Fd mount = TRY(overlay.mount(attributes));
  return os::attach(mount.get(), AT_FDCWD, at.c_str());
}

Result<void> Child::make_root() {
  std::string root_lowers;
  std::string usr_lowers;
  const auto on_top = [](std::string& list, const std::string& path) {
    // lowerdir lists the topmost first.
    list = list.empty() ? path : path + ":" + list;
  };
  if (plan.host_view) {
    on_top(root_lowers, TRY(place_own(tiny::kSkeleton)));
    on_top(usr_lowers, TRY(place_own("/usr")));
    on_top(usr_lowers, TRY(place_own(tiny::kCover)));
    if (plan.snapshot_usr.is_open()) on_top(usr_lowers, TRY(place_lower(std::move(plan.snapshot_usr))));
  }
  for (os::Fd& layer : plan.layer_mounts) on_top(root_lowers, TRY(place_lower(std::move(layer))));
  TRY_CONTEXT("mount the root", mount_overlay(root_lowers, "root", "root.work", tiny::kRoot));
  if (plan.host_view)
    TRY_CONTEXT("mount /usr",
                mount_overlay(usr_lowers, "usr", "usr.work", std::string(tiny::kRoot) + "/usr"));
  stands("root_filesystem", "overlay, own writable layer");
  if (::chdir(tiny::kRoot) < 0) return fail(errno_error(errno, "enter the new root"));
  // Mount points that an imported layer may lack.
  for (const char* name : {"proc", "dev", "tmp", "home"}) {
    const uid_t owner = plan.slot.ids.outside(0);
    if (::mkdir(name, 0755) == 0 && ::chown(name, owner, owner) < 0)
      return fail(errno_error(errno, "make mount points"));
  }
  return {};
}

Result<void> Child::mount_proc() {
  os::FilesystemContext proc = TRY(os::FilesystemContext::open("proc"));
  const os::Fd mount = TRY(proc.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
  TRY(os::attach(mount.get(), AT_FDCWD, "proc"));
  // Root inside does not own the network namespace, so ports like 53 and 80 are made ordinary ones. Where
  // that is not allowed, opening a network will report it. Written through this /proc, because in one that is
  // shared the kernel would have to look past the entries of all networks.
  (void)os::write_control_at(AT_FDCWD, "proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
  int covered = 0;
  const auto put = [&](const char* over, const std::string& path) -> Result<void> {
    if (auto done = os::bind(over, path.c_str()); done)
      ++covered;
    else if (done.error().code() != Code::not_found)
      return done;
    return {};
  };
  for (const std::string& path : plan.cover.files) TRY(put(tiny::kNullFile, path));
  for (const std::string& path : plan.cover.directories) TRY(put(tiny::kEmpty, path));
  os::Fd sys = TRY(os::clone_mount(AT_FDCWD, "proc/sys", Subtree::no));
  TRY(os::change_mount(sys.get(), "", Subtree::no, {.set = MOUNT_ATTR_RDONLY}));
  TRY(os::attach(sys.get(), AT_FDCWD, "proc/sys"));
  // The host's boot id would tell two sandboxes that they are on one machine.
  TRY(os::bind((std::string(tiny::kUpper) + "/boot_id").c_str(), "proc/sys/kernel/random/boot_id"));
  for (const char* name : kViewFiles) TRY(put((plan.view + "/" + name).c_str(), std::string("proc/") + name));
  stands("proc_view", "meminfo, cpuinfo, stat and loadavg show the sandbox's limits, as of its creation");
  stands("proc", fmt::format("own process tree; {} entries covered, {} closed to all but the host's root, "
                             "sys read-only, boot_id "
                             "of its own",
                             covered, plan.cover.closed));
  return {};
}

Result<void> Child::mount_dev() {
  // For an ordinary user each device is a mount of its own.
  const Subtree nodes = plan.privileges.rootless ? Subtree::yes : Subtree::no;
  os::Fd devices = TRY(os::clone_mount(AT_FDCWD, tiny::kDevices, nodes));
  TRY(os::change_mount(devices.get(), "", nodes,
                       {.set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC}));
  TRY(os::attach(devices.get(), AT_FDCWD, "dev"));
  os::FilesystemContext pts = TRY(os::FilesystemContext::open("devpts"));
  TRY(pts.set("ptmxmode", "0666"));
  TRY(pts.set("mode", "0620"));
  TRY(pts.set("gid", std::to_string(plan.slot.ids.outside(5))));
  // The machine has one allowance of terminals for all (kernel.pty.max).
  TRY(pts.set("max", std::to_string(kTerminalsMax)));
  const os::Fd terminals = TRY(pts.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
  TRY(os::attach(terminals.get(), AT_FDCWD, "dev/pts"));
  const os::Fd shared = TRY(os::clone_mount(report.upper.get(), "shm", Subtree::no));
  TRY(os::change_mount(shared.get(), "", Subtree::no, {.set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV}));
  TRY(os::attach(shared.get(), AT_FDCWD, "dev/shm"));
  stands("dev", fmt::format("null zero full random urandom tty, {} terminals and shared memory of its own",
                            kTerminalsMax));
  return {};
}

Result<os::Fd> Child::mount_point(const Bind& bind) {
  const uid_t owner = plan.slot.ids.outside(0);
  if (!bind.cleared_below.empty()) return clear_in_root(AT_FDCWD, bind.path, bind.cleared_below, owner);
  auto target = open_in_root(AT_FDCWD, bind.path);
  if (target || target.error().code() != Code::not_found) return target;
  TRY(make_in_root(AT_FDCWD, bind.path, owner));
  return open_in_root(AT_FDCWD, bind.path);
}

// Host directories inside.
Result<void> Child::mount_binds() {
  for (Bind& bind : plan.binds) {
    const os::Fd target = TRY(mount_point(bind));
    // By descriptors on both sides: no path is walked that a guest could have prepared.
    if (::syscall(SYS_move_mount, bind.mount.get(), "", target.get(), "",
                  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
      return fail(errno_error(errno, fmt::format("mount on {}", bind.path)));
    bind.mount.reset();
  }
  return {};
}

Result<void> Child::enter_root() {
  TRY(os::move_to_root());
  char where[8];
  // Must hold if the move was right. If it does not, everything of the host could be reached from ".".
  if (::syscall(SYS_getcwd, where, sizeof where) < 0 || std::string_view(where) != "/")
    return fail(Code::internal, "the working directory is outside the new root");
  stands("mount_namespace", "own");
  stands("pid_namespace", "own");
  stands("ipc_namespace", "own");
  if (::sethostname(plan.spec.hostname.data(), plan.spec.hostname.size()) < 0)
    return fail(errno_error(errno, "set the host name"));
  stands("uts_namespace", "own");
  return {};
}

Result<void> Child::set_limits() {
  // Raised here, where this process still may; lowered when it has left the descriptor table that it shares
  // with the spawner.
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_max < plan.spec.limits.open_files_max) {
    const rlimit raised{files.rlim_cur, plan.spec.limits.open_files_max};
    (void)::setrlimit(RLIMIT_NOFILE, &raised);
  }
  if (guest::limit_resources() < 0) return fail(errno_error(errno, "set resource limits"));
  tell_core_dumps();
  if (plan.realtime) TRY(leave_realtime());
  // After the last group was joined: the namespace shows paths from where one is when it is made.
  if (::unshare(CLONE_NEWCGROUP) == 0)
    stands("cgroup_namespace", "own");
  else
    lacks("cgroup_namespace",
          "needs a kernel with control group namespaces; /proc/self/cgroup shows names of the host");
  return {};
}

// A copy of the spawner's schedule must not become the sandbox's.
Result<void> Child::leave_realtime() {
  const sched_param normal{};
  if (::sched_setscheduler(0, SCHED_OTHER, &normal) < 0)
    return fail(errno_error(errno, "leave real-time scheduling"));
  TRY_CONTEXT("join control groups",
              plan.cgroups.join(plan.group, CgroupTree::Part::only_cpu, plan.starts_in_group));
  return {};
}

// See guest::limit_core_dumps(). A socket (Linux 6.16) is served whatever the limit is.
void Child::tell_core_dumps() {
  rlimit core{};
  ::getrlimit(RLIMIT_CORE, &core);
  const std::string pattern = os::read_file("/proc/sys/kernel/core_pattern").value_or("");
  const bool to_program = pattern.starts_with('|'), to_socket = pattern.starts_with('@');
  if (to_socket || (to_program && core.rlim_max != 1))
    lacks("core_dumps",
          "kernel.core_pattern hands crashes to a program of the host: set it to the name of a file");
  else
    stands("core_dumps", core.rlim_max == 1 ? "off, to files and to programs of the host" : "off");
}

// Reports which ids the sandbox has and whether it shares them with other sandboxes.
void Child::tell_ids() {
  const IdMap& ids = plan.slot.ids;
  if (!plan.privileges.rootless) {
    stands("user_namespace", fmt::format("{} ids from {}", ids.count, ids.first));
    stands("own_ids", "no other sandbox has them");
    stands("own_counters",
           "inotify, message queues, locked memory and pending signals are counted for this sandbox alone");
    return;
  }
  const char* const as_root = "start atoll as root";
  lacks("own_ids", fmt::format("sandboxes of an ordinary user share their ids: {}", as_root));
  lacks("own_counters", fmt::format("sandboxes of an ordinary user share its allowance of inotify, message "
                                    "queues and locked memory: {}",
                                    as_root));
  lacks("host_owners", fmt::format("files of the host are shown as nobody's: {}", as_root));
  if (plan.spec.sudo) lacks("sudo", fmt::format("set-uid programs of the host do not work: {}", as_root));
  if (!plan.privileges.has_one_id())
    return stands("user_namespace",
                  fmt::format("{} ids{}", ids.count,
                              ids.first == 0 ? "; root inside is the user who runs it, whose the layers are"
                                             : ", not the one of the user who runs it"));
  stands("user_namespace", "one id, of the user who runs it");
  const char* const who =
      ids.inside == 0 ? "there is nobody inside but root" : "there is no root inside, only user";
  lacks("users", fmt::format("{}: {}", who, plan.privileges.lacks_ids));
}

// What one process can be held to where the kernel does not count for the whole sandbox. The host watches the
// sums (see NativeState).
Result<void> Child::limit_without_groups() {
  const Limits& limits = plan.spec.limits;
  const auto bound = [](__rlimit_resource what, rlim_t value) {
    const rlimit wanted{value, value};
    return ::setrlimit(what, &wanted) == 0;
  };
  if (!plan.cgroups.has(Controller::pids)) {
    const rlim_t tasks = rlim_t{limits.processes_max} * 16 + 16;
    if (!bound(RLIMIT_NPROC, tasks)) return fail(errno_error(errno, "limit processes"));
    stands("task_limit_per_user", fmt::format("{} tasks, by the kernel; {} processes, counted by the host",
                                              tasks, limits.processes_max));
  }
  if (!plan.cgroups.has(Controller::memory)) {
    if (!bound(RLIMIT_DATA, limits.memory_bytes)) return fail(errno_error(errno, "limit memory"));
    stands("memory_limit_per_process",
           fmt::format("{} bytes, by the kernel; the sum is watched by the host", limits.memory_bytes));
  }
  return {};
}

// From here on this process has no power over the host.
Result<void> Child::become_inside() {
  TRY_CONTEXT("enter the user namespace", os::enter_namespace(plan.slot.user_namespace.get(), CLONE_NEWUSER));
  // Where there is one id only, the kernel does not let groups be dropped either.
  const bool one_id = plan.privileges.has_one_id();
  if (!one_id && ::syscall(SYS_setgroups, 0, nullptr) < 0) return fail(errno_error(errno, "drop groups"));
  const uid_t first = plan.slot.ids.inside;
  if (::syscall(SYS_setresgid, first, first, first) < 0 || ::syscall(SYS_setresuid, first, first, first) < 0)
    return fail(errno_error(errno, "become the first user inside"));
  tell_ids();
  TRY(limit_without_groups());
  // After the change of user, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return fail(errno_error(errno, "tie to the spawner"));
  // What the spawner ignores must not be ignored inside. The table is a copy, although the memory is not.
  // By the system call, because the library does not let its own two signals be set.
  const struct { unsigned long handler, flags, restorer, mask; } by_default{};
  for (const int number : plan.ignored_signals)
    ::syscall(SYS_rt_sigaction, number, &by_default, nullptr, sizeof by_default.mask);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  return {};
}

Result<void> Child::drop_capabilities() {
  if (guest::drop_capabilities() < 0) return fail(errno_error(errno, "drop capabilities"));
  if (plan.slot.ids.inside != 0)
    stands("capabilities", "none");
  else
    stands("capabilities",
           fmt::format("none over the host; root inside has {}", std::size(guest::kKeptCapabilities)));
  return {};
}

// With set-uid programs allowed, both filters need CAP_SYS_ADMIN in the sandbox's own user namespace, so they
// come before the capabilities go; otherwise no-new-privileges is the key and they come last.
Result<void> Child::put_filters() {
  if (!plan.spec.sudo) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
      return fail(errno_error(errno, "refuse new privileges"));
    stands("no_new_privileges", "on");
    TRY(drop_capabilities());
  }
  if (landlock_version() > 0)
    stands("landlock", TRY(enter_landlock()));
  else
    lacks("landlock", "needs a kernel with CONFIG_SECURITY_LANDLOCK and lsm=landlock (5.13 or newer)");
  TRY(install_filter(plan.filter));
  stands("seccomp", fmt::format("allow-list of {} calls", plan.filter.calls_allowed));
  if (plan.spec.sudo) TRY(drop_capabilities());
  return {};
}

Result<void> Child::run() {
  // The order matters: groups and namespaces while the host can still be named, mounts while this is still
  // root, the user last, and the filter when nothing that it forbids is needed any more.
  TRY(join_cgroups());
  TRY(join_network());
  TRY_CONTEXT("writable layer", make_upper());
  TRY_CONTEXT("writable layer", fill_upper());
  TRY(make_root());
  TRY_CONTEXT("/proc", mount_proc());
  TRY_CONTEXT("/dev", mount_dev());
  TRY(mount_binds());
  TRY(enter_root());
  TRY(set_limits());
  TRY(become_inside());
  return put_filters();
}

}  // namespace

ProcCover choose_cover(int proc) {
  ProcCover cover;
  struct stat info {};
  for (const char* name : kMaskedFiles) {
    // What is not there may come, with a module.
    if (::fstatat(proc, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && info.st_uid == 0 && info.st_gid == 0 &&
        (info.st_mode & 0007) == 0)
      ++cover.closed;
    else
      cover.files.push_back(std::string("proc/") + name);
  }
  for (const char* name : kMaskedDirectories) cover.directories.push_back(std::string("proc/") + name);
  return cover;
}

void build_walls(WallPlan& plan, WallReport& report) {
  {
    Child child{plan, report};
    if (auto done = child.run(); !done) report.error.emplace(std::move(done).error());
  }
  if (report.error) ::_exit(1);
  // Into the shared table: the spawner keeps these two numbers for this moment.
  if (::dup3(plan.stream_fd, kStreamFd, 0) < 0 || ::dup3(plan.handover_fd, kHandoverFd, 0) < 0) {
    report.error.emplace(errno_error(errno, "hand over the stream"));
    ::_exit(1);
  }
  if (auto closed = os::close_range(kProgramFd + 1, ~0U, os::UnshareTable::yes); !closed) {
    report.error.emplace(std::move(closed).error());
    ::_exit(1);
  }
  // Not earlier: until here numbers came from a table shared with the spawner, and may be high.
  // A machine may allow fewer than were asked for. That is a tighter wall, and what is in force is reported.
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  const rlim_t files = std::min<rlim_t>(plan.spec.limits.open_files_max, now.rlim_max);
  const rlimit files_limit{files, files};
  if (::setrlimit(RLIMIT_NOFILE, &files_limit) < 0) {
    report.error.emplace(errno_error(errno, "limit open files"));
    ::_exit(1);
  }
  report.isolation.walls.push_back({"open_files_limit", std::to_string(files)});
  const char* const arguments[] = {"atoll-guest", nullptr};
  const char* const environment[] = {nullptr};
  ::syscall(SYS_execveat, kProgramFd, "", arguments, environment, AT_EMPTY_PATH);
  report.error.emplace(errno_error(errno, "execute the guest"));
  ::_exit(1);
}

}  // namespace atl::sandbox::native
