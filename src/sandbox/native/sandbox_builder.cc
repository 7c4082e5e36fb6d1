#include "sandbox/native/sandbox_builder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>

#include "base/ids.h"
#include "os/file.h"
#include "os/message.h"
#include "os/mount.h"
#include "os/process.h"
#include "sandbox/native/process_tree.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

extern "C" int mount(const char*, const char*, const char*, unsigned long, const void*) noexcept;

namespace atl::sandbox::native {
namespace {

using os::Subtree;

constexpr const char* kLoops = "/loops";
constexpr const char* kVolumes = "/volumes";

struct Device {
  const char* name;
  unsigned major, minor;
};
constexpr Device kDeviceNodes[] = {{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
                                   {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};
constexpr std::pair<const char*, const char*> kDeviceLinks[] = {{"/proc/self/fd", "fd"},
                                                                {"/proc/self/fd/0", "stdin"},
                                                                {"/proc/self/fd/1", "stdout"},
                                                                {"/proc/self/fd/2", "stderr"},
                                                                {"pts/ptmx", "ptmx"}};

// An ordinary user cannot make device nodes: each is the host's, mounted.
Result<void> make_device(const std::string& path, const Device& device, const Privileges& privileges) {
  if (!privileges.rootless) {
    if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(device.major, device.minor)) < 0)
      return fail(errno_error(errno, "make device nodes"));
    ::chmod(path.c_str(), 0666);
    return {};
  }
  // A mount needs a file to be mounted on.
  TRY(os::write_file(path, "", 0444));
  const os::Fd node =
      TRY(os::clone_mount(AT_FDCWD, (std::string("/dev/") + device.name).c_str(), Subtree::no));
  return os::attach(node.get(), AT_FDCWD, path.c_str());
}

Result<void> make_devices(const std::string& dir, const Privileges& privileges) {
  TRY(os::make_directory(dir));
  // A mount of its own, so that it can be copied with everything that is mounted in it.
  if (privileges.rootless) TRY(os::bind(dir.c_str(), dir.c_str()));
  for (const Device& device : kDeviceNodes) TRY(make_device(dir + "/" + device.name, device, privileges));
  for (const auto& [target, name] : kDeviceLinks)
    if (::symlink(target, (dir + "/" + name).c_str()) < 0) return fail(errno_error(errno, "link devices"));
  for (const char* name : {"pts", "shm", "mqueue"}) TRY(os::make_directory(dir + "/" + name));
  return {};
}

// The option takes effect for the whole machine while any hierarchy is mounted with it: this one stays.
void favor_dynmods(const std::string& at) {
  (void)os::make_directory(at);
  (void)::mount("cgroup", at.c_str(), "cgroup", 0, "none,name=atoll,favordynmods");
}

// The kernel lets an ordinary user mount /proc only where one is to be seen in full: this one belongs to a
// process tree that is gone, so there is nothing in it.
Result<void> mount_empty_proc(const std::string& at) {
  // A bare system call: the library's wrapper would want a stack. CLONE_VFORK suspends us until the child is
  // gone.
  const pid_t child = static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_NEWPID | CLONE_FILES | CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child < 0) return fail(errno_error(errno, "make a process namespace"));
  if (child == 0) {
    const auto mounted = [&]() -> Result<void> {
      os::FilesystemContext proc = TRY(os::FilesystemContext::open("proc"));
      const os::Fd mount = TRY(proc.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
      return os::attach(mount.get(), AT_FDCWD, at.c_str());
    };
    ::_exit(mounted() ? 0 : 1);
  }
  int status = 1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(
        Code::unsupported,
        "an ordinary user cannot mount /proc here: parts of the host's are covered, as in a container");
  return {};
}

// An ordinary user's layers cannot be mapped to the ids of a sandbox: what we make ourselves has them from
// the start.
Result<void> give_to_sandboxes(const std::string& tree, const IdMap& ids) {
  std::error_code error;
  std::vector<std::string> paths{tree};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tree, error))
    paths.push_back(entry.path().string());
  if (error) return fail(errno_error(error.value(), "read the skeleton"));
  for (const std::string& path : paths) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) < 0 ||
        ::lchown(path.c_str(), ids.outside(info.st_uid), ids.outside(info.st_gid)) < 0)
      return fail(errno_error(errno, "own the skeleton"));
    // Changing the owner took the set-id bits away.
    if (!S_ISLNK(info.st_mode)) ::chmod(path.c_str(), info.st_mode & 07777);
  }
  return {};
}

