#include "guest/program/hand_over.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace atl::guest {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

int close_with(int fd, int error) {
  close(fd);
  errno = error;
  return -1;
}

bool hand(int fd, const User& user) {
  return fchown(fd, user.uid, user.gid) == 0;
}

// The directory `name` in `from`. One that is missing is made for the user if `make` says so.
int enter(int from, const char* name, const User& user, bool make) {
  const int there = openat(from, name, kDirectoryFlags);
  if (there >= 0 || errno != ENOENT || !make) return there;
  if (mkdirat(from, name, 0755) != 0) return -1;
  const int made = openat(from, name, kDirectoryFlags);
  if (made >= 0 && !hand(made, user)) return close_with(made, errno);
  return made;
}

// The directory that holds the last name of `path`, and in `last` where that name begins. `path` is cut into
// its names on the way.
int open_parent(char* path, const User& user, bool make, const char** last) {
  int at = open("/", kDirectoryFlags);
  char* name = path + 1;
  for (char* slash = strchr(name, '/'); at >= 0 && slash != nullptr; slash = strchr(name, '/')) {
    *slash = 0;
    const int next = *name == 0 ? dup(at) : enter(at, name, user, make);
    const int error = errno;
    close(at);
    errno = error;
    at = next;
    name = slash + 1;
  }
  *last = name;
  return at;
}

}  // namespace

int open_handed_over(const User& user, const char* path, int flags, mode_t mode, bool parents, bool* made) {
  char names[PATH_MAX];
  const char* last = nullptr;
  strcpy(names, path);
  const int parent = open_parent(names, user, parents, &last);
  if (parent < 0) return -1;
  const int how = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int fd = openat(parent, last, how);
  if (fd < 0 && errno == ENOENT) {
    fd = openat(parent, last, how | O_CREAT | O_EXCL, mode);
    *made = fd >= 0;
  }
  const int opened = errno;
  close(parent);
  errno = opened;
  if (fd < 0) return -1;
  struct stat info {};
  if (fstat(fd, &info) != 0) return close_with(fd, errno);
  if (!S_ISREG(info.st_mode)) return close_with(fd, EINVAL);
  if (info.st_nlink > 1) return close_with(fd, EPERM);
  if (!hand(fd, user)) return close_with(fd, errno);
  return fd;
}

bool make_directory_handed_over(const User& user, const char* path) {
  char names[PATH_MAX];
  const char* last = nullptr;
  strcpy(names, path);
  const int parent = open_parent(names, user, true, &last);
  if (parent < 0) return false;
  int made = -1;
  if (mkdirat(parent, last, 0755) == 0) made = openat(parent, last, kDirectoryFlags);
  bool good = made >= 0 && hand(made, user);
  const int error = errno;
  if (made >= 0) close(made);
  close(parent);
  errno = error;
  return good;
}

}  // namespace atl::guest
