#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/program/entry.h"
#include "guest/program/tree.h"

namespace atl::guest {
namespace {

constexpr size_t kPageBytes = 24U << 10;

bool failed(Failure* failure, const char* path, int error = errno) {
  failure->error = error;
  failure->path.clear();
  failure->path.append(path);
  return false;
}

// The names of one directory, sorted, and how far we are in it.
struct Level {
  Bytes names{0};
  char** sorted = nullptr;
  size_t count = 0, at = 0;
  size_t path_size = 0;  // of the directory's path in the shared buffer
  size_t to_size = 0;    // the same of the target, for copies
  Level* up = nullptr;

  ~Level() { free(sorted); }
};

int compare(const void* a, const void* b) {
  return strcmp(*static_cast<char* const*>(a), *static_cast<char* const*>(b));
}

// At most `count_max` names; more is EFBIG. Null with errno. `follow` is 0 where a link is what was asked
// for, and O_NOFOLLOW below it: a directory may have become a link since it was looked at.
Level* read_level(const char* path, size_t count_max, int follow) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);
  DIR* const directory = fd < 0 ? nullptr : fdopendir(fd);
  if (directory == nullptr) return nullptr;
  auto* const level = new (malloc(sizeof(Level))) Level;
  errno = 0;
  while (const dirent* entry = readdir(directory)) {
    const char* const name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    if (level->count == count_max) {
      errno = EFBIG;
      break;
    }
    level->names.append(name, strlen(name) + 1);
    ++level->count;
  }
  const int error = errno;
  closedir(directory);
  level->sorted = static_cast<char**>(malloc((level->count + 1) * sizeof(char*)));
  if (error != 0 || level->sorted == nullptr) {
    level->~Level(), free(level);
    errno = error != 0 ? error : ENOMEM;
    return nullptr;
  }
  char* name = level->names.data();
  for (size_t i = 0; i < level->count; ++i, name += strlen(name) + 1) level->sorted[i] = name;
  qsort(level->sorted, level->count, sizeof(char*), compare);
  return level;
}

Level* leave(Level* level) {
  Level* const up = level->up;
  level->~Level(), free(level);
  return up;
}

void leave_all(Level* level) {
  while (level != nullptr) level = leave(level);
}

// path[0..size) + '/' + name; false if that is longer than a path may be.
bool join(char* path, size_t size, const char* name) {
  const size_t length = strlen(name);
  if (size == 1 && path[0] == '/') size = 0;
  if (size + length + 2 > PATH_MAX) return errno = ENAMETOOLONG, false;
  path[size] = '/';
  memcpy(path + size + 1, name, length + 1);
  return true;
}