// Builds the tiny root on `at` (any directory: the mount stays in this process's namespace) and makes it "/".
Result<void> move_into_tiny_root(const std::string& at, const SpawnerOptions& options,
                                 const Privileges& privileges,
                                 const std::function<Result<void>(const std::string&)>& make_room) {
  os::FilesystemContext tmpfs = TRY(os::FilesystemContext::open("tmpfs"));
  TRY(tmpfs.set("mode", "0755"));
  // It holds mount points and the skeleton; the bound is against mistakes.
  TRY(tmpfs.set("size", "64m"));
  const os::Fd root = TRY(tmpfs.mount(MOUNT_ATTR_NOSUID));
  TRY(os::attach(root.get(), AT_FDCWD, at.c_str()));
  for (const char* name : {tiny::kSkeleton, tiny::kCover, tiny::kEmpty, tiny::kUpper, tiny::kRoot,
                           tiny::kLower, tiny::kProc, tiny::kView, kLoops, "/usr"})
    TRY(os::make_directory(at + name));
  for (int i = 0; i < tiny::kLowerMax; ++i)
    TRY(os::make_directory(fmt::format("{}{}/{}", at, tiny::kLower, i)));
  TRY(make_devices(at + tiny::kDevices, privileges));
  TRY(make_room(at));
  TRY_CONTEXT("host view", layer::build_skeleton(at + tiny::kSkeleton));
  TRY_CONTEXT("host view", layer::build_usr_cover(at + tiny::kCover, options.host_view,
                                                  privileges.rootless ? layer::OverlayAttributes::user
                                                                      : layer::OverlayAttributes::trusted));
  if (privileges.rootless) {
    TRY(give_to_sandboxes(at + tiny::kSkeleton, rootless_ids(privileges)));
    TRY(mount_empty_proc(at + tiny::kProc));
  }
  const Subtree below = privileges.rootless ? Subtree::yes : Subtree::no;
  const os::Fd usr = TRY(os::clone_mount(AT_FDCWD, "/usr", below));
  TRY(os::change_mount(usr.get(), "", below, {.set = MOUNT_ATTR_RDONLY}));
  TRY(os::attach(usr.get(), AT_FDCWD, (at + "/usr").c_str()));
  if (options.favor_dynmods) favor_dynmods(at + "/dynmods");
  if (::chdir(at.c_str()) < 0) return fail(errno_error(errno, "enter the tiny root"));
  // The old root comes to lie over the new one, from where the next line takes it away: no directory is
  // needed for it (pivot_root(2)).
  if (::syscall(SYS_pivot_root, ".", ".") < 0) return fail(errno_error(errno, "pivot into the tiny root"));
  TRY(os::detach("."));
  if (::chdir("/") < 0) return fail(errno_error(errno, "enter the tiny root"));
  return {};
}

std::vector<int> ignored_signals() {
  std::vector<int> numbers;
  for (int number = 1; number <= 64; ++number) {
    // By the system call, because the library does not let its own two signals be asked for.
    struct {
      unsigned long handler, flags, restorer, mask;
    } now{};
    // JUSTIFICATION: the kernel takes and gives addresses as numbers.
    if (::syscall(SYS_rt_sigaction, number, nullptr, &now, sizeof now.mask) == 0 &&
        now.handler == reinterpret_cast<unsigned long>(SIG_IGN))
      numbers.push_back(number);
  }
  return numbers;
}

bool go_realtime() {
  const sched_param priority{.sched_priority = 1};
  return ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) == 0 &&
         ::sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
}

// vfork with namespaces: the child runs on this stack, in this memory, with these descriptors, while this
// thread is suspended until the child executes or ends. The system call is inline because a return from a
// wrapper function in the child would overwrite the return address that the parent still needs.
__attribute__((noinline)) pid_t start_child(WallPlan& plan, WallReport& report, int group, int& pidfd) {
  clone_args arguments{};
  arguments.flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD | CLONE_NEWNS | CLONE_NEWPID |
                    CLONE_NEWIPC | CLONE_NEWUTS;
  arguments.exit_signal = SIGCHLD;
  if (group >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(group);
  }
  // JUSTIFICATION: the kernel takes and gives addresses as numbers.
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_clone3), "D"(&arguments), "S"(sizeof arguments)
               : "rcx", "r11", "memory");
  if (result == 0) build_walls(plan, report);
