// Files one at a time: stat, mkdir, chmod, and streams of bytes in both directions. A path is resolved here,
// inside, with the permissions of the user who asks. Nothing here opens a device or waits for a pipe.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "guest/program/entry.h"
#include "guest/program/guest.h"
#include "guest/program/hand_over.h"
#include "guest/program/staged_write.h"

namespace atl::guest {
namespace {

void reply_entry(uint32_t channel, Type type, const char* path) {
  Bytes body;
  if (!append_entry(&body, path)) return send_errno(channel, errno, path);
  send_frame(channel, type, 0, body.data(), body.size());
}

// A regular file, or -1 with errno. The check before keeps a device from being opened, the one after is the
// truth.
int open_regular(const char* path, int flags, mode_t mode) {
  struct stat info {};
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
    errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    return -1;
  }
  const int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
  if (fd < 0) return -1;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    errno = EINVAL;
    return -1;
  }
  return fd;
}

struct File : Channel {
  int fd = -1;  // to read from
  StagedWrite write;
  uint32_t credit = 0;
  uint64_t left = 0;
  User user;
  Bytes path;
  Bytes prefix, attributes;
  uint32_t attribute_count = 0;
  bool set_attributes = false;
};

void destroy(Channel* channel) {
  auto* const file = static_cast<File*>(channel);
  if (file->fd >= 0) close(file->fd);
  end(&file->write, file->user);
  file->~File();
  free(file);
}

// Sends one piece of a file that is read.
bool read_piece(Channel* channel) {
  auto* const file = static_cast<File*>(channel);
  size_t size = kDataMax;
  if (size > file->credit) size = file->credit;
  if (size > file->left) size = static_cast<size_t>(file->left);
  if (size == 0 && file->left > 0) return false;
  const ssize_t got = size == 0 ? 0 : send_from(file->id, 0, file->fd, size);
  if (got > 0) {
    file->credit -= static_cast<uint32_t>(got), file->left -= static_cast<uint64_t>(got);
    return true;
  }
  if (got < 0) {
    send_errno(file->id, errno, file->path.c_str());
  } else {
    send_empty(file->id, Type::finished);
  }
  end_channel(file);
  return false;
}

void read_message(Channel* channel, Type type, uint16_t, Reader in) {
  auto* const file = static_cast<File*>(channel);
  if (type == Type::close) return end_channel(file);
  if (type != Type::credit) return;
  const uint32_t bytes = in.u32();
  if (bytes > kOutputWindow - file->credit) return;
  file->credit += bytes;
  schedule(file);
}

bool write_attributes(File* file) {
  char names[4096];
  const int fd = file->write.fd;
  const ssize_t size = flistxattr(fd, names, sizeof names);
  for (const char* name = names; size > 0 && name < names + size; name += strlen(name) + 1)
    if (strncmp(name, file->prefix.data(), file->prefix.size()) == 0) fremovexattr(fd, name);
  Reader in(file->attributes.data(), file->attributes.size());
  for (uint32_t i = 0; i < file->attribute_count; ++i) {
    const Text key = in.text(), value = in.text();
    Bytes name;
    name.append(file->prefix.data(), file->prefix.size());
    name.append(key.data, key.size);
    if (fsetxattr(fd, name.c_str(), value.data, value.size, 0) != 0) return false;
  }
  return true;
}

// A file that was made for this write is removed before the failure is reported.
void fail_write(File* file) {
  const int why = errno;
  file->write.copying = file->write.done = false;
  end(&file->write, file->user);
  send_errno(file->id, why, file->path.c_str());
  end_channel(file);
}

// 0, or the number of what was wrong.
int close_written(File* file) {
  const ActAs user(file->user);
  if (file->set_attributes && !write_attributes(file)) return errno;
  const int fd = file->write.fd;
  file->write.fd = -1;
  if (close(fd) != 0) return errno;
  reply_entry(file->id, Type::finished, file->path.c_str());
  return 0;
}

// One piece at a time: others are served while a large file is copied.
bool commit_more(Channel* channel) {
  auto* const file = static_cast<File*>(channel);
  if (!commit_piece(&file->write)) return fail_write(file), false;
  if (!file->write.done) return true;
  if (const int wrong = close_written(file); wrong != 0) {
    errno = wrong;
    return fail_write(file), false;
  }
  end_channel(file);
  return false;
}

void write_message(Channel* channel, Type type, uint16_t, Reader in) {
  auto* const file = static_cast<File*>(channel);
  // From here on it is brought to its end, whether somebody still waits for that or not.
  if (file->write.copying) return;
  if (type == Type::close) {
    // Now and not when the channel goes: the next request may look.
    end(&file->write, file->user);
    return end_channel(file);
  }
  if (type == Type::end) {
    if (!begin_commit(&file->write)) return fail_write(file);
    if (commit_more(file)) schedule(file);
    return;
  }
  if (type != Type::data) return;
  const Text bytes = in.rest();
  if (!add(&file->write, bytes.data, bytes.size)) return fail_write(file);
  send_credit(file->id, bytes.size);
}

File* make_file(uint32_t channel, Bytes* path) {
  auto* const file = new (malloc(sizeof(File))) File;
  file->path.swap(*path);
  file->destroy = destroy;
  add_channel(file, channel);
  return file;
}

