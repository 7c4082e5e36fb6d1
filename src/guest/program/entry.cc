#include "guest/program/entry.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace atl::guest {
namespace {

constexpr size_t kAttributesMax = 16U << 10;

EntryType type_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryType::file;
  if (S_ISDIR(mode)) return EntryType::directory;
  if (S_ISLNK(mode)) return EntryType::symlink;
  return EntryType::other;
}

int64_t micros(const timespec& time) {
  constexpr int64_t kSecondsMax = 9'000'000'000'000;
  const int64_t seconds = time.tv_sec > kSecondsMax    ? kSecondsMax
                          : time.tv_sec < -kSecondsMax ? -kSecondsMax
                                                       : time.tv_sec;
  return seconds * 1000000 + time.tv_nsec / 1000;
}

// As many as fit; an attribute that vanishes meanwhile is not told.
void append_attributes(Bytes* out, const char* path, mode_t mode) {
  Bytes found;
  uint32_t count = 0;
  char names[4096];
  const ssize_t size = S_ISREG(mode) || S_ISDIR(mode) ? llistxattr(path, names, sizeof names) : 0;
  for (const char* name = names; size > 0 && name < names + size; name += strlen(name) + 1) {
    if (strncmp(name, "user.", 5) != 0) continue;
    char value[8192];
    const ssize_t length = lgetxattr(path, name, value, sizeof value);
    if (length < 0 || found.size() + strlen(name) + static_cast<size_t>(length) > kAttributesMax) continue;
    Writer<Bytes> item(found);
    item.text(name, strlen(name)), item.text(value, static_cast<size_t>(length));
    ++count;
  }
  Writer<Bytes>(*out).u32(count);
  out->append(found.data(), found.size());
}

}  // namespace

bool append_entry(Bytes* out, const char* path) {
  struct stat link {
  }, target{};
  if (lstat(path, &link) != 0) return false;
  target = link;
  char resolved[PATH_MAX] = "";
  EntryType target_type = type_of(link.st_mode);
  if (S_ISLNK(link.st_mode)) {
    const bool leads = stat(path, &target) == 0 && realpath(path, resolved) != nullptr;
    target_type = leads ? type_of(target.st_mode) : EntryType::unknown;
    if (!leads) target = link, resolved[0] = 0;
  }
  const char* const slash = strrchr(path, '/');
  const char* const name = slash == nullptr ? path : slash[1] == 0 ? "/" : slash + 1;
  Writer<Bytes> entry(*out);
  entry.text(name, strlen(name)), entry.text(path, strlen(path));
  entry.u8(static_cast<uint8_t>(type_of(link.st_mode))), entry.u8(static_cast<uint8_t>(target_type));
  entry.u64(static_cast<uint64_t>(target.st_size));
  entry.u32(target.st_mode & 07777), entry.u32(link.st_mode & 07777);
  entry.u32(target.st_uid), entry.u32(target.st_gid);
  Bytes owner, group;
  append_user_name(&owner, target.st_uid), append_group_name(&group, target.st_gid);
  entry.text(owner.data(), owner.size()), entry.text(group.data(), group.size());
  entry.i64(micros(target.st_mtim));
  entry.text(resolved, strlen(resolved));
  append_attributes(out, path, link.st_mode);
  return true;
}

bool make_parents(const char* path) {
  char part[PATH_MAX];
  strcpy(part, path);
  char* const last = strrchr(part, '/');
  if (last == nullptr || last == part) return true;
  *last = 0;
  struct stat info {};
  if (stat(part, &info) == 0) return S_ISDIR(info.st_mode) || (errno = ENOTDIR, false);
  if (errno != ENOENT) return false;
  for (char* slash = part;;) {
    slash = strchr(slash + 1, '/');
    if (slash != nullptr) *slash = 0;
    if (mkdir(part, 0755) != 0 && errno != EEXIST) return false;
    if (slash == nullptr) return true;
    *slash = '/';
  }
}

bool take_path(Text text, Bytes* out) {
  if (text.size == 0 || text.size >= kPathMax || has_nul(text) || text.data[0] != '/') return false;
  out->append(text.data, text.size);
  // A trailing slash would make a name out of nothing.
  while (out->size() > 1 && out->data()[out->size() - 1] == '/') out->shrink_to(out->size() - 1);
  out->c_str();
  return true;
}

}  // namespace atl::guest