#if defined(__SANITIZE_ADDRESS__)
  // The child's frames left their marks on the stack below us, and it never returned from them.
  constexpr std::size_t reach = 256 << 10;
  __asan_unpoison_memory_region(static_cast<char*>(__builtin_frame_address(0)) - reach, reach);
#endif
  return static_cast<pid_t>(result);
}

}  // namespace

bool is_empty(int directory, const char* name) {
  const int fd = ::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT;
  DIR* const entries = ::fdopendir(fd);
  if (entries == nullptr) return ::close(fd), false;
  bool empty = true;
  // No further than the first: a guest decides how many there are.
  while (const dirent* entry = empty ? ::readdir(entries) : nullptr)
    if (std::string_view(entry->d_name) != "." && std::string_view(entry->d_name) != "..") empty = false;
  ::closedir(entries);
  return empty;
}

namespace {

std::string missing_wall(const Isolation& isolation, const std::vector<std::string>& required) {
  for (const std::string& name : required)
    if (std::ranges::none_of(isolation.walls, [&](const Wall& wall) { return wall.name == name; }))
      return name;
  return {};
}

// Whether a zygote has the same programs, before anything is written.
bool has_plain_usr(const Spec& spec, const WallPlan& plan) {
  if (plan.host_view) return !plan.snapshot_usr.is_open() || is_empty(plan.snapshot_usr.get(), ".");
  return spec.trusted_layers && (!spec.snapshot || is_empty(plan.layer_mounts.back().get(), "usr"));
}

Error cannot_give(const std::string& wall, const Isolation& isolation) {
  for (const Wall& missing : isolation.missing)
    if (missing.name == wall)
      return Error(Code::unsupported,
                   fmt::format("this machine cannot give the wall '{}': {}", wall, missing.value));
  return Error(Code::unsupported, fmt::format("no wall is named '{}' here", wall));
}

}  // namespace

Result<SandboxBuilder> SandboxBuilder::open(const SpawnerOptions& options) {
  SandboxBuilder builder;
  builder.slots_wanted_ = options.slots_ready;
  builder.host_parts_ = layer::host_parts();
  builder.filter_ = TRY(compile_filter());
  builder.proc_ = TRY(os::open("/proc", O_RDONLY | O_DIRECTORY));
  builder.null_ = TRY(os::open("/dev/null", O_RDWR));
  builder.cover_ = choose_cover(builder.proc_.get());
  builder.ignored_signals_ = ignored_signals();
  builder.cgroup_parent_ =
      options.cgroup_parent.empty() ? CgroupTree::spawner_parent(::getpid()) : options.cgroup_parent;
  builder.cgroups_ = TRY_CONTEXT("control groups", CgroupTree::create(builder.cgroup_parent_));
  // Before the first sandbox: what is in the groups now belonged to a spawner that was killed.
  builder.cgroups_.clear_leftovers();
  builder.image_place_ = ImagePlace::open(options.image_directory);
  if (auto control = os::open("/dev/loop-control", O_RDWR)) builder.loop_control_ = std::move(*control);
  // Everything above is opened while the host's files can still be seen.
  TRY(builder.leave_host(options.roots));
  TRY(os::make_all_private());
  const auto room = [&](const std::string& at) { return builder.make_mappable_room(at); };
  TRY_CONTEXT("tiny root", move_into_tiny_root("/tmp", options, builder.privileges_, room));
  builder.own_mounts_ = TRY(os::open_at(builder.proc_.get(), "self/ns/mnt", O_RDONLY));
  builder.views_ = ProcViews(builder.proc_.get(), tiny::kView);
  builder.realtime_ = options.realtime && go_realtime();
  builder.probed_.missing = builder.cgroups_.missing();
  return builder;
}

