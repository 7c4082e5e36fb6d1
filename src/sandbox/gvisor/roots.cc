#include "sandbox/gvisor/roots.h"

#include <fcntl.h>

#include "os/file.h"

namespace atl::sandbox::gvisor {

Roots Roots::open(const std::vector<std::string>& paths) {
  Roots roots;
  for (std::string path : paths) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (auto directory = os::open(path.c_str(), O_PATH | O_DIRECTORY))
      roots.roots_.push_back({std::move(path), std::move(*directory)});
  }
  return roots;
}

Result<os::Fd> Roots::directory(const std::string& path) const {
  for (const Root& root : roots_) {
    if (path == root.path) return os::open_at(root.directory.get(), ".", O_PATH | O_DIRECTORY);
    if (!path.starts_with(root.path + "/")) continue;
    return os::open_beneath(root.directory.get(), path.c_str() + root.path.size() + 1, O_PATH | O_DIRECTORY);
  }
  return fail(Error(Code::permission_denied, "the broker may not touch that directory").with_detail(path));
}

Result<Place> Roots::place(const std::string& path) const {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? "" : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..")
    return fail(Error(Code::permission_denied, "the broker may not touch that directory").with_detail(path));
  return Place{TRY(directory(path.substr(0, slash))), name};
}

}  // namespace atl::sandbox::gvisor
