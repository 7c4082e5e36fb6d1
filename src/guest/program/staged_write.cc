#include "guest/program/staged_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace atl::guest {
namespace {

constexpr size_t kHeldMax = 64U << 10;
constexpr size_t kPiece = 64U << 10;

bool write_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t wrote = write(fd, bytes, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote == 0) errno = ENOSPC;
    if (wrote <= 0) return false;
    bytes += wrote, size -= static_cast<size_t>(wrote);
  }
  return true;
}

// Where the descriptor's file is. Without a /proc nothing is known.
void find_place(int fd, Bytes* place) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path);
  if (size > 0 && path[0] == '/' && static_cast<size_t>(size) < sizeof path)
    place->append(path, static_cast<size_t>(size));
}

// The directory that holds it, and where its name begins in `place`. -1 if it is not known.
int open_directory_of(Bytes* place, const char** name) {
  if (place->empty()) return -1;
  const char* const path = place->c_str();
  const char* const slash = strrchr(path, '/');
  Bytes directory;
  directory.append(path, static_cast<size_t>(slash - path) + 1);
  *name = slash + 1;
  return open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int open_nameless(int directory) {
  const int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || errno == ENOSPC || errno == EDQUOT) return fd;
  // Not every filesystem makes files without a name.
  static unsigned turn = 0;
  for (int attempt = 0; attempt < 100; ++attempt) {
    char name[64];
    snprintf(name, sizeof name, ".atoll-upload-%d-%u", static_cast<int>(getpid()), ++turn);
    const int named = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (named >= 0) unlinkat(directory, name, 0);
    if (named >= 0 || errno != EEXIST) return named;
  }
  return -1;
}

int open_stage(StagedWrite* write) {
  const char* name = nullptr;
  const int beside = open_directory_of(&write->place, &name);
  const int fd = beside >= 0 ? open_nameless(beside) : -1;
  const int error = errno;
  if (beside >= 0) close(beside);
  errno = error;
  if (fd >= 0 || (beside >= 0 && (error == ENOSPC || error == EDQUOT))) return fd;
  const int elsewhere = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (elsewhere < 0) return -1;
  const int other = open_nameless(elsewhere);
  const int why = errno;
  close(elsewhere);
  errno = why;
  return other;
}

// Only the very file that was made, whatever has its name by now, and from the directory it is in: a link
// that somebody plants on the way leads nowhere.
bool remove_made(StagedWrite* write) {
  struct stat mine {
  }, there{};
  const char* name = nullptr;
  if (fstat(write->fd, &mine) != 0 || mine.st_nlink == 0) return true;
  const int directory = open_directory_of(&write->place, &name);
  if (directory < 0) return false;
  const bool same = fstatat(directory, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                    there.st_ino == mine.st_ino && there.st_dev == mine.st_dev;
  const bool gone = same && unlinkat(directory, name, 0) == 0;
  close(directory);
  return gone;
}

}  // namespace

void begin(StagedWrite* write, int fd, bool made, bool append) {
  write->fd = fd, write->made = made, write->append = append;
  find_place(fd, &write->place);
}

bool add(StagedWrite* write, const char* bytes, size_t size) {
  if (write->made) return write_all(write->fd, bytes, size);
  write->size += size;
  if (write->stage < 0 && write->size <= kHeldMax) {
    write->held.append(bytes, size);
    return true;
  }
  if (write->stage < 0) {
    write->stage = open_stage(write);
    if (write->stage < 0 || !write_all(write->stage, write->held.data(), write->held.size())) return false;
    write->held.clear();
  }
  return write_all(write->stage, bytes, size);
}

bool begin_commit(StagedWrite* write) {
  struct stat info {};
  if (!write->made) {
    if (fstat(write->fd, &info) != 0) return false;
    // Room first, for as long as the file is still as it was. Not every filesystem can promise it.
    const off_t from = write->append ? info.st_size : 0;
    const bool full = write->size > 0 &&
                      fallocate(write->fd, FALLOC_FL_KEEP_SIZE, from, static_cast<off_t>(write->size)) != 0 &&
                      (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
    if (full) return false;
    if (!write->append && ftruncate(write->fd, 0) != 0) return false;
  }
  write->copying = true;
  return true;
}

bool commit_piece(StagedWrite* write) {
  if (write->made) return write->done = true;
  if (write->stage < 0) {
    write->done = true;
    return write_all(write->fd, write->held.data(), write->held.size());
  }
  static char piece[kPiece];
  const ssize_t got = pread(write->stage, piece, sizeof piece, static_cast<off_t>(write->copied));
  if (got < 0) return false;
  write->copied += static_cast<uint64_t>(got);
  write->done = got == 0;
  return write_all(write->fd, piece, static_cast<size_t>(got));
}

void end(StagedWrite* write, const User& user) {
  while (write->copying && !write->done && commit_piece(write)) {
  }
  if (write->made && !write->done && write->fd >= 0) {
    bool gone = false;
    {
      const ActAs acting(user);
      gone = remove_made(write);
    }
    if (!gone && write->handed_over) remove_made(write);
  }
  if (write->fd >= 0) close(write->fd);
  if (write->stage >= 0) close(write->stage);
  write->fd = write->stage = -1;
}

}  // namespace atl::guest