Result<void> SandboxBuilder::leave_host(const RootPaths& paths) {
  host_mounts_ = TRY(os::own_namespace("mnt"));
  roots_ = TRY(Roots::open(paths));
  // As root this is all. Otherwise a user namespace comes first, in which we are root.
  if (::unshare(CLONE_NEWNS) == 0) return {};
  if (errno != EPERM) return fail(errno_error(errno, "make a mount namespace"));
  privileges_ = TRY(become_rootless());
  // A copy of the host's mounts that this user may enter and leave; what the host mounts later shows in it.
  if (::unshare(CLONE_NEWNS) < 0)
    return fail(
        Error(Code::unsupported, "native sandboxes need root or user namespaces; " + user_namespace_remedy())
            .with_detail("unshare mount namespace"));
  host_mounts_ = TRY(os::open_at(proc_.get(), "self/ns/mnt", O_RDONLY));
  // Of that copy: what is mounted elsewhere cannot be copied from it.
  roots_ = TRY(Roots::open(paths));
  if (::unshare(CLONE_NEWNS) < 0) return fail(errno_error(errno, "make a mount namespace"));
  return {};
}

// Each sandbox sees our own layers with its own ids, by a map on the mount. Before Linux 6.3 a tmpfs cannot
// have one: then they lie in a small disk image. Where there is none either, `idmapped_layers` is missing.
Result<void> SandboxBuilder::make_mappable_room(const std::string& at) {
  if (privileges_.rootless) return {};
  const os::Fd map = TRY(make_user_namespace(proc_.get(), {.first = kIdsPerSandbox}));
  const os::Fd copy = TRY(os::clone_mount(AT_FDCWD, at.c_str(), Subtree::no));
  if (os::change_mount(copy.get(), "", Subtree::no, {.user_namespace = map.get()})) return {};
  if (!image_place_.usable()) return {};
  constexpr ImageSize size{.bytes = 64 << 20, .inodes = 8192};
  auto image = make_image(image_place_, size, at + kLoops, host_mounts_.get());
  if (!image) return {};
  const std::string place = at + "/room";
  TRY(os::make_directory(place));
  TRY(os::attach(image->get(), AT_FDCWD, place.c_str()));
  for (const char* name : {tiny::kSkeleton, tiny::kCover}) {
    TRY(os::make_directory(place + name));
    TRY(os::bind((place + name).c_str(), (at + name).c_str()));
  }
  return {};
}

Result<void> SandboxBuilder::thaw(const Built& built) {
  if (cgroups_.has(Controller::unified)) return cgroups_.thaw(built.parts.group);
  return continue_tree(proc_.get(), built.pid);
}

void SandboxBuilder::begin() {
  // Before the thread: it forks.
  images_ =
      ImageMaker({.place = std::move(image_place_), .nodes = kLoops, .host_mounts = host_mounts_.get()});
  parts_pool_ = std::make_unique<PartsPool>(PartsPool::Setting{
      .proc = proc_.get(), .cgroups = &cgroups_, .privileges = &privileges_, .ready = slots_wanted_});
}

void SandboxBuilder::close() {
  parts_pool_->close();
  cgroups_.remove_parent();
}

bool SandboxBuilder::enter_host() {
  return os::enter_namespace(host_mounts_.get(), CLONE_NEWNS).has_value();
}

bool SandboxBuilder::leave_host_again() {
  return os::enter_namespace(own_mounts_.get(), CLONE_NEWNS).has_value();
}

Result<VolumeDiskJob> SandboxBuilder::volume_job(const std::string& directory, std::uint64_t bytes,
                                                 std::uint64_t inodes) const {
  VolumeDiskJob job{.loop_control = loop_control_.get(), .bytes = bytes, .inodes = inodes, .nodes = kLoops};
  job.directory = TRY(roots_.mount(directory, Roots::Access::write));
  return job;
}

Result<void> SandboxBuilder::keep_volume(const std::string& directory, os::Fd mount) {
  if (!mount.is_open()) return fail(Code::provider_failed, "a volume's filesystem came without its mount");
  TRY(os::make_directory(kVolumes));
  std::string place = fmt::format("{}/{}", kVolumes, ++volume_serial_);
  TRY(os::make_directory(place));
  TRY_CONTEXT("attach a volume's filesystem", os::attach(mount.get(), AT_FDCWD, place.c_str()));
  volumes_[directory] = std::move(place);
  return {};
}

std::optional<std::string> SandboxBuilder::volume_directory(const std::string& directory) const {
  const auto found = volumes_.find(directory);
  if (found == volumes_.end()) return std::nullopt;
  return found->second;
}

