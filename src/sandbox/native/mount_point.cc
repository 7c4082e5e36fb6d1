#include "sandbox/native/mount_point.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace atl::sandbox::native {
namespace {

Result<void> make_owned(int parent, const std::string& name, const std::string& path, uid_t owner) {
  if (::mkdirat(parent, name.c_str(), 0755) < 0) {
    if (errno != EEXIST) return fail(errno_error(errno, fmt::format("make mount point {}", path)));
    return {};
  }
  if (::fchownat(parent, name.c_str(), owner, owner, AT_SYMLINK_NOFOLLOW) < 0)
    return fail(errno_error(errno, fmt::format("own mount point {}", path)));
  return {};
}

// The directory `name` in `parent` itself, and nothing that a link of this name leads to.
Result<os::Fd> step_down(int parent, const std::string& name, const std::string& path, uid_t owner) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  os::Fd there(::openat(parent, name.c_str(), kFlags));
  if (there.is_open()) return there;
  if (errno == ENOTDIR || errno == ELOOP) {
    if (::unlinkat(parent, name.c_str(), 0) < 0)
      return fail(errno_error(errno, fmt::format("clear mount point {}", path)));
  } else if (errno != ENOENT) {
    return fail(errno_error(errno, fmt::format("mount point {}", path)));
  }
  TRY(make_owned(parent, name, path, owner));
  there = os::Fd(::openat(parent, name.c_str(), kFlags));
  if (!there.is_open()) return fail(errno_error(errno, fmt::format("mount point {}", path)));
  return there;
}

}  // namespace

Result<os::Fd> open_in_root(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
  if (fd < 0) return fail(errno_error(errno, fmt::format("mount point {}", path)));
  return os::Fd(static_cast<int>(fd));
}

// Level by level, each below the level before as the kernel resolved it.
Result<void> make_in_root(int root, const std::string& path, uid_t owner) {
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t from = at + 1;
    at = path.find('/', from);
    const std::string name = path.substr(from, at == std::string::npos ? at : at - from);
    if (name.empty()) continue;
    const os::Fd parent = TRY(open_in_root(root, path.substr(0, from)));
    TRY(make_owned(parent.get(), name, path, owner));
  }
  return {};
}

Result<os::Fd> clear_in_root(int root, const std::string& path, const std::string& cleared, uid_t owner) {
  if (!path.starts_with(cleared) || path.find("..") != std::string::npos)
    return fail(Code::invalid_argument, fmt::format("mount point {} is not below {}", path, cleared));
  auto top = open_in_root(root, cleared);
  if (!top && top.error().code() == Code::not_found) {
    TRY(make_in_root(root, cleared, owner));
    top = open_in_root(root, cleared);
  }
  os::Fd here = TRY(std::move(top));
  for (std::size_t at = cleared.size(); at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    if (!name.empty() && name != ".") here = TRY(step_down(here.get(), name, path, owner));
    at = end + 1;
  }
  return here;
}

}  // namespace atl::sandbox::native
