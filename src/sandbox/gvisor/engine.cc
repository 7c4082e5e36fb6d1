#include "sandbox/gvisor/engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <thread>

#include "base/ids.h"
#include "base/log.h"
#include "layer/host_view.h"
#include "os/file.h"
#include "os/mount.h"
#include "os/process.h"
#include "os/tree_size.h"
#include "sandbox/container/group_reader.h"
#include "sandbox/gvisor/bundle.h"
#include "sandbox/gvisor/overlay_apply.h"
#include "sandbox/gvisor/read_back.h"

namespace atl::sandbox::gvisor {
namespace {

constexpr const char* kGroupParent = "/atoll-gvisor";
constexpr const char* kMemory = "memory";      // of a checkpoint: what runsc wrote
constexpr const char* kNotes = "gvisor.json";  // of a checkpoint: what the daemon wants to know again
constexpr const char* kDraftSuffix = ".part";
// What is in every writable layer from the start is not the workload's.
constexpr std::uint64_t kOwnInodes = 32;
// A disk image has no more inodes than blocks.
constexpr std::uint64_t kBytesOfInode = 4096;
constexpr std::chrono::seconds kEndPatience{10};

// How other programs can name a descriptor of this process.
std::string path_of(const os::Fd& fd) {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), fd.get());
}