void SandboxBuilder::drop_volume(const std::string& directory) {
  const auto node = volumes_.extract(directory);
  if (node.empty()) return;
  // Whoever closes the last descriptor of a filesystem waits until the disk has everything. This one is
  // handed to the process that makes images, so that the spawner does not wait.
  auto last = os::open(node.mapped().c_str(), O_PATH | O_DIRECTORY);
  (void)os::detach(node.mapped().c_str());
  ::rmdir(node.mapped().c_str());
  if (last) images_.take_down(std::move(*last));
}

std::optional<Result<os::Fd>> SandboxBuilder::from_volume(const std::string& path,
                                                          const os::Fd& user_namespace, bool writable) {
  const std::size_t slash = path.rfind('/');
  const auto found = slash == std::string::npos ? volumes_.end() : volumes_.find(path.substr(0, slash));
  if (found == volumes_.end()) return std::nullopt;
  const auto shared = [&]() -> Result<os::Fd> {
    // One name beneath its top, and no link: what a daemon asks for and what a guest has put there lead
    // nowhere else.
    const os::Fd top = TRY_CONTEXT("volume", os::open(found->second.c_str(), O_PATH | O_DIRECTORY));
    const std::string name = path.substr(slash + 1);
    if (name.empty() || name == "." || name == "..")
      return fail(Code::permission_denied, "this is no part of a volume");
    const os::Fd part =
        TRY_CONTEXT("volume", os::open_beneath(top.get(), name.c_str(), O_PATH | O_DIRECTORY));
    os::Fd mount = TRY_CONTEXT("volume", os::clone_mount(part.get(), "", Subtree::no));
    os::MountChange change{.user_namespace = user_namespace.get()};
    change.set = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID | (writable ? 0U : MOUNT_ATTR_RDONLY);
    TRY_CONTEXT("volume", os::change_mount(mount.get(), "", Subtree::no, change));
    return mount;
  };
  return shared();
}

Result<os::Fd> SandboxBuilder::map_for_owner(const os::Fd& directory, const Slot& slot) {
  struct stat info {};
  if (::fstat(directory.get(), &info) < 0) return fail(errno_error(errno, "directory to mount"));
  // The group too: nobody may write to what has an owner that the map does not know.
  const std::uint32_t user = slot.ids.outside(1000);
  return make_user_namespace(proc_.get(), {.first = user, .count = 1, .inside = info.st_uid},
                             {.first = user, .count = 1, .inside = info.st_gid});
}

Result<os::Fd> SandboxBuilder::from_host(int directory, const char* path, const os::Fd& user_namespace,
                                         bool writable) {
  // A mount can be cloned only from the namespace that it is in: enter the host's for this one call.
  TRY(os::enter_namespace(host_mounts_.get(), CLONE_NEWNS));
  const Subtree below = privileges_.rootless ? Subtree::yes : Subtree::no;
  auto mount = os::clone_mount(directory, path, below);
  TRY(os::enter_namespace(own_mounts_.get(), CLONE_NEWNS));
  if (!mount) return fail(std::move(mount).error().context("directory of the host"));
  os::MountChange change{.user_namespace = user_namespace.get()};
  change.set = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID | (writable ? 0U : MOUNT_ATTR_RDONLY);
  if (privileges_.rootless) {
    change.user_namespace = -1;
    TRY(os::change_mount(mount->get(), "", below, change));
  } else if (!os::change_mount(mount->get(), "", Subtree::no, change)) {
    // Without a map of ids a guest would write with ids of the host.
    if (writable)
      return fail(Code::unsupported, "this filesystem cannot be shared with a sandbox for writing");
    change.user_namespace = -1;
    TRY(os::change_mount(mount->get(), "", Subtree::no, change));
  }
  return std::move(*mount);
}

