#include "layer/overlay.h"

#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <cerrno>

namespace atl::layer {
namespace {

constexpr const char* kTrusted = "trusted.overlay.opaque";
constexpr const char* kUser = "user.overlay.opaque";
constexpr std::size_t kAttributeBytesMax = 65536;

const char* opaque_name(OverlayAttributes attributes) {
  return attributes == OverlayAttributes::trusted ? kTrusted : kUser;
}

}  // namespace

bool is_whiteout(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == ::makedev(0, 0);
}

Result<void> make_whiteout(int dir, const char* name) {
  if (::mknodat(dir, name, S_IFCHR, ::makedev(0, 0)) < 0)
    return fail(errno_error(errno, "mark a name as deleted").with_detail(name));
  return {};
}

Result<void> mark_opaque(int directory, OverlayAttributes attributes) {
  if (::fsetxattr(directory, opaque_name(attributes), "y", 1, 0) < 0)
    return fail(errno_error(errno, "mark a directory as opaque"));
  return {};
}

bool is_opaque(int directory, OverlayAttributes attributes) {
  char value = 0;
  return ::fgetxattr(directory, opaque_name(attributes), &value, 1) == 1 && value == 'y';
}

bool is_kept_attribute(std::string_view name) {
  if (name == "security.capability") return true;
  return name.starts_with("user.") && !name.starts_with("user.overlay.");
}

Result<Attributes> read_attributes(int fd) {
  Attributes found;
  std::string names(kAttributeBytesMax, '\0');
  const ssize_t size = ::flistxattr(fd, names.data(), names.size());
  if (size < 0) {
    if (errno == ENOTSUP) return found;
    return fail(errno_error(errno, "read attributes"));
  }
  for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
    const std::string name = names.c_str() + at;
    at += name.size() + 1;
    if (!is_kept_attribute(name)) continue;
    std::string value(kAttributeBytesMax, '\0');
    const ssize_t length = ::fgetxattr(fd, name.c_str(), value.data(), value.size());
    if (length < 0) return fail(errno_error(errno, "read attributes").with_detail(name));
    value.resize(static_cast<std::size_t>(length));
    found.emplace(name, std::move(value));
  }
  return found;
}

}  // namespace atl::layer
