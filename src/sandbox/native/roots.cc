#include "sandbox/native/roots.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "os/file.h"

namespace atl::sandbox::native {
namespace {

std::string without_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

// Names only: nothing that leads up or nowhere.
bool is_plain(std::string_view rest) {
  if (rest.find('\0') != std::string_view::npos) return false;
  for (std::size_t at = 0; at <= rest.size();) {
    const std::size_t end = std::min(rest.find('/', at), rest.size());
    const std::string_view name = rest.substr(at, end - at);
    if (name.empty() || name == "." || name == "..") return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

Result<Roots> Roots::open(const RootPaths& paths) {
  Roots roots;
  const auto open_root = [](const std::string& path, bool writable) {
    Root root{.path = without_slash(path), .writable = writable};
    // A root that is missing holds nothing, and requests for something beneath it fail.
    if (auto directory = os::open(path.c_str(), O_PATH)) root.directory = std::move(*directory);
    return root;
  };
  for (const std::string& path : paths.layers) roots.layers_.push_back(open_root(path, false));
  for (const std::string& path : paths.snapshots) {
    TRY_CONTEXT("make the directory of snapshots", os::make_directories(path, 0700));
    roots.snapshots_.push_back(open_root(path, true));
  }
  for (const MountRoot& mount : paths.mounts) roots.mounts_.push_back(open_root(mount.path, mount.writable));
  roots.trusted_ = paths.trusted;
  return roots;
}

Result<Roots::Beneath> Roots::find(const std::vector<Root>& roots, const std::string& path,
                                   const char* what) {
  const Root* best = nullptr;
  const std::string wanted = without_slash(path);
  for (const Root& root : roots) {
    const bool is_in =
        wanted == root.path || (wanted.starts_with(root.path) && wanted[root.path.size()] == '/');
    if (is_in && (best == nullptr || root.path.size() > best->path.size())) best = &root;
  }
  if (best == nullptr)
    return fail(Error(Code::permission_denied,
                      fmt::format("the spawner was not told of this {} when it started; if the service is to "
                                  "use it, restart the service",
                                  what))
                    .with_detail(path));
  if (!best->directory.is_open())
    return fail(
        Error(Code::not_found,
              fmt::format("the directory of this {} was not there when the spawner started: make it and "
                          "restart the service",
                          what))
            .with_detail(path));
  if (wanted == best->path) return Beneath{best->directory.get(), ""};
  std::string rest = wanted.substr(best->path.size() + 1);
  if (!is_plain(rest))
    return fail(
        Error(Code::permission_denied, fmt::format("the path of this {} does not lead straight down", what))
            .with_detail(path));
  return Beneath{best->directory.get(), std::move(rest)};
}

Result<os::Fd> Roots::open_directory(const Beneath& at, int flags) {
  return os::open_beneath(at.root, at.rest.empty() ? "." : at.rest.c_str(), flags | O_DIRECTORY);
}

Result<os::Fd> Roots::layer(const std::string& path) const {
  return open_directory(TRY(find(layers_, path, "layer")), O_PATH);
}

Result<os::Fd> Roots::mount(const std::string& path, Access access) const {
  const Beneath at = TRY(find(mounts_, path, "mount"));
  const auto root = std::ranges::find(mounts_, at.root, [](const Root& one) { return one.directory.get(); });
  if (access == Access::write && !root->writable)
    return fail(Error(Code::permission_denied, "the spawner was told that this mount is read-only")
                    .with_detail(path));
  return open_directory(at, O_PATH);
}

Result<os::Fd> Roots::snapshot_part(const std::string& path, const char* part) const {
  Beneath at = TRY(find(snapshots_, path, "snapshot"));
  if (at.rest.empty())
    return fail(Error(Code::permission_denied, "this is where snapshots are, not one").with_detail(path));
  at.rest = at.rest + "/" + part;
  return open_directory(at, O_PATH);
}

Result<os::Fd> Roots::snapshot(const std::string& path) const {
  const Beneath at = TRY(find(snapshots_, path, "snapshot"));
  if (at.rest.empty())
    return fail(Error(Code::permission_denied, "this is where snapshots are, not one").with_detail(path));
  return open_directory(at, O_RDONLY);
}

Result<Roots::Place> Roots::snapshot_place(const std::string& path) const {
  Beneath at = TRY(find(snapshots_, path, "snapshot"));
  if (at.rest.empty())
    return fail(Error(Code::permission_denied, "this is where snapshots are, not one").with_detail(path));
  const std::size_t slash = at.rest.rfind('/');
  Place place{.directory = {}, .name = slash == std::string::npos ? at.rest : at.rest.substr(slash + 1)};
  at.rest = slash == std::string::npos ? "" : at.rest.substr(0, slash);
  place.directory = TRY(open_directory(at, O_RDONLY));
  return place;
}

bool Roots::may_trust(const std::vector<std::string>& layers) const {
  return !trusted_ || trusted_->contains(layers);
}

}  // namespace atl::sandbox::native
