#include "sandbox/native/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <sstream>

#include "os/file.h"
#include "os/fork.h"
#include "os/mount.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/filter.h"
#include "sandbox/native/rootless.h"

namespace atl::sandbox::native {
namespace {

using Grade = Finding::Grade;

// In a child, so that what it changes about itself goes with it.
bool works(const std::function<bool()>& attempt) {
  const pid_t child = os::fork_alone();
  if (child == 0) ::_exit(attempt() ? 0 : 1);
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Finding interpreter() {
  utsname name{};
  ::uname(&name);
  int major = 0, minor = 0;
  std::sscanf(name.release, "%d.%d", &major, &minor);
  if (major > 5 || (major == 5 && minor >= 19)) return {Grade::good, "kernel", name.release, ""};
  return {Grade::bad, "kernel", name.release,
          "Linux 5.19 or newer is needed (overlayfs on id-mapped layers)"};
}

Finding privileges() {
  if (::geteuid() == 0) return {Grade::good, "privileges", "root", ""};
  return {Grade::note, "privileges",
          fmt::format("user {}: what sandboxes then lack is named below", ::geteuid()),
          "start atoll as root: it keeps the privileges in a small process of its own"};
}

Finding user_namespaces() {
  if (works([] { return ::unshare(CLONE_NEWUSER) == 0; }))
    return {Grade::good, "user namespaces", "work", ""};
  return {Grade::bad, "user namespaces", "refused", user_namespace_remedy()};
}

// What an ordinary user is given besides its own id.
Finding id_ranges() {
  if (::geteuid() == 0) return {Grade::good, "id ranges", "each sandbox has its own", ""};
  const bool has_range = works([] {
    const auto privileges = become_rootless();
    return privileges && privileges->ids > 0;
  });
  if (has_range) return {Grade::good, "id ranges", "one for all sandboxes of this user", ""};
  return {
      Grade::note, "id ranges", "none: there is only one user inside",
      "install the package uidmap and give this user a range of 65536 ids in /etc/subuid and /etc/subgid"};
}

Finding namespaces() {
  constexpr int kinds =
      CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_NEWPID;
  if (works([] { return (::geteuid() == 0 || become_rootless()) && ::unshare(kinds) == 0; }))
    return {Grade::good, "namespaces", "mount, network, ipc, uts, cgroup, pid", ""};
  return {Grade::bad, "namespaces", "refused", "start atoll as root; inside a container, with CAP_SYS_ADMIN"};
}

Finding overlay() {
  const bool good = works([] {
    if (::geteuid() != 0 && !become_rootless()) return false;
    if (::unshare(CLONE_NEWNS) < 0) return false;
    return os::FilesystemContext::open("overlay").has_value();
  });
  if (good) return {Grade::good, "overlayfs", "there", ""};
  return {Grade::bad, "overlayfs", "not there", "modprobe overlay"};
}

Finding landlock() {
  const int version = landlock_version();
  if (version > 0) return {Grade::good, "Landlock", fmt::format("version {}", version), ""};
  return {Grade::note, "Landlock", "not there", "boot with lsm=landlock,... (Linux 5.13 or newer)"};
}

Finding filter() {
  const auto compiled = compile_filter();
  if (!compiled)
    return {Grade::bad, "seccomp", compiled.error().message(), "install libseccomp 2.5 or newer"};
  return {Grade::good, "seccomp",
          fmt::format("allow-list of {} calls, {} instructions", compiled->calls_allowed,
                      compiled->program.size()),
          ""};
}

Finding control_groups() {
  auto tree = CgroupTree::create(fmt::format("atoll-doctor-{}", ::getpid()));
  if (!tree) return {Grade::bad, "control groups", tree.error().message(), "mount cgroup2 on /sys/fs/cgroup"};
  const std::vector<Wall> missing = tree->missing();
  const std::string version(tree->version());
  tree->remove_parent();
  if (missing.empty()) return {Grade::good, "control groups", version + ": memory, processes, CPU", ""};
  std::string lacking;
  for (const Wall& wall : missing) lacking += (lacking.empty() ? "" : ", ") + wall.name;
  // An ordinary user gets what others do not enforce by watching.
  return {::geteuid() == 0 ? Grade::bad : Grade::note, "control groups",
          fmt::format("{}, without {}", version, lacking), missing.front().value};
}

Finding dynmods() {
  const bool on =
      os::read_file("/proc/self/mountinfo").value_or("").find("favordynmods") != std::string::npos;
  if (on) return {Grade::good, "favordynmods", "on: joining a control group is fast", ""};
  return {
      Grade::note, "favordynmods",
      "off: on an idle machine an interpreter that is forked waits some milliseconds for its control group",
      "the setting favor_dynmods switches it on for the whole machine; pools hide it"};
}

Finding loop_devices() {
  if (os::exists("/dev/loop-control")) return {Grade::good, "loop devices", "there", ""};
  return {Grade::note, "loop devices", "not there: disk limits above half of memory are refused",
          "modprobe loop"};
}

Finding interpreters() {
  std::string found;
  for (const char* name : {"python3", "node", "bash"})
    for (const char* dir : {"/usr/bin/", "/usr/local/bin/"})
      if (os::exists(std::string(dir) + name)) {
        found += (found.empty() ? "" : ", ") + std::string(dir) + name;
        break;
      }
  if (found.find("python3") != std::string::npos && found.find("node") != std::string::npos)
    return {Grade::good, "interpreters", found, ""};
  return {Grade::note, "interpreters", found.empty() ? "none" : found,
          "sandboxes show the host's /usr: install python3 and nodejs there to run them inside"};
}

}  // namespace

std::vector<Finding> probe_machine() {
  return {interpreter(), privileges(), user_namespaces(), id_ranges(), namespaces(),   overlay(),
          landlock(),    filter(),     control_groups(),  dynmods(),   loop_devices(), interpreters()};
}

}  // namespace atl::sandbox::native