Result<void> SandboxBuilder::gather_mounts(const Spec& spec, WallPlan& plan) {
  const os::Fd& map = plan.slot.user_namespace;
  const auto layer = [&](int directory, const char* path) -> Result<os::Fd> {
    os::Fd mount = TRY(from_host(directory, path, map, false));
    // A layer of the root decides itself about set-uid programs: the overlay over it has the last word.
    if (!privileges_.rootless)
      TRY(os::change_mount(mount.get(), "", Subtree::no, {.clear = MOUNT_ATTR_NOSUID}));
    return mount;
  };
  for (const std::string& path : spec.layers) {
    const os::Fd tree = TRY(roots_.layer(path));
    plan.layer_mounts.push_back(TRY(layer(tree.get(), "")));
  }
  if (spec.snapshot) {
    const auto part = [&](const char* name) -> Result<os::Fd> {
      const os::Fd tree = TRY(roots_.snapshot_part(*spec.snapshot, name));
      return layer(tree.get(), "");
    };
    plan.layer_mounts.push_back(TRY_CONTEXT("snapshot", part("root")));
    if (plan.host_view) plan.snapshot_usr = TRY_CONTEXT("snapshot", part("usr"));
  }
  if (plan.host_view)
    for (const layer::HostPart& part : host_parts_)
      if (part.inside != "usr")
        plan.binds.push_back({TRY(layer(AT_FDCWD, part.host_path.c_str())), "/" + part.inside});
  for (const HostMount& mount : spec.host_mounts) TRY(add_host_mount(mount, plan));
  return {};
}

Result<void> SandboxBuilder::add_host_mount(const HostMount& mount, WallPlan& plan) {
  const os::Fd& ids = plan.slot.user_namespace;
  // What is shown in the working directory, as skills are, stands where a snapshot or an earlier program may
  // have left a link.
  const bool is_shown = !mount.writable && mount.guest_path.starts_with(plan.spec.working_directory + "/");
  const std::string cleared_below = is_shown ? plan.spec.working_directory : std::string();
  if (auto volume = privileges_.rootless ? std::nullopt : from_volume(mount.host_path, ids, mount.writable)) {
    plan.binds.push_back({TRY(std::move(*volume)), mount.guest_path, cleared_below});
    return {};
  }
  const auto access = mount.writable ? Roots::Access::write : Roots::Access::read;
  const os::Fd directory = TRY(roots_.mount(mount.host_path, access));
  if (privileges_.rootless && mount.writable && !privileges_.has_one_id())
    return fail(
        Error(Code::unsupported,
              "an ordinary user cannot share a directory with a sandbox for writing: start atoll as root, "
              "or mount it read-only")
            .with_field("host_mounts"));
  os::Fd owner;
  if (!privileges_.rootless && mount.ids == MountIds::owner) owner = TRY(map_for_owner(directory, plan.slot));
  const os::Fd& map = owner.is_open() ? owner : plan.slot.user_namespace;
  plan.binds.push_back(
      {TRY(from_host(directory.get(), "", map, mount.writable)), mount.guest_path, cleared_below});
  return {};
}

