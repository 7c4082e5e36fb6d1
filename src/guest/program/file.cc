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
  int fd = -1;
  bool writing = false;
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
  const ssize_t size = flistxattr(file->fd, names, sizeof names);
  for (const char* name = names; size > 0 && name < names + size; name += strlen(name) + 1)
    if (strncmp(name, file->prefix.data(), file->prefix.size()) == 0) fremovexattr(file->fd, name);
  Reader in(file->attributes.data(), file->attributes.size());
  for (uint32_t i = 0; i < file->attribute_count; ++i) {
    const Text key = in.text(), value = in.text();
    Bytes name;
    name.append(file->prefix.data(), file->prefix.size());
    name.append(key.data, key.size);
    if (fsetxattr(file->fd, name.c_str(), value.data, value.size, 0) != 0) return false;
  }
  return true;
}

void finish_write(File* file) {
  const ActAs user(file->user);
  const bool good = (!file->set_attributes || write_attributes(file)) && close(file->fd) == 0;
  const int error = errno;
  if (good) file->fd = -1;
  if (good) {
    reply_entry(file->id, Type::finished, file->path.c_str());
  } else {
    send_errno(file->id, error, file->path.c_str());
  }
  end_channel(file);
}

void write_message(Channel* channel, Type type, uint16_t, Reader in) {
  auto* const file = static_cast<File*>(channel);
  if (type == Type::close) return end_channel(file);
  if (type == Type::end) return finish_write(file);
  if (type != Type::data) return;
  const Text bytes = in.rest();
  for (uint32_t done = 0; done < bytes.size;) {
    const ssize_t wrote = write(file->fd, bytes.data + done, bytes.size - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      send_errno(file->id, wrote == 0 ? ENOSPC : errno, file->path.c_str());
      return end_channel(file);
    }
    done += static_cast<uint32_t>(wrote);
  }
  send_credit(file->id, bytes.size);
}

File* make_file(uint32_t channel, int fd, Bytes* path) {
  auto* const file = new (malloc(sizeof(File))) File;
  file->fd = fd;
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
  File* const file = make_file(channel, fd, path);
  file->message = read_message, file->work = read_piece;
  file->left = length;
  file->credit = credit < kOutputWindow ? credit : kOutputWindow;
  schedule(file);
}

// As the user alone: nothing is made or opened that the user may not.
int open_as_user(const User& user, const char* path, int how, mode_t mode, uint8_t flags) {
  const ActAs acting(user);
  if ((flags & kWriteParents) != 0 && !make_parents(path)) return -1;
  if ((flags & kWriteHandOver) == 0) return open_regular(path, how, mode);
  // E2B's agent gives a file that is there to the user before it opens it, and a new one after: watchers see
  // both. A user who may write a file that is another's may not take it, and writes it all the same.
  struct stat info {};
  const bool there = stat(path, &info) == 0;
  if (there && S_ISREG(info.st_mode) && chown(path, user.uid, user.gid) != 0) errno = 0;
  const int fd = open_regular(path, how, mode);
  if (fd >= 0 && !there && fchown(fd, user.uid, user.gid) != 0) errno = 0;
  return fd;
}

int open_target(const User& user, const char* path, mode_t mode, uint8_t flags) {
  const int how = O_WRONLY | O_CREAT | ((flags & kWriteAppend) != 0 ? O_APPEND : O_TRUNC);
  const int fd = open_as_user(user, path, how, mode, flags);
  const bool refused = fd < 0 && (errno == EACCES || errno == EPERM);
  if (!refused || (flags & kWriteHandOver) == 0) return fd;
  return open_handed_over(user, path, how, mode, (flags & kWriteParents) != 0);
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
  const int fd = open_target(*user, path->data(), mode & 07777, flags);
  if (fd < 0) return send_errno(channel, errno, path->data());
  File* const file = make_file(channel, fd, path);
  file->message = write_message;
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
