#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "os/fd.h"

// The kernel's mount calls. All need CAP_SYS_ADMIN over the mount namespace.
namespace atl::os {

// A filesystem under construction: fsopen, options, then mount() for a detached mount.
class FilesystemContext {
 public:
  static Result<FilesystemContext> open(const char* type);
  Result<void> set(const char* key, const std::string& value);
  Result<void> set_flag(const char* key);
  // A detached mount with these MOUNT_ATTR_* flags.
  Result<Fd> mount(unsigned attributes);
  // The kernel's own words about the last failure; empty if it said nothing.
  std::string complaint();

 private:
  explicit FilesystemContext(Fd fd, const char* type) : fd_(std::move(fd)), type_(type) {}
  Fd fd_;
  const char* type_;
};

enum class Subtree { no, yes };

// A detached copy of the mount at `path`, to be attached elsewhere.
Result<Fd> clone_mount(int dir, const char* path, Subtree subtree);
// An O_PATH handle of what is there, not a copy.
Result<Fd> open_mount(int dir, const char* path);
// Attaches a detached mount.
Result<void> attach(int mount_fd, int dir, const char* path);

struct MountChange {
  std::uint64_t set = 0;  // MOUNT_ATTR_*
  std::uint64_t clear = 0;
  std::uint64_t propagation = 0;
  int user_namespace = -1;  // id-maps the mount when >= 0; the mount must be detached
};
Result<void> change_mount(int fd, const char* path, Subtree subtree, const MountChange& change);

Result<void> bind(const char* from, const char* to);
Result<void> detach(const char* path);  // MNT_DETACH
// Everything mounted in this process's namespace stops propagating in or out.
Result<void> make_all_private();
// Makes the working directory, which must be a mount point, the root of the calling process by moving the
// mount. Much cheaper than pivot_root; what was at the root before cannot be reached any more.
Result<void> move_to_root();

}  // namespace atl::os