void open_for_reading(uint32_t channel, Reader in, Bytes* path) {
  const uint64_t offset = in.u64(), length = in.u64();
  const uint32_t credit = in.u32();
  if (!in.done() || offset > INT64_MAX) return send_failed(channel, EINVAL, "malformed request");
  const int fd = open_regular(path->data(), O_RDONLY, 0);
  if (fd < 0) return send_errno(channel, errno, path->data());
  if (offset > 0 && lseek(fd, static_cast<off_t>(offset), SEEK_SET) < 0) {
    close(fd);
    return send_errno(channel, EINVAL, path->data());
  }
  reply_entry(channel, Type::reply, path->data());
  File* const file = make_file(channel, path);
  file->fd = fd;
  file->message = read_message, file->work = read_piece;
  file->left = length;
  file->credit = credit < kOutputWindow ? credit : kOutputWindow;
  schedule(file);
}

// What is there, or a new file: `made` says which.
int open_or_make(const char* path, int how, mode_t mode, bool* made) {
  const int there = open_regular(path, how, mode);
  if (there >= 0 || errno != ENOENT) return there;
  const int fd = open_regular(path, how | O_CREAT | O_EXCL, mode);
  *made = fd >= 0;
  if (fd >= 0 || errno != EEXIST) return fd;
  // A link that leads to nothing yet, or somebody was quicker.
  struct stat info {};
  *made = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
  return open_regular(path, how | O_CREAT, mode);
}

// As the user alone: nothing is made or opened that the user may not.
int open_as_user(const User& user, const char* path, int how, mode_t mode, uint8_t flags, bool* made) {
  const ActAs acting(user);
  if ((flags & kWriteParents) != 0 && !make_parents(path)) return -1;
  if ((flags & kWriteHandOver) == 0) return open_or_make(path, how, mode, made);
  // E2B's agent gives a file that is there to the user before it opens it, and a new one after: watchers see
  // both. A user who may write a file that is another's may not take it, and writes it all the same.
  struct stat info {};
  const bool there = stat(path, &info) == 0;
  if (there && S_ISREG(info.st_mode) && chown(path, user.uid, user.gid) != 0) errno = 0;
  const int fd = open_or_make(path, how, mode, made);
  if (fd >= 0 && !there && fchown(fd, user.uid, user.gid) != 0) errno = 0;
  return fd;
}

int open_target(const User& user, const char* path, mode_t mode, uint8_t flags, bool* made) {
  const int how = O_WRONLY | ((flags & kWriteAppend) != 0 ? O_APPEND : 0);
  const int fd = open_as_user(user, path, how, mode, flags, made);
  const bool refused = fd < 0 && (errno == EACCES || errno == EPERM);
  if (!refused || (flags & kWriteHandOver) == 0) return fd;
  return open_handed_over(user, path, how, mode, (flags & kWriteParents) != 0, made);
}

bool make_directory(const User& user, const char* path, bool hand_over) {
  {
    const ActAs acting(user);
    if (make_parents(path) && mkdir(path, 0755) == 0) return true;
  }
  return hand_over && errno == EACCES && make_directory_handed_over(user, path);
}

void open_for_writing(uint32_t channel, Reader in, User* user, Bytes* path) {
  const uint32_t mode = in.u32();
  const uint8_t flags = in.u8();
  const Text prefix = in.text();
  const uint32_t count = in.u32();
  Bytes attributes;
  Writer<Bytes> copy(attributes);
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    const Text name = in.text(), value = in.text();
    copy.text(name.data, name.size), copy.text(value.data, value.size);
  }
  if (!in.done() || has_nul(prefix)) return send_failed(channel, EINVAL, "malformed request");
  bool made = false;
  const int fd = open_target(*user, path->data(), mode & 07777, flags, &made);
  if (fd < 0) return send_errno(channel, errno, path->data());
  File* const file = make_file(channel, path);
  begin(&file->write, fd, made, (flags & kWriteAppend) != 0);
  file->write.handed_over = (flags & kWriteHandOver) != 0;
  file->message = write_message, file->work = commit_more;
  file->set_attributes = (flags & kWriteAttributes) != 0;
  file->prefix.append("user."), file->prefix.append(prefix.data, prefix.size);
  file->attributes.swap(attributes);
  file->attribute_count = count;
  file->user.uid = user->uid, file->user.gid = user->gid, file->user.group_count = user->group_count;
  memcpy(file->user.groups, user->groups, sizeof user->groups);
  send_empty(channel, Type::reply);
}

}  // namespace

void request_file(uint32_t channel, Type type, Reader in) {
  User user;
  Bytes path;
  const Text name = in.text();
  if (!find_user(name, &user)) {
    Bytes text;
    text.append("user '"), text.append(name.data, name.size), text.append("' does not exist");
    return send_failed(channel, EINVAL, text.c_str());
  }
  if (!take_path(in.text(), &path))
    return send_failed(channel, EINVAL, "the path must be absolute and free of NUL bytes");
  // These two may need more than the user has, and act as the user by themselves.
  if (type == Type::write) return open_for_writing(channel, in, &user, &path);
  if (type == Type::make_directory && !make_directory(user, path.data(), in.left() > 0 && in.u8() != 0))
    return send_errno(channel, errno, path.data());
  const ActAs acting(user);
  switch (type) {
    case Type::stat:
    case Type::make_directory: return reply_entry(channel, Type::reply, path.data());
    case Type::chmod:
      if (chmod(path.data(), in.u32() & 07777) != 0) return send_errno(channel, errno, path.data());
      return send_empty(channel, Type::reply);
    default: return open_for_reading(channel, in, &path);
  }
}

}  // namespace atl::guest