bool is_directory(const char* path) {
  struct stat info {};
  return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool copy_bytes(int from, int to) {
  for (;;) {
    const ssize_t moved = sendfile(to, from, nullptr, 1U << 20);
    if (moved == 0) return true;
    if (moved > 0 || errno == EINTR) continue;
    if (errno != EINVAL && errno != ENOSYS) return false;
    char buffer[16384];
    const ssize_t got = read(from, buffer, sizeof buffer);
    if (got == 0) return true;
    if (got < 0) return false;
    for (ssize_t done = 0; done < got;) {
      const ssize_t wrote = write(to, buffer + done, static_cast<size_t>(got - done));
      if (wrote <= 0) return false;
      done += wrote;
    }
  }
}

bool copy_file(const char* from, const char* to, mode_t mode, bool overwrite) {
  const int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (in < 0) return false;
  const int out =
      open(to, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (overwrite ? O_TRUNC : O_EXCL),
           mode & 07777);
  bool good = out >= 0 && copy_bytes(in, out) && fchmod(out, mode & 07777) == 0;
  const int error = errno;
  close(in);
  if (out >= 0 && close(out) != 0) good = false;
  errno = error;
  return good;
}

bool copy_link(const char* from, const char* to, bool overwrite) {
  char target[PATH_MAX];
  const ssize_t size = readlink(from, target, sizeof target - 1);
  if (size < 0) return false;
  target[size] = 0;
  if (symlink(target, to) == 0) return true;
  return errno == EEXIST && overwrite && unlink(to) == 0 && symlink(target, to) == 0;
}

// One entry without what is in it.
bool copy_entry(const char* from, const char* to, bool overwrite) {
  struct stat info {};
  if (lstat(from, &info) != 0) return false;
  if (S_ISREG(info.st_mode)) return copy_file(from, to, info.st_mode, overwrite);
  if (S_ISLNK(info.st_mode)) return copy_link(from, to, overwrite);
  if (!S_ISDIR(info.st_mode)) return errno = EINVAL, false;
  if (mkdir(to, (info.st_mode & 07777) | 0700) == 0) return true;
  return errno == EEXIST && overwrite && is_directory(to);
}

bool inside(const char* path, const char* directory) {
  const size_t size = strlen(directory);
  return strncmp(path, directory, size) == 0 && (path[size] == '/' || path[size] == 0);
}

// Where `to` will be, links resolved: its parent exists by now.
bool lands_inside(const char* from, const char* to) {
  char source[PATH_MAX], parent[PATH_MAX], resolved[PATH_MAX];
  strcpy(parent, to);
  char* const slash = strrchr(parent, '/');
  if (slash == parent) {
    strcpy(resolved, "/");
  } else {
    *slash = 0;
    if (realpath(parent, resolved) == nullptr) return false;
  }
  return realpath(from, source) != nullptr && (inside(resolved, source) || strcmp(from, to) == 0);
}

struct Directory {
  dev_t device;
  ino_t inode;
};

// Opens a directory below `at` without following a link. -1 with errno.
int descend(int at, const char* name) {
  return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Removes files of the directory until it meets a sub-directory, whose name it stores. 1: there is one, 0:
// empty now.
int clear_directory(int fd, char* child) {
  if (lseek(fd, 0, SEEK_SET) < 0) return -1;
  alignas(8) char buffer[4096];
  for (;;) {
    const long got = syscall(SYS_getdents64, fd, buffer, sizeof buffer);
    if (got < 0) return -1;
    if (got == 0) return 0;
    for (long at = 0; at < got;) {
      // JUSTIFICATION: the kernel writes records of this type into the buffer.
      const auto* const entry = reinterpret_cast<const dirent*>(buffer + at);
      at += entry->d_reclen;
      const char* const name = entry->d_name;
      if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
      if (entry->d_type != DT_DIR && unlinkat(fd, name, 0) == 0) continue;
      if (entry->d_type != DT_DIR && errno == ENOENT) continue;
      if (entry->d_type != DT_DIR && errno != EISDIR && errno != EPERM) return -1;
      strcpy(child, name);
      return 1;
    }
  }
}

// Removes what is below `fd`, with one descriptor and sixteen bytes for each level however deep it is.
bool clear_tree(int fd) {
  Bytes levels(0), names(0);
  bool good = true;
  for (;;) {
    char child[NAME_MAX + 1];
    const int found = clear_directory(fd, child);
    if (found < 0) {
      good = false;
      break;
    }
    if (found == 1) {
      struct stat info {};
      const int next = fstat(fd, &info) == 0 ? descend(fd, child) : -1;
      if (next < 0 && errno == ENOENT) continue;  // gone since it was listed
      if (next < 0) {
        good = false;
        break;
      }
      const Directory here{info.st_dev, info.st_ino};
      levels.append(reinterpret_cast<const char*>(&here), sizeof here);
      names.append(child, strlen(child) + 1);
      close(fd);
      fd = next;
      continue;
    }
    if (levels.empty()) break;
    // Back up, but only to where we came from: somebody may have moved us meanwhile.
    const int up = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat info {};
    Directory here{};
    memcpy(&here, levels.data() + levels.size() - sizeof here, sizeof here);
    const bool same =
        up >= 0 && fstat(up, &info) == 0 && info.st_dev == here.device && info.st_ino == here.inode;
    const int error = up < 0 ? errno : ESTALE;
    close(fd);
    fd = up;
    if (!same) {
      errno = error;
      good = false;
      break;
    }
    size_t start = names.size() - 1;
    while (start > 0 && names.data()[start - 1] != 0) --start;
    if (unlinkat(fd, names.data() + start, AT_REMOVEDIR) != 0 && errno != ENOENT) {
      good = false;
      break;
    }
    names.shrink_to(start);
    levels.shrink_to(levels.size() - sizeof here);
  }
  const int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return good;
}

}  // namespace

bool list_tree(const char* root, uint32_t depth, uint32_t entries_max, Page page, void* context,
               Failure* failure) {
  char path[PATH_MAX];
  strcpy(path, root);
  if (depth == 0) return true;
  Bytes entries(0);
  uint32_t left = entries_max, deep = 1;
  Level* level = read_level(path, left, 0);
  if (level == nullptr) return failed(failure, path);
  level->path_size = strlen(path);
  while (level != nullptr) {
    if (level->at == level->count) {
      level = leave(level), --deep;
      continue;
    }
    if (!join(path, level->path_size, level->sorted[level->at++])) continue;
    if (!append_entry(&entries, path)) continue;  // gone meanwhile
    if (left-- == 0) return leave_all(level), failed(failure, root, EFBIG);
    if (entries.size() > kPageBytes) page(context, entries), entries.clear();
    if (deep == depth || !is_directory(path)) continue;
    Level* const below = read_level(path, left, O_NOFOLLOW);
    if (below == nullptr && errno == EFBIG) return leave_all(level), failed(failure, root, EFBIG);
    if (below == nullptr) continue;  // not ours to read
    below->path_size = strlen(path);
    below->up = level;
    level = below, ++deep;
  }
  if (!entries.empty()) page(context, entries);
  return true;
}

bool copy_tree(const char* from, const char* to, bool overwrite, Failure* failure) {
  char source[PATH_MAX], target[PATH_MAX];
  strcpy(source, from), strcpy(target, to);
  struct stat info {};
  if (lstat(from, &info) != 0) return failed(failure, from);
  if (!make_parents(to)) return failed(failure, to);
  if (lands_inside(from, to)) return failed(failure, to, ELOOP);
  if (!overwrite && lstat(to, &info) == 0) return failed(failure, to, EEXIST);
  if (!copy_entry(source, target, overwrite)) return failed(failure, errno == EINVAL ? from : to);
  Level* level = is_directory(source) ? read_level(source, SIZE_MAX, O_NOFOLLOW) : nullptr;
  if (level == nullptr) return is_directory(source) ? failed(failure, source) : true;
  level->path_size = strlen(source), level->to_size = strlen(target);
  while (level != nullptr) {
    if (level->at == level->count) {
      level = leave(level);
      continue;
    }
    const char* const name = level->sorted[level->at++];
    if (!join(source, level->path_size, name) || !join(target, level->to_size, name) ||
        !copy_entry(source, target, overwrite)) {
      const int error = errno;
      leave_all(level);
      return failed(failure, source, error);
    }
    if (!is_directory(source)) continue;
    Level* const below = read_level(source, SIZE_MAX, O_NOFOLLOW);
    if (below == nullptr) return leave_all(level), failed(failure, source);
    below->path_size = strlen(source), below->to_size = strlen(target);
    below->up = level;
    level = below;
  }
  return true;
}

bool move_tree(const char* from, const char* to, bool overwrite, Failure* failure) {
  struct stat info {};
  if (lstat(from, &info) != 0) return failed(failure, from);
  if (!make_parents(to)) return failed(failure, to);
  const long moved =
      syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, overwrite ? 0 : 1 /* RENAME_NOREPLACE */);
  if (moved == 0) return true;
  if (errno == EINVAL && S_ISDIR(info.st_mode)) return failed(failure, to, ELOOP);
  if (errno != EXDEV) return failed(failure, to);
  return copy_tree(from, to, overwrite, failure) && remove_tree(from, true, failure);
}

bool remove_tree(const char* path, bool recursive, Failure* failure) {
  struct stat info {};
  if (lstat(path, &info) != 0) return failed(failure, path);
  if (!S_ISDIR(info.st_mode)) return unlink(path) == 0 || failed(failure, path);
  if (rmdir(path) == 0) return true;
  if (!recursive || (errno != ENOTEMPTY && errno != EEXIST)) return failed(failure, path);
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || !clear_tree(fd)) return failed(failure, path);
  if (rmdir(path) == 0) return true;
  // It was there and is empty now, but has another name.
  return failed(failure, path, errno == ENOENT ? ESTALE : errno);
}

}  // namespace atl::guest
