// Users and groups of the sandbox, from its own /etc/passwd and /etc/group. No name service: files only.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/program/guest.h"

namespace atl::guest {
namespace {

constexpr size_t kDatabaseMax = 1U << 20;

// A database file, read again only when it changed.
struct Database {
  explicit Database(const char* file) : path(file) {}
  const char* path;
  struct stat seen {};
  Bytes text{64U << 10};
};

Database& passwd() {
  static Database database("/etc/passwd");
  return database;
}
Database& group() {
  static Database database("/etc/group");
  return database;
}

void refresh(Database& database) {
  struct stat now {};
  if (stat(database.path, &now) != 0) {
    database.text.clear();
    return;
  }
  const struct stat& seen = database.seen;
  if (!database.text.empty() && now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
      now.st_dev == seen.st_dev && now.st_mtim.tv_sec == seen.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec) {
    return;
  }
  database.text.clear();
  const int fd = open(database.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return;
  if (fstat(fd, &now) == 0 && S_ISREG(now.st_mode)) {
    for (;;) {
      const ssize_t got = read(fd, database.text.reserve(4096), 4096);
      if (got <= 0 || database.text.size() > kDatabaseMax) break;
      database.text.commit(static_cast<size_t>(got));
    }
    database.seen = now;
  }
  close(fd);
}

// The next field of a line up to ':' or its end.
Text field(Text* line) {
  if (line->size == 0) return *line;
  const char* const end = static_cast<const char*>(memchr(line->data, ':', line->size));
  const uint32_t size = end == nullptr ? line->size : static_cast<uint32_t>(end - line->data);
  const Text out{line->data, size};
  const uint32_t skip = end == nullptr ? size : size + 1;
  line->data += skip, line->size -= skip;
  return out;
}

bool next_line(Text* text, Text* line) {
  if (text->size == 0) return false;
  const char* const end = static_cast<const char*>(memchr(text->data, '\n', text->size));
  line->data = text->data;
  line->size = end == nullptr ? text->size : static_cast<uint32_t>(end - text->data);
  const uint32_t skip = end == nullptr ? line->size : line->size + 1;
  text->data += skip, text->size -= skip;
  return true;
}

bool number(Text text, uint32_t* out) {
  if (text.size == 0 || text.size > 10) return false;
  uint64_t value = 0;
  for (uint32_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    value = value * 10 + static_cast<uint64_t>(text.data[i] - '0');
  }
  if (value >= UINT32_MAX) return false;
  *out = static_cast<uint32_t>(value);
  return true;
}

bool same(Text a, Text b) {
  return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

void set(Bytes& out, Text text) {
  out.clear();
  out.append(text.data, text.size);
}

void collect_groups(User* user) {
  user->groups[0] = user->gid;
  user->group_count = 1;
  refresh(group());
  Text all{group().text.data(), static_cast<uint32_t>(group().text.size())}, line;
  const Text name{user->name.data(), static_cast<uint32_t>(user->name.size())};
  while (next_line(&all, &line) && user->group_count < 64) {
    field(&line), field(&line);
    uint32_t gid = 0;
    if (!number(field(&line), &gid) || gid == user->gid) continue;
    for (Text members = line; members.size > 0;) {
      const char* const end = static_cast<const char*>(memchr(members.data, ',', members.size));
      const uint32_t size = end == nullptr ? members.size : static_cast<uint32_t>(end - members.data);
      if (same({members.data, size}, name)) {
        user->groups[user->group_count++] = gid;
        break;
      }
      const uint32_t skip = end == nullptr ? size : size + 1;
      members.data += skip, members.size -= skip;
    }
  }
}

// By name when `by_number` is false.
bool look_up(Text name, bool by_number, uint32_t uid, User* user) {
  refresh(passwd());
  Text all{passwd().text.data(), static_cast<uint32_t>(passwd().text.size())}, line;
  while (next_line(&all, &line)) {
    const Text login = field(&line);
    field(&line);
    uint32_t its_uid = 0, its_gid = 0;
    if (!number(field(&line), &its_uid) || !number(field(&line), &its_gid)) continue;
    if (by_number ? its_uid != uid : !same(login, name)) continue;
    field(&line);
    user->uid = its_uid, user->gid = its_gid;
    set(user->name, login), set(user->home, field(&line)), set(user->shell, field(&line));
    return true;
  }
  return false;
}

void append_name(Bytes* out, Database& database, uint32_t id) {
  refresh(database);
  Text all{database.text.data(), static_cast<uint32_t>(database.text.size())}, line;
  while (next_line(&all, &line)) {
    const Text name = field(&line);
    field(&line);
    uint32_t its_id = 0;
    if (number(field(&line), &its_id) && its_id == id) return out->append(name.data, name.size);
  }
  append_number(*out, id);
}

}  // namespace

bool find_user(Text name, User* user) {
  if (name.size > 0 && look_up(name, false, 0, user)) return collect_groups(user), true;
  Text rest = name;
  uint32_t uid = 0, gid = 0;
  if (!number(field(&rest), &uid)) return false;
  const bool has_gid = rest.size > 0 && number(rest, &gid);
  if (rest.size > 0 && !has_gid) return false;
  if (!look_up({}, true, uid, user)) {
    user->uid = uid, user->gid = uid;
    user->name.clear(), append_number(user->name, uid);
    user->home.clear(), user->home.append("/");
    user->shell.clear(), user->shell.append("/bin/sh");
  }
  if (has_gid) user->gid = gid;
  collect_groups(user);
  return true;
}

void append_user_name(Bytes* out, uid_t uid) {
  append_name(out, passwd(), uid);
}
void append_group_name(Bytes* out, gid_t gid) {
  append_name(out, group(), gid);
}

bool become(const User& user) {
  if (geteuid() != 0) return getuid() == user.uid;
  // Where there is one id only, the kernel lets no process change groups: one that stays the same user goes
  // on with none.
  if (syscall(SYS_setgroups, user.group_count, user.groups) != 0 && (user.uid != 0 || user.gid != 0))
    return false;
  return syscall(SYS_setresgid, user.gid, user.gid, user.gid) == 0 &&
         syscall(SYS_setresuid, user.uid, user.uid, user.uid) == 0;
}

namespace {

// gVisor's kernel has no ids for files alone: there the effective ones stand in for them, and the saved ones
// are the way back.
bool has_file_ids() {
  static const bool has = [] {
    setfsuid(1);
    const bool took = setfsuid(static_cast<uid_t>(-1)) == 1;
    setfsuid(0);
    return took;
  }();
  return has;
}

void set_file_ids(uid_t uid, gid_t gid) {
  if (has_file_ids()) {
    setfsgid(gid);
    setfsuid(uid);
    return;
  }
  constexpr auto keep = static_cast<uid_t>(-1);
  // Root first, where it is given up last: only root may change the group.
  if (uid == 0) syscall(SYS_setresuid, keep, uid, keep);
  syscall(SYS_setresgid, keep, gid, keep);
  if (uid != 0) syscall(SYS_setresuid, keep, uid, keep);
}

}  // namespace

ActAs::ActAs(const User& user) : changed_(geteuid() == 0 && (user.uid != 0 || user.gid != 0)) {
  if (!changed_) return;
  syscall(SYS_setgroups, user.group_count, user.groups);
  set_file_ids(user.uid, user.gid);
}

ActAs::~ActAs() {
  if (!changed_) return;
  const int error = errno;  // of what was done as the user
  set_file_ids(0, 0);
  syscall(SYS_setgroups, 0, nullptr);
  errno = error;
}

}  // namespace atl::guest