// The directory at a path of which nobody but root can rename a part: who the service became may own the way
// to it, and runsc does as root what files in there say. In this mount namespace only.
Result<std::string> hold(const std::string& directory) {
  constexpr const char* kHeld = "/run/atoll";
  const os::Fd opened = TRY(os::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
  struct stat facts {};
  if (::fstat(opened.get(), &facts) < 0 || facts.st_uid != ::geteuid() || (facts.st_mode & 022) != 0)
    return fail(Code::permission_denied, directory + " does not belong to root alone: remove it");
  TRY(os::make_directory(kHeld, 0700));
  os::FilesystemContext tmpfs = TRY(os::FilesystemContext::open("tmpfs"));
  TRY(tmpfs.set("mode", "0711"));
  const os::Fd mount = TRY(tmpfs.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  TRY(os::attach(mount.get(), AT_FDCWD, kHeld));
  // Whoever reads a list of processes sees whose they are.
  std::string held = kHeld + directory;
  TRY(os::make_directories(held, 0700));
  const os::Fd copy = TRY(os::clone_mount(opened.get(), "", os::Subtree::no));
  TRY(os::attach(copy.get(), AT_FDCWD, held.c_str()));
  return held;
}

Result<void> copy_tree(const std::string& from, const std::string& to) {
  if (os::list_directory_at(AT_FDCWD, from.c_str()).empty()) return {};
  auto done = ask_command({.program = "/bin/cp",
                           .arguments = {"-a", "--", from + "/.", to},
                           .patience = std::chrono::milliseconds(600'000)});
  if (done) return {};
  if (done.error().detail().find("No space left") != std::string::npos)
    return fail(Error(Code::no_space, "there is no room for the files").with_detail(done.error().detail()));
  return fail(std::move(done).error().context("copy files"));
}

// What runsc said last about why it failed.
std::string last_words(const std::string& file) {
  const std::string text = os::read_file(file).value_or("");
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t start = text.rfind('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1, end + 1).substr(0, 500);
}

}  // namespace

Result<Privileges> enter_namespace() {
  Privileges privileges = TRY(become_rootless());
  if (!privileges.has_one_id()) return privileges;
  return fail(
      Code::unsupported,
      "without root the provider gvisor needs a range of ids, because runsc makes none of its sandboxes "
      "with one id: start atoll as root, or give it one: " +
          privileges.lacks_ids);
}

Isolation probed(const Runsc& runsc, bool has_groups) {
  Isolation isolation;
  isolation.walls.push_back(
      {"user_space_kernel", fmt::format("gVisor, runsc {} {}", runsc.version, runsc.platform)});
  if (!has_groups)
    isolation.missing.push_back(
        {"limits",
         "runsc can make no control groups here, so that memory, processor and number "
         "of processes are neither limited nor counted: start atoll as root"});
  if (!runsc.leaves_running)
    isolation.missing.push_back({"runsc",
                                 "this one is old: forks end and restore their original, ls and stat fail "
                                 "inside; name a current one in provider.gvisor.runsc"});
  return isolation;
}

Result<Engine> Engine::open(EngineOptions options) {
  Engine engine(std::move(options));
  TRY(engine.set_up());
  return engine;
}

Result<void> Engine::set_up() {
  const std::string& directory = options_.directory;
  TRY(os::make_directories(directory, 0700));
  const bool is_root = ::geteuid() == 0;
  if (!is_root) privileges_ = TRY(enter_namespace());
  if (::unshare(CLONE_NEWNS) < 0) return fail(errno_error(errno, "make a mount namespace"));
  TRY(os::make_all_private());
  if (is_root) options_.directory = TRY_CONTEXT("hold the directory", hold(directory));
  clear_leftovers();
  for (const char* name : {"/state", "/boxes", "/shared"}) TRY(os::make_directory(directory + name, 0700));
  // In memory and in this namespace only: it goes with the broker.
  for (const char* name : {"/boxes", "/shared"}) {
    os::FilesystemContext tmpfs = TRY(os::FilesystemContext::open("tmpfs"));
    TRY(tmpfs.set("mode", "0711"));
    const os::Fd mount = TRY(tmpfs.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
    TRY(os::attach(mount.get(), AT_FDCWD, (directory + name).c_str()));
  }
  const std::string shared = directory + "/shared";
  for (const char* name : {"/skeleton", "/cover", "/program", "/program/.atoll"})
    TRY(os::make_directory(shared + name));
  TRY_CONTEXT("host view", layer::build_skeleton(shared + "/skeleton"));
  TRY_CONTEXT("host view", layer::build_usr_cover(shared + "/cover", {}, overlay_attributes()));
  TRY(os::write_file(shared + "/program" + kGuestProgram, options_.guest_program, 0555));
  layers_ = Roots::open(options_.roots.layers);
  snapshots_ = Roots::open(options_.roots.snapshots);
  mounts_ = Roots::open(options_.roots.mounts);
  writable_mounts_ = Roots::open(options_.roots.writable_mounts);
  limits_by_groups_ = can_make_groups();
  return {};
}

// Containers of a broker that was killed: their guests have lost their streams and ended; names and groups
// are left.
void Engine::clear_leftovers() const {
  const std::string state = options_.directory + "/state";
  const auto directory = os::open(state.c_str(), O_RDONLY | O_DIRECTORY);
  if (!directory) return;
  auto names = ask_command({.program = options_.runsc.program,
                            .arguments = {"--root", state, "list", "-quiet"},
                            .patience = std::chrono::milliseconds(10'000)});
  std::string name;
  for (const char letter : names.value_or("")) {
    if (letter != '\n') {
      name += letter;
      continue;
    }
    (void)ask({"delete", "-force", name});
    name.clear();
  }
  if (const auto parent = os::open(options_.directory.c_str(), O_RDONLY | O_DIRECTORY)) {
    (void)os::detach((state + "/null-netns").c_str());
    (void)os::remove_tree(parent->get(), "state");
  }
}

std::vector<std::string> Engine::global_flags(bool shares_mounts) const {
  const Runsc& runsc = options_.runsc;
  std::vector<std::string> flags{
      "--root",
      options_.directory + "/state",
      "--platform=" + runsc.platform,
      "--network=none",
      "--overlay2=none",
      "--file-access=exclusive",
      shares_mounts ? "--file-access-mounts=shared" : "--file-access-mounts=exclusive"};
  if (!limits_by_groups_) flags.emplace_back("--ignore-cgroups");
  // Files are opened by a process of their own, not by the kernel that hostile code talks to. The bundle of a
  // copy differs from its original's in paths only, which is what the check would complain about.
  if (runsc.leaves_running)
    flags.insert(flags.end(), {"--directfs=false", "--restore-spec-validation=ignore"});
  return flags;
}

Result<void> Engine::ask(std::vector<std::string> arguments, int seconds) const {
  std::vector<std::string> all = global_flags(false);
  const std::string verb = arguments.empty() ? "" : arguments.front();
  all.insert(all.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  auto done = ask_command({.program = options_.runsc.program,
                           .arguments = std::move(all),
                           .patience = std::chrono::milliseconds(seconds * 1000)});
  if (!done) return fail(std::move(done).error().context("runsc " + verb));
  return {};
}

Result<void> Engine::make_upper(const std::string& box, const Spec& spec, Isolation& isolation) const {
  const Limits& limits = spec.limits;
  const std::string upper = box + "/upper";
  TRY(os::make_directory(upper));
  // Pages of a filesystem in memory count as the sandbox's memory: more than half of that belongs on the
  // disk.
  // (Without root there are no control groups that would count it, and no disk image can be mounted.)
  if (limits.disk_bytes <= limits.memory_bytes / 2 || privileges_.rootless) {
    os::FilesystemContext tmpfs = TRY(os::FilesystemContext::open("tmpfs"));
    TRY(tmpfs.set("size", std::to_string(limits.disk_bytes)));
    TRY(tmpfs.set("nr_inodes", std::to_string(limits.inodes_max + kOwnInodes)));
    TRY(tmpfs.set("mode", "0755"));
    const os::Fd mount = TRY(tmpfs.mount(MOUNT_ATTR_NODEV));
    TRY(os::attach(mount.get(), AT_FDCWD, upper.c_str()));
    isolation.walls.push_back({"disk_limit", fmt::format("{} bytes and {} inodes, in memory",
                                                         limits.disk_bytes, limits.inodes_max)});
  } else {
    const std::string image = options_.directory + "/" + box.substr(box.rfind('/') + 1) + ".disk";
    const os::Fd file = TRY(os::open(image.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    if (::ftruncate(file.get(), static_cast<off_t>(limits.disk_bytes)) < 0)
      return fail(errno_error(errno, "make the disk image"));
    const std::uint64_t inodes = std::min(limits.inodes_max + kOwnInodes, limits.disk_bytes / kBytesOfInode);
    TRY_CONTEXT("make the disk image",
                ask_command({.program = "/sbin/mkfs.ext4",
                             .arguments = {"-q", "-F", "-m", "0", "-N", std::to_string(inodes), "-O",
                                           "^has_journal", "-E", "lazy_itable_init=1,nodiscard", image}}));
    TRY_CONTEXT("mount the disk image",
                ask_command({.program = "/bin/mount", .arguments = {"-o", "loop,nodev", image, upper}}));
    isolation.walls.push_back(
        {"disk_limit", fmt::format("{} bytes and {} inodes, disk image", limits.disk_bytes, inodes)});
    ::unlink(image.c_str());
  }
  for (const char* name : {"/root", "/root.work", "/usr", "/usr.work"}) TRY(os::make_directory(upper + name));
  return {};
}

Result<void> Engine::fill_upper(const std::string& box, const Spec& spec, bool memory) const {
  const std::string root = box + "/upper/root";
  if (spec.snapshot) {
    const os::Fd snapshot = TRY(snapshots_.directory(*spec.snapshot));
    for (const char* part : {"root", "usr"}) {
      const auto tree = os::open_beneath(snapshot.get(), part, O_PATH | O_DIRECTORY);
      if (tree) TRY(copy_tree(path_of(*tree), box + "/upper/" + part));
    }
  }
  // What goes on has these files open, perhaps.
  if (memory) return {};
  TRY(os::make_directory(root + "/etc"));
  const std::string hosts = fmt::format(
      "127.0.0.1\tlocalhost\n127.0.1.1\t{}\n::1\tlocalhost ip6-localhost ip6-loopback\n", spec.hostname);
  TRY(os::write_file(root + "/etc/machine-id", random_hex(16) + "\n"));
  TRY(os::write_file(root + "/etc/hostname", spec.hostname + "\n"));
  TRY(os::write_file(root + "/etc/hosts", hosts));
  return os::write_file(root + "/etc/resolv.conf", "nameserver 127.0.0.1\n");
}

Result<void> Engine::mount_root(const std::string& box, const Spec& spec) const {
  const auto overlay = [&](const std::vector<std::string>& lowers, const std::string& part,
                           const std::string& at) -> Result<void> {
    std::string top_first;
    for (const std::string& lower : lowers) top_first = top_first.empty() ? lower : lower + ":" + top_first;
    os::FilesystemContext context = TRY(os::FilesystemContext::open("overlay"));
    TRY(context.set("lowerdir", top_first));
    TRY(context.set("upperdir", box + "/upper/" + part));
    TRY(context.set("workdir", box + "/upper/" + part + ".work"));
    if (privileges_.rootless) TRY(context.set_flag("userxattr"));
    const os::Fd mount = TRY(context.mount(MOUNT_ATTR_NODEV));
    return os::attach(mount.get(), AT_FDCWD, at.c_str());
  };
  const std::string shared = options_.directory + "/shared", root = box + "/rootfs";
  TRY(os::make_directory(root));
  std::vector<std::string> lowers{shared + "/program"};
  std::vector<os::Fd> layers;
  if (spec.layers.empty()) lowers.push_back(shared + "/skeleton");
  for (const std::string& path : spec.layers) {
    layers.push_back(TRY(layers_.directory(path)));
    lowers.push_back(fmt::format("/proc/self/fd/{}", layers.back().get()));
  }
  TRY_CONTEXT("mount the root", overlay(lowers, "root", root));
  if (spec.layers.empty())
    TRY_CONTEXT("mount /usr", overlay({"/usr", shared + "/cover"}, "usr", root + "/usr"));
  // Mount points that an imported layer may lack.
  for (const char* name : {"/proc", "/dev", "/tmp", "/home"}) TRY(os::make_directory(root + name));
  return {};
}

Result<void> Engine::write_bundle(const std::string& box, const std::string& container,
                                  const Spec& spec) const {
  BundleOptions options{.container = container, .root = box + "/rootfs", .group = {}, .mounts = {}};
  if (limits_by_groups_) options.group = std::string(kGroupParent) + "/" + container;
  int number = 0;
  for (const HostMount& mount : spec.host_mounts) {
    const Roots& roots = mount.writable ? writable_mounts_ : mounts_;
    auto found = roots.directory(mount.host_path);
    if (!found && !mount.writable) found = writable_mounts_.directory(mount.host_path);
    const os::Fd source = TRY(std::move(found));
    const os::Fd copy = TRY(os::clone_mount(source.get(), "", os::Subtree::yes));
    const std::string at = fmt::format("{}/mount-{}", box, number++);
    TRY(os::make_directory(at));
    TRY(os::attach(copy.get(), AT_FDCWD, at.c_str()));
    options.mounts.push_back({at, mount.guest_path, mount.writable});
  }
  return os::write_file(box + "/config.json", bundle_config(spec, options), 0600);
}

namespace {

pid_t pid_in(const std::string& file) {
  const std::string text = os::read_file(file).value_or("");
  pid_t pid = 0;
  std::from_chars(text.data(), text.data() + text.size(), pid);
  return pid;
}

}  // namespace

Result<pid_t> Engine::launch(const std::string& box, const std::string& container, Beginning beginning,
                             const std::string& image, int stream, bool shares_mounts) const {
  static constexpr const char* kVerbs[] = {"run", "restore", "create"};
  static constexpr const char* kWords[] = {"start", "restore", "make"};
  const auto which = static_cast<std::size_t>(beginning);
  const std::string errors = box + "/errors", pid_file = box + "/pid";
  const os::Fd error = TRY(os::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
  Command command{.program = options_.runsc.program, .arguments = global_flags(shares_mounts)};
  command.arguments.emplace_back(kVerbs[which]);
  if (beginning == Beginning::restore)
    command.arguments.insert(command.arguments.end(), {"--image-path", image});
  if (beginning != Beginning::create) command.arguments.emplace_back("--detach");
  command.arguments.insert(command.arguments.end(), {"--pid-file", pid_file, "--bundle", box, container});
  command.input = stream, command.output = stream, command.error = error.get();
  command.patience = std::chrono::milliseconds(60'000);
  if (auto done = run_command(command); !done) {
    const std::string words = last_words(errors);
    return fail(Error(done.error().code(), fmt::format("runsc could not {} the sandbox", kWords[which]))
                    .with_detail(words.empty() ? done.error().message() : words));
  }
  const pid_t pid = pid_in(pid_file);
  if (pid <= 1) return fail(Code::provider_failed, "runsc does not tell its process");
  return pid;
}

Result<Started> Engine::create(const std::string& container, const Spec& spec, bool memory,
                               int stream) const {
  const std::string at = box(container);
  const auto make = [&]() -> Result<Started> {
    Started started;
    TRY(os::make_directory(at, 0700));
    TRY_CONTEXT("writable layer", make_upper(at, spec, started.isolation));
    TRY_CONTEXT("writable layer", fill_upper(at, spec, memory));
    TRY(mount_root(at, spec));
    TRY(write_bundle(at, container, spec));
    os::Fd snapshot;
    std::string image;
    if (memory && spec.snapshot) {
      snapshot = TRY(snapshots_.directory(*spec.snapshot));
      image = path_of(snapshot) + "/" + kMemory;
    }
    started.pid = TRY(launch(at, container, image.empty() ? Beginning::run : Beginning::restore, image,
                             stream, !spec.host_mounts.empty()));
    read_back({.spec = spec, .runsc = options_.runsc, .pid = started.pid, .container = container}, started);
    return started;
  };
  auto made = make();
  if (!made) remove(at, container);
  return made;
}

Result<Started> Engine::prepare(const std::string& container, const Spec& spec, int stream) const {
  const std::string at = box(container);
  const auto make = [&]() -> Result<Started> {
    Started started;
    TRY(os::make_directory(at, 0700));
    TRY_CONTEXT("writable layer", make_upper(at, spec, started.isolation));
    TRY(mount_root(at, spec));
    TRY(write_bundle(at, container, spec));
    started.pid = TRY(launch(at, container, Beginning::create, "", stream, false));
    if (const auto reader = container::GroupReader::of_process(started.pid, container))
      started.groups = reader->paths();
    return started;
  };
  auto made = make();
  if (!made) remove(at, container);
  return made;
}

Result<Started> Engine::fill(const std::string& container, const Spec& spec) const {
  const std::string at = box(container);
  const os::Fd snapshot = TRY(snapshots_.directory(spec.snapshot.value_or("")));
  const std::pair<const char*, std::string> parts[] = {{"root", at + "/rootfs"}, {"usr", at + "/rootfs/usr"}};
  for (const auto& [part, where] : parts) {
    const auto saved = os::open_beneath(snapshot.get(), part, O_RDONLY | O_DIRECTORY);
    // Layers bring a /usr of their own, which is no filesystem for itself.
    if (!saved || (!spec.layers.empty() && std::string_view(part) == "usr")) continue;
    const os::Fd merged = TRY(os::open(where.c_str(), O_RDONLY | O_DIRECTORY));
    TRY(apply_layer(saved->get(), merged.get(), overlay_attributes()));
  }
  const std::string image = path_of(snapshot) + "/" + kMemory;
  if (auto restored = ask({"restore", "--detach", "--image-path", image, "--bundle", at, container}, 60);
      !restored)
    return fail(Error(Code::unsupported, "runsc could not restore a prepared sandbox")
                    .with_detail(restored.error().message() + ": " + restored.error().detail()));
  Started started;
  started.pid = pid_in(at + "/pid");
  read_back({.spec = spec, .runsc = options_.runsc, .pid = started.pid, .container = container}, started);
  return started;
}

Result<void> Engine::pause(const std::string& container) const {
  return ask({"pause", container});
}

Result<void> Engine::resume(const std::string& container) const {
  return ask({"resume", container});
}

Result<void> Engine::announce_host(const std::string& container) const {
  return ask({"kill", container, "USR1"});
}

Result<void> Engine::copy_upper(const std::string& box, const os::Fd& draft) const {
  for (const char* part : {"root", "usr"}) {
    if (::mkdirat(draft.get(), part, 0755) < 0) return fail(errno_error(errno, "make the snapshot"));
    const os::Fd to = TRY(os::open_beneath(draft.get(), part, O_PATH | O_DIRECTORY));
    TRY(copy_tree(box + "/upper/" + part, path_of(to)));
  }
  return {};
}

namespace {

// Makes "NAME.part", fills it, and gives it its name when it is complete, or, if it must outlive the power,
// when all of it is on the disk. The service may own the directory of snapshots: `fill` is given the draft as
// a descriptor, and only if it is the one that was made here.
template <class Fill>
Result<void> make_whole(const Place& place, Durable durable, Fill fill) {
  const os::Fd parent = TRY(os::open_at(place.directory.get(), ".", O_RDONLY | O_DIRECTORY));
  const std::string name = place.name + kDraftSuffix;
  TRY(os::remove_tree(parent.get(), name));
  if (::faccessat(parent.get(), place.name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
    return fail(Code::already_exists, "there is a snapshot of that name");
  if (::mkdirat(parent.get(), name.c_str(), 0755) < 0) return fail(errno_error(errno, "make the snapshot"));
  const os::Fd draft = TRY(os::open_beneath(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY));
  struct stat facts {};
  if (::fstat(draft.get(), &facts) < 0 || facts.st_uid != ::geteuid())
    return fail(Code::permission_denied, "somebody else put a directory in the snapshot's place");
  Result<void> done = fill(draft);
  if (done && durable == Durable::yes && ::syncfs(parent.get()) < 0)
    done = fail(errno_error(errno, "write the snapshot"));
  if (done && ::renameat(parent.get(), name.c_str(), parent.get(), place.name.c_str()) < 0)
    done = fail(errno_error(errno, "name the snapshot"));
  if (!done) (void)os::remove_tree(parent.get(), name);
  return done;
}

}  // namespace

Result<void> Engine::snapshot(const std::string& box, const std::string& target) const {
  return make_whole(TRY(snapshots_.place(target)), Durable::yes,
                    [&](const os::Fd& draft) { return copy_upper(box, draft); });
}

Result<Engine::Saved> Engine::checkpoint(const std::string& box, const std::string& container,
                                         const std::string& next, const std::string& target,
                                         const std::string& notes, Durable durable, int stream) const {
  Saved saved;
  const Place place = TRY(snapshots_.place(target));
  TRY(pause(container));
  const bool leaves = options_.runsc.leaves_running;
  bool ended = false;
  auto done = make_whole(place, durable, [&](const os::Fd& draft) -> Result<void> {
    const std::string image = path_of(draft) + "/" + kMemory;
    std::vector<std::string> arguments{"checkpoint", "--image-path", image};
    if (leaves) arguments.emplace_back("--leave-running");
    arguments.push_back(container);
    TRY(ask(std::move(arguments), 300));
    ended = !leaves;
    TRY(copy_upper(box, draft));
    TRY(os::write_file_at(draft.get(), kNotes, notes));
    if (leaves) return {};
    // From the draft: whatever becomes of the snapshot, the sandbox goes on. Its groups are new ones: those
    // of the container that ended go with it.
    std::string config = TRY(os::read_file(box + "/config.json"));
    const std::string group = std::string(kGroupParent) + "/";
    if (const std::size_t at = config.find(group + container); at != std::string::npos)
      config.replace(at + group.size(), container.size(), next);
    TRY(os::write_file(box + "/config.json", config, 0600));
    saved.pid = TRY(launch(box, next, Beginning::restore, image, stream, false));
    saved.replaced = true;
    if (const auto reader = container::GroupReader::of_process(saved.pid, next))
      saved.groups = reader->paths();
    return {};
  });
  if (done) return saved;
  if (!ended) (void)resume(container);
  if (ended) (void)ask({"delete", "-force", container});
  return fail(std::move(done).error());
}

void Engine::finish_checkpoint(const std::string& container, const Saved& saved) const {
  if (saved.replaced)
    (void)ask({"delete", "-force", container});
  else
    (void)resume(container);
}

Result<std::string> Engine::notes(const std::string& snapshot) const {
  const os::Fd directory = TRY(snapshots_.directory(snapshot));
  if (::faccessat(directory.get(), kMemory, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
    return fail(Code::not_found, "the snapshot has no memory");
  return os::read_file_at(directory.get(), kNotes);
}

Result<void> Engine::kill(int pid, const std::vector<std::string>& groups) const {
  const auto reader = container::GroupReader::of_paths(groups);
  (void)os::pidfd_kill(pid, SIGKILL);
  const auto until = std::chrono::steady_clock::now() + kEndPatience;
  pollfd ended{pid, POLLIN, 0};
  while (std::chrono::steady_clock::now() < until) {
    const bool over = ::poll(&ended, 1, 5) > 0;
    if (over && (!reader.counts_processes() || reader.processes() == 0)) return {};
    if (!over) continue;
    for (const pid_t left : group_processes(groups)) ::kill(left, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return fail(Code::provider_failed, "the sandbox does not end");
}

void Engine::remove(const std::string& box, const std::string& container) const {
  (void)ask({"delete", "-force", container});
  for (const std::string& mounted : mounts_below(box)) (void)os::detach(mounted.c_str());
  remove_groups(std::string(kGroupParent) + "/" + container);
  if (const auto parent = os::open(this->box("").c_str(), O_RDONLY | O_DIRECTORY))
    (void)os::remove_tree(parent->get(), box.substr(box.rfind('/') + 1));
  ::unlink((options_.directory + "/" + box.substr(box.rfind('/') + 1) + ".disk").c_str());
}

Result<void> Engine::discard(const std::string& snapshot) const {
  const Place place = TRY(snapshots_.place(snapshot));
  const os::Fd directory = TRY(os::open_at(place.directory.get(), ".", O_RDONLY | O_DIRECTORY));
  TRY(os::remove_tree(directory.get(), place.name + kDraftSuffix));
  return os::remove_tree(directory.get(), place.name);
}

Result<void> Engine::forget_memory(const std::string& snapshot) const {
  const os::Fd found = TRY(snapshots_.directory(snapshot));
  const os::Fd directory = TRY(os::open_at(found.get(), ".", O_RDONLY | O_DIRECTORY));
  TRY(os::remove_tree(directory.get(), kNotes));
  return os::remove_tree(directory.get(), kMemory);
}

Result<std::uint64_t> Engine::measure(const std::string& snapshot) const {
  const os::Fd found = TRY(snapshots_.directory(snapshot));
  const os::Fd directory = TRY(os::open_at(found.get(), ".", O_RDONLY | O_DIRECTORY));
  return TRY(os::measure_tree(directory.get())).bytes;
}

void Engine::close() const {
  clear_leftovers();
  for (const char* name : {"/boxes", "/shared"}) {
    (void)os::detach((options_.directory + name).c_str());
    ::rmdir((options_.directory + name).c_str());
  }
  remove_groups(kGroupParent);
}

}  // namespace atl::sandbox::gvisor
