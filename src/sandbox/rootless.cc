#include "sandbox/rootless.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <vector>

#include "os/fd.h"
#include "os/file.h"
#include "os/fork.h"

namespace atl::sandbox {
namespace {

constexpr std::uint32_t kIdsMax = 65536;

struct Range {
  std::uint32_t first = 0, count = 0;
};

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "name:first:count" lines; the name may be the number of the user.
std::optional<Range> range_of(const char* file, const std::string& name, uid_t uid) {
  std::istringstream lines(os::read_file(file).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string owner = line.substr(0, first);
    if ((name.empty() || owner != name) && owner != std::to_string(uid)) continue;
    const auto begin = number(std::string_view(line).substr(first + 1, second - first - 1));
    const auto count = number(std::string_view(line).substr(second + 1));
    if (begin && count && *count >= kIdsWanted) return Range{*begin, std::min(*count, kIdsMax)};
  }
  return std::nullopt;
}

struct Ranges {
  Range users, groups;
};

Result<Ranges> own_ranges(uid_t uid) {
  const passwd* const account = ::getpwuid(uid);
  const std::string name = account == nullptr ? "" : account->pw_name;
  const auto users = range_of("/etc/subuid", name, uid);
  const auto groups = range_of("/etc/subgid", name, uid);
  if (!users || !groups)
    return fail(Code::unsupported,
                fmt::format("user {0} has no range of {1} ids in /etc/subuid and /etc/subgid: usermod "
                            "--add-subuids 100000-165535 --add-subgids 100000-165535 {0}",
                            name.empty() ? std::to_string(uid) : name, kIdsWanted));
  if (!os::exists("/usr/bin/newuidmap") || !os::exists("/usr/bin/newgidmap"))
    return fail(Code::unsupported, "newuidmap and newgidmap are not there: install the package uidmap");
  return Ranges{*users, *groups};
}

bool run(const std::vector<std::string>& words) {
  const pid_t child = os::fork_alone();
  if (child == 0) {
    std::vector<char*> arguments;
    // JUSTIFICATION: execve takes char* and writes nothing.
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    char* const environment[] = {const_cast<char*>("PATH=/usr/bin:/bin"), nullptr};
    if (const int null = ::open("/dev/null", O_RDWR); null >= 0) ::dup2(null, 2);
    ::execve(arguments[0], arguments.data(), environment);
    ::_exit(127);
  }
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::vector<std::string> map_command(const char* program, pid_t target, std::uint32_t own, Range range) {
  return {program,
          std::to_string(target),
          "0",
          std::to_string(own),
          "1",
          "1",
          std::to_string(range.first),
          std::to_string(range.count)};
}

// A process that stays outside and maps ids for one that went in: set-uid programs of the host decide whether
// it may. Answers 'y', or 'n' when nothing was mapped, or 'h' when only half was.
class Mapper {
 public:
  static Result<Mapper> start(const Ranges& ranges) {
    int asking[2], answering[2];
    if (::pipe2(asking, O_CLOEXEC) < 0) return fail(errno_error(errno, "make a pipe to what maps ids"));
    Mapper mapper;
    mapper.ask_ = os::Fd(asking[1]);
    const os::Fd asked(asking[0]);
    if (::pipe2(answering, O_CLOEXEC) < 0) return fail(errno_error(errno, "make a pipe from what maps ids"));
    mapper.answer_ = os::Fd(answering[0]);
    const os::Fd answer(answering[1]);
    const pid_t target = ::getpid();
    mapper.child_ = os::fork_alone();
    if (mapper.child_ < 0) return fail(errno_error(errno, "fork what maps ids"));
    if (mapper.child_ == 0) {
      mapper.ask_.reset();
      char byte = 0;
      if (::read(asked.get(), &byte, 1) != 1) ::_exit(0);
      const char said = map(ranges, target);
      (void)!::write(answer.get(), &said, 1);
      ::_exit(0);
    }
    return mapper;
  }

  char answer() {
    char said = 'n';
    (void)!::write(ask_.get(), "m", 1);
    if (::read(answer_.get(), &said, 1) != 1) said = 'n';
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    return said;
  }

 private:
  static char map(const Ranges& ranges, pid_t target) {
    if (!run(map_command("/usr/bin/newuidmap", target, ::getuid(), ranges.users))) return 'n';
    return run(map_command("/usr/bin/newgidmap", target, ::getgid(), ranges.groups)) ? 'y' : 'h';
  }

  os::Fd ask_, answer_;
  pid_t child_ = -1;
};

Result<void> map_one_id(uid_t uid, gid_t gid) {
  TRY(os::write_control("/proc/self/setgroups", "deny"));
  TRY(os::write_control("/proc/self/uid_map", fmt::format("0 {} 1", uid)));
  return os::write_control("/proc/self/gid_map", fmt::format("0 {} 1", gid));
}

}  // namespace

std::string user_namespace_remedy() {
  const auto line = [](const char* path) { return os::read_file(path).value_or("").substr(0, 1); };
  if (line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1")
    return "AppArmor restricts user namespaces (Ubuntu 24.04 and newer): sysctl -w "
           "kernel.apparmor_restrict_unprivileged_userns=0, or install an AppArmor profile for atoll that "
           "allows "
           "userns";
  if (line("/proc/sys/kernel/unprivileged_userns_clone") == "0")
    return "user namespaces are switched off: sysctl -w kernel.unprivileged_userns_clone=1";
  if (line("/proc/sys/user/max_user_namespaces") == "0")
    return "no user namespaces are allowed: sysctl -w user.max_user_namespaces=15000";
  return "user namespaces are refused: inside a container, allow them in its seccomp profile";
}

Result<Privileges> become_rootless() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  Privileges privileges{.rootless = true};
  auto ranges = own_ranges(uid);
  if (!ranges) privileges.lacks_ids = ranges.error().message();
  std::optional<Mapper> mapper;
  if (ranges) mapper = TRY(Mapper::start(*ranges));
  // The mapper looks at this process through /proc, which is closed for one that is not dumpable.
  ::prctl(PR_SET_DUMPABLE, 1);
  if (::unshare(CLONE_NEWUSER) < 0)
    return fail(Error(Code::unsupported, "sandboxes need root or user namespaces; " + user_namespace_remedy())
                    .with_detail("unshare user namespace"));
  const char mapped = mapper ? mapper->answer() : 'n';
  if (mapped == 'h') return fail(Code::unsupported, "newgidmap refused the range of /etc/subgid");
  if (mapped == 'y') {
    privileges.ids = std::min(ranges->users.count, ranges->groups.count);
  } else {
    if (mapper) privileges.lacks_ids = "newuidmap refused the range of /etc/subuid: it must be set-uid root";
    TRY_CONTEXT("map the own id", map_one_id(uid, gid));
  }
  if (::setresgid(0, 0, 0) < 0 || ::setresuid(0, 0, 0) < 0)
    return fail(errno_error(errno, "become root of the own user namespace"));
  if (privileges.ids > 0 && ::setgroups(0, nullptr) < 0) return fail(errno_error(errno, "drop groups"));
  return privileges;
}

}  // namespace atl::sandbox