Result<std::vector<os::Fd>> SandboxBuilder::zygote_layers(const std::vector<std::string>& paths) {
  std::vector<os::Fd> mounts;
  if (!paths.empty() && !roots_.may_trust(paths))
    return fail(Code::permission_denied, "the spawner was not told that these layers can be trusted");
  for (const std::string& path : paths) {
    const os::Fd tree = TRY(roots_.layer(path));
    mounts.push_back(TRY(from_host(tree.get(), "", os::Fd(), false)));
    struct stat info {};
    if (::fstat(mounts.back().get(), &info) < 0) return fail(errno_error(errno, "look at a layer"));
    // Programs of the zygote run as root until it has dropped its privileges.
    if (info.st_uid != 0 || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return fail(Code::permission_denied, "somebody else than root could change a layer");
  }
  return mounts;
}

std::optional<ImageSize> SandboxBuilder::image_for(const Spec& spec) const {
  const Limits& limits = spec.limits;
  // A small writable layer lies in memory, which is faster; only a large one would crowd out the programs.
  if (limits.disk_bytes <= limits.memory_bytes / 2 || !images_.usable()) return std::nullopt;
  return image_class(limits.disk_bytes, limits.inodes_max);
}

Result<void> SandboxBuilder::map_layers(const Spec& spec, Slot& slot) {
  if (!privileges_.rootless || spec.layers.empty()) return {};
  slot.ids = rootless_layer_ids(privileges_, spec.user);
  const std::lock_guard lock(parts_pool_->users());
  slot.user_namespace = TRY(make_user_namespace(proc_.get(), slot.ids));
  return {};
}

Result<Built> SandboxBuilder::build(const Spec& asked, Disk disk) {
  Built built;
  built.on_disk = disk.mount.is_open();
  // Images come in sizes of their own: the limit that is reported is that of the image, not the one asked
  // for.
  std::optional<Spec> sized;
  if (built.on_disk) sized = asked, sized->limits.disk_bytes = disk.size.bytes;
  // Never the last descriptor of it: closing that would wait for the disk.
  os::Fd held(built.on_disk ? ::fcntl(disk.mount.get(), F_DUPFD_CLOEXEC, 0) : -1);
  const Spec& spec = sized ? *sized : asked;
  built.parts = TRY_CONTEXT("control group and namespaces", parts_pool_->take(asked.limits));
  WallReport report;
  auto made = [&]() -> Result<void> {
    TRY_CONTEXT("map the ids of layers", map_layers(spec, built.parts.slot));
    os::SocketPair stream = TRY_CONTEXT("line to the guest", os::socket_pair(os::SocketKind::stream));
    os::SocketPair handover = TRY_CONTEXT("line to the guest", os::socket_pair(os::SocketKind::packets));
    WallPlan plan{.spec = spec,
                  .slot = built.parts.slot,
                  .filter = filter_,
                  .cgroups = cgroups_,
                  .privileges = privileges_,
                  .cover = cover_,
                  .ignored_signals = ignored_signals_};
    plan.group = built.parts.group;
    plan.view = TRY_CONTEXT("what /proc shows", views_.at(spec.limits));
    plan.machine_id = random_hex(16);
    plan.boot_id = random_uuid();
    plan.host_view = spec.layers.empty();
    plan.realtime = realtime_;
    plan.stream_fd = stream.second.get();
    plan.handover_fd = handover.second.get();
    report.isolation.walls = built.parts.limit_walls;
    plan.image_mount = std::move(disk.mount);
    if (!built.on_disk && spec.limits.disk_bytes > spec.limits.memory_bytes / 2)
      report.isolation.missing.push_back(
          {"disk_image", "files count as memory: loop devices and e2fsprogs are needed"});
    TRY_CONTEXT("layers and directories", gather_mounts(spec, plan));
    built.plain_usr = has_plain_usr(spec, plan);
    int pidfd = -1;
    os::Fd first_group;
    if (cgroups_.has(Controller::unified))
      first_group = TRY_CONTEXT("control group", cgroups_.open_v2(plan.group));
    plan.starts_in_group = first_group.is_open();
    {
      // The child changes its user in the memory that it shares with us, which closes /proc/<pid> of whoever
      // has that memory; an ordinary user needs it to map the ids of the next.
      std::unique_lock<std::mutex> users;
      if (privileges_.rootless) users = std::unique_lock(parts_pool_->users());
      built.pid = start_child(plan, report, first_group.get(), pidfd);
      if (privileges_.rootless) ::prctl(PR_SET_DUMPABLE, 1);
    }
    // The child put its ends there, in the table that it shared with us.
    ::dup3(null_.get(), kStreamFd, O_CLOEXEC);
    ::dup3(null_.get(), kHandoverFd, O_CLOEXEC);
    if (built.pid < 0) return fail(errno_error(static_cast<int>(-built.pid), "make namespaces"));
    built.pidfd = os::Fd(pidfd);
    built.stream = std::move(stream.first);
    built.handover = std::move(handover.first);
    if (report.error) return fail(std::move(*report.error));
    for (Wall& wall : cgroups_.missing()) report.isolation.missing.push_back(std::move(wall));
    if (const std::string wall = missing_wall(report.isolation, spec.required_walls); !wall.empty())
      return fail(cannot_give(wall, report.isolation));
    return {};
  }();
  if (!made) {
    if (built.pidfd.is_open()) {
      (void)os::pidfd_kill(built.pidfd.get(), SIGKILL);
      // Gone before its control group is given back.
      (void)os::pidfd_wait(built.pidfd.get());
    }
    report.upper.reset();
    if (held.is_open()) images_.take_down(std::move(held));
    parts_pool_->give_back(std::move(built.parts), 0);
    return fail(std::move(made).error());
  }
  built.upper = std::move(report.upper);
  built.isolation = std::move(report.isolation);
  return built;
}

}  // namespace atl::sandbox::native
