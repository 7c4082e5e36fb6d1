// Watching a directory, and with it every directory below that exists or comes.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/program/entry.h"
#include "guest/program/guest.h"

namespace atl::guest {
namespace {

constexpr uint32_t kMask =
    IN_CREATE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK;
constexpr uint32_t kDirectoriesMax = 8192;
constexpr size_t kBatchBytes = 32U << 10;

// A directory under watch, by the number inotify gave it.
struct Directory {
  int number;
  Directory* next;
  char name[];  // relative to the root, "" for the root itself
};

struct Watch : Channel {
  Source notify;
  User user;
  bool recursive = false;
  Bytes root;
  Directory* directories = nullptr;
  uint32_t count = 0;
  Watch* next_watch = nullptr;
};

Watch* watches = nullptr;  // all that are open

Directory* find(Watch* watch, int number) {
  Directory* directory = watch->directories;
  while (directory != nullptr && directory->number != number) directory = directory->next;
  return directory;
}

void drop(Watch* watch, int number) {
  for (Directory** at = &watch->directories; *at != nullptr; at = &(*at)->next) {
    if ((*at)->number != number) continue;
    Directory* const gone = *at;
    *at = gone->next;
    --watch->count;
    return free(gone);
  }
}

// Relative names are joined below the root; false if that is too long for a path.
bool full_path(const Watch* watch, const char* name, char* out) {
  if (watch->root.size() + strlen(name) + 2 > PATH_MAX) return false;
  memcpy(out, watch->root.data(), watch->root.size());
  char* end = out + watch->root.size();
  if (*name != 0) {
    if (watch->root.size() > 1) *end++ = '/';
    strcpy(end, name), end += strlen(name);
  }
  *end = 0;
  return true;
}

bool add_one(Watch* watch, const char* name) {
  char path[PATH_MAX];
  if (watch->count >= kDirectoriesMax) return errno = ENOSPC, false;
  if (!full_path(watch, name, path)) return errno = ENAMETOOLONG, false;
  const int number = inotify_add_watch(watch->notify.fd, path, kMask | (*name == 0 ? 0 : IN_DONT_FOLLOW));
  if (number < 0) return false;
  drop(watch, number);
  auto* const directory = static_cast<Directory*>(malloc(sizeof(Directory) + strlen(name) + 1));
  directory->number = number;
  strcpy(directory->name, name);
  directory->next = watch->directories;
  watch->directories = directory;
  ++watch->count;
  return true;
}

void add_event(Bytes* events, WatchKind kind, const char* name) {
  Writer<Bytes> out(*events);
  out.u8(static_cast<uint8_t>(kind)), out.text(name, strlen(name));
}

bool join(char* out, const char* directory, const char* name) {
  if (strlen(directory) + strlen(name) + 2 > PATH_MAX) return false;
  out[0] = 0;
  if (*directory != 0) strcpy(out, directory), strcat(out, "/");
  strcat(out, name);
  return true;
}

// Watches `first` and everything below. What is already in a new directory is told as created: it may have
// come before the watch did.
void add_tree(Watch* watch, const char* first, Bytes* events) {
  Bytes pending(0);
  pending.append(first, strlen(first) + 1);
  while (!pending.empty()) {
    char name[PATH_MAX], path[PATH_MAX];
    strcpy(name, pending.data());
    pending.consume(strlen(name) + 1);
    if (!add_one(watch, name) || !full_path(watch, name, path)) continue;
    DIR* const directory = opendir(path);
    if (directory == nullptr) continue;
    while (const dirent* entry = readdir(directory)) {
      char below[PATH_MAX];
      if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
      if (!join(below, name, entry->d_name)) continue;
      if (events != nullptr && events->size() < kBatchBytes) add_event(events, WatchKind::create, below);
      if (entry->d_type == DT_DIR) pending.append(below, strlen(below) + 1);
    }
    closedir(directory);
  }
}

WatchKind kind_of(uint32_t mask) {
  if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0) return WatchKind::create;
  if ((mask & IN_DELETE) != 0) return WatchKind::remove;
  if ((mask & IN_MOVED_FROM) != 0) return WatchKind::rename;
  if ((mask & IN_ATTRIB) != 0) return WatchKind::chmod;
  return WatchKind::write;
}

void take_event(Watch* watch, const inotify_event* event, Bytes* events) {
  if ((event->mask & IN_IGNORED) != 0) return drop(watch, event->wd);
  const Directory* const directory = find(watch, event->wd);
  if (directory == nullptr || event->len == 0) return;
  char name[PATH_MAX];
  if (!join(name, directory->name, event->name)) return;
  add_event(events, kind_of(event->mask), name);
  if (watch->recursive && (event->mask & IN_ISDIR) != 0 && (event->mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
    const ActAs acting(watch->user);
    add_tree(watch, name, events);
  }
}

// Tells one buffer of what has happened; false if nothing has.
bool tell_some(Watch* watch) {
  alignas(inotify_event) char buffer[8192];
  const ssize_t got = read(watch->notify.fd, buffer, sizeof buffer);
  if (got <= 0) return false;
  Bytes events(0);
  for (ssize_t at = 0; at < got;) {
    // JUSTIFICATION: the kernel writes records of this type into the buffer.
    const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    if (events.size() > kBatchBytes)
      send_frame(watch->id, Type::events, 0, events.data(), events.size()), events.clear();
    take_event(watch, event, &events);
  }
  if (!events.empty()) send_frame(watch->id, Type::events, 0, events.data(), events.size());
  return true;
}

void notify_ready(Source* source, uint32_t) {
  tell_some(static_cast<Watch*>(source->owner));
}

void message(Channel* channel, Type type, uint16_t, Reader) {
  if (type == Type::close) end_channel(channel);
}

void destroy(Channel* channel) {
  auto* const watch = static_cast<Watch*>(channel);
  close_source(&watch->notify);
  Watch** at = &watches;
  while (*at != watch) at = &(*at)->next_watch;
  *at = watch->next_watch;
  while (watch->directories != nullptr) drop(watch, watch->directories->number);
  watch->~Watch();
  free(watch);
}

}  // namespace

void tell_watches() {
  // What happens meanwhile belongs to the next time: a program that writes without end must not hold up an
  // answer.
  constexpr int kRoundsMax = 64;
  for (Watch* watch = watches; watch != nullptr; watch = watch->next_watch)
    for (int round = 0; round < kRoundsMax && !watch->over && tell_some(watch);) ++round;
}

void request_watch(uint32_t channel, Reader in) {
  auto* const watch = new (malloc(sizeof(Watch))) Watch;
  watch->message = message, watch->destroy = destroy;
  const Text name = in.text();
  const bool good = take_path(in.text(), &watch->root);
  watch->recursive = in.u8() != 0;
  add_channel(watch, channel);
  watch->next_watch = watches;
  watches = watch;
  if (!good || !in.done()) {
    send_failed(channel, EINVAL, "the path must be absolute and free of NUL bytes");
    return end_channel(watch);
  }
  if (!find_user(name, &watch->user)) {
    send_failed(channel, EINVAL, "the user does not exist");
    return end_channel(watch);
  }
  watch->notify.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  watch->notify.ready = notify_ready, watch->notify.owner = watch;
  const ActAs acting(watch->user);
  if (watch->notify.fd < 0 || !add_one(watch, "")) {
    send_errno(channel, errno, watch->root.data());
    return end_channel(watch);
  }
  if (watch->recursive) add_tree(watch, "", nullptr);
  watch_source(&watch->notify, EPOLLIN);
  send_empty(channel, Type::reply);
}

}  // namespace atl::guest
