#include "sandbox/native/snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "os/file.h"

namespace atl::sandbox::native {
namespace {

constexpr int kDepthMax = 512;
constexpr const char* kOpaque = "trusted.overlay.opaque";
constexpr const char* kOpaqueOfUsers = "user.overlay.opaque";
// In /etc: made anew for each sandbox.
constexpr const char* kMadeAnew[] = {"machine-id", "hostname", "hosts", "resolv.conf"};

bool is_whiteout(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == 0;
}

// Owner numbers as inside; what is not of the sandbox's range (there should be none) becomes nobody.
struct Owner {
  std::uint32_t first = 0, count = 0;
  bool shift = false;
  uid_t operator()(uid_t id) const {
    if (!shift) return id;
    return id >= first && id - first < count ? id - first : 65534;
  }
};

void copy_attributes(int from, int to) {
  char names[8192];
  const ssize_t size = ::flistxattr(from, names, sizeof names);
  for (ssize_t at = 0; at < size;) {
    const std::string name = names + at;
    at += static_cast<ssize_t>(name.size()) + 1;
    const bool wanted = name.starts_with("user.") || name == kOpaque || name == "security.capability";
    std::string value(65536, '\0');
    const ssize_t length = wanted ? ::fgetxattr(from, name.c_str(), value.data(), value.size()) : -1;
    if (length >= 0) ::fsetxattr(to, name.c_str(), value.data(), static_cast<std::size_t>(length), 0);
  }
}

// Holes stay holes: a sparse file of a hostile size costs what it holds.
Result<void> copy_bytes(int from, int to, off_t size) {
  off_t at = 0;
  while (at < size) {
    const off_t data = ::lseek(from, at, SEEK_DATA);
    if (data < 0) break;
    off_t end = ::lseek(from, data, SEEK_HOLE);
    if (end < 0 || end > size) end = size;
    if (::lseek(to, data, SEEK_SET) < 0) return fail(errno_error(errno, "write snapshot"));
    off_t position = data;
    while (position < end) {
      const ssize_t sent = ::sendfile(to, from, &position, static_cast<std::size_t>(end - position));
      if (sent < 0) return fail(errno_error(errno, "write snapshot"));
      if (sent == 0) break;
    }
    at = end;
  }
  if (::ftruncate(to, size) < 0) return fail(errno_error(errno, "write snapshot"));
  return {};
}

class SnapshotCopier {
 public:
  SnapshotCopier(Owner owner, bool link_files, bool rootless)
      : owner_(owner), link_files_(link_files), opaque_(rootless ? kOpaqueOfUsers : kOpaque) {}

  // Everything but what is made anew.
  Result<void> root(int from, int to) {
    is_root_ = true;
    return directory(from, to, 0);
  }

  Result<void> directory(int from, int to, int depth) {
    if (depth > kDepthMax) return fail(Code::too_large, "directories are nested too deeply");
    const int copy = ::openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return fail(errno_error(errno, "read directory"));
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), &::closedir);
    while (const dirent* entry = ::readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." ||
          (depth == 1 && in_etc_ && std::ranges::find(kMadeAnew, name) != std::end(kMadeAnew)))
        continue;
      if (depth == 0) in_etc_ = is_root_ && name == "etc";
      TRY(copy_entry(from, to, entry->d_name, depth));
    }
    return {};
  }

  void finish(int to, const char* name, const struct stat& info) {
    (void)!::fchownat(to, name, owner_(info.st_uid), owner_(info.st_gid), AT_SYMLINK_NOFOLLOW);
    if (!S_ISLNK(info.st_mode)) ::fchmodat(to, name, info.st_mode & 07777, 0);
    const timespec times[2] = {info.st_atim, info.st_mtim};
    ::utimensat(to, name, times, AT_SYMLINK_NOFOLLOW);
  }

 private:
  // Sockets, pipes and devices are of processes, not of the tree: they are left out.
  Result<void> copy_entry(int from, int to, const char* name, int depth) {
    struct stat info {};
    if (::fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
      return fail(errno_error(errno, "read directory"));
    if (is_whiteout(info)) {
      TRY(os::remove_tree(to, name));
      if (::mknodat(to, name, S_IFCHR, 0) < 0) return fail(errno_error(errno, "write snapshot"));
      return {};
    }
    if (S_ISDIR(info.st_mode)) return copy_directory(from, to, name, info, depth);
    if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) return {};
    TRY(os::remove_tree(to, name));
    if (S_ISLNK(info.st_mode)) {
      char target[4096];
      const ssize_t length = ::readlinkat(from, name, target, sizeof target - 1);
      if (length < 0) return fail(errno_error(errno, "read link"));
      target[length] = '\0';
      if (::symlinkat(target, to, name) < 0) return fail(errno_error(errno, "write snapshot"));
      finish(to, name, info);
      return {};
    }
    if (link_files_ && ::linkat(from, name, to, name, 0) == 0) return {};
    const os::Fd in = TRY(os::open_beneath(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    const os::Fd out = TRY(os::open_at(to, name, O_WRONLY | O_CREAT | O_EXCL, 0600));
    TRY(copy_bytes(in.get(), out.get(), info.st_size));
    copy_attributes(in.get(), out.get());
    finish(to, name, info);
    return {};
  }

  Result<void> copy_directory(int from, int to, const char* name, const struct stat& info, int depth) {
    const os::Fd in = TRY(os::open_beneath(from, name, O_RDONLY | O_DIRECTORY));
    char opaque = 0;
    const bool replaces = ::fgetxattr(in.get(), opaque_, &opaque, 1) == 1 && opaque == 'y';
    struct stat there {};
    const bool exists = ::fstatat(to, name, &there, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && (replaces || !S_ISDIR(there.st_mode))) TRY(os::remove_tree(to, name));
    if (::mkdirat(to, name, 0700) < 0 && errno != EEXIST) return fail(errno_error(errno, "write snapshot"));
    {
      const os::Fd out = TRY(os::open_beneath(to, name, O_RDONLY | O_DIRECTORY));
      TRY(directory(in.get(), out.get(), depth + 1));
      copy_attributes(in.get(), out.get());
    }
    finish(to, name, info);
    return {};
  }

  Owner owner_;
  bool link_files_;
  bool is_root_ = false, in_etc_ = false;
  const char* opaque_;
};

Result<void> fill(const SnapshotJob& job, int target) {
  for (const char* part : {"root", "usr"}) {
    if (::mkdirat(target, part, 0755) < 0) return fail(errno_error(errno, "write snapshot"));
    const os::Fd out = TRY(os::open_at(target, part, O_RDONLY | O_DIRECTORY));
    if (job.parent >= 0) {
      const os::Fd in = TRY(os::open_beneath(job.parent, part, O_RDONLY | O_DIRECTORY));
      TRY(SnapshotCopier(Owner{}, true, job.rootless).directory(in.get(), out.get(), 0));
    }
    const os::Fd in = TRY(os::open_at(job.upper, part, O_RDONLY | O_DIRECTORY));
    SnapshotCopier copier(Owner{job.first_id, job.ids, !job.rootless}, false, job.rootless);
    TRY(part == std::string_view("root") ? copier.root(in.get(), out.get())
                                         : copier.directory(in.get(), out.get(), 0));
  }
  // A parent of an earlier version may hold them, and whom a sandbox trusts is its own matter
  // (sandbox/proxy endpoint.h). The tree is a guest's: its links are not followed.
  if (const auto etc = os::open_beneath(target, "root/etc", O_RDONLY | O_DIRECTORY); etc && job.parent >= 0)
    for (const char* name : kMadeAnew) ::unlinkat(etc->get(), name, 0);
  if (const auto run = os::open_beneath(target, "root/run", O_RDONLY | O_DIRECTORY))
    TRY(os::remove_tree(run->get(), "atoll"));
  return job.beside ? job.beside(target) : Result<void>();
}

}  // namespace

Result<void> write_snapshot(const SnapshotJob& job) {
  const std::string draft = job.name + kDraftSuffix;
  if (::faccessat(job.directory, job.name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
    return fail(Code::already_exists, "the snapshot exists");
  TRY(os::remove_tree(job.directory, draft));
  if (::mkdirat(job.directory, draft.c_str(), 0700) < 0)
    return fail(errno_error(errno, "make the snapshot's directory"));
  const os::Fd target = TRY(os::open_beneath(job.directory, draft.c_str(), O_RDONLY | O_DIRECTORY));
  if (auto done = fill(job, target.get()); !done) {
    (void)os::remove_tree(job.directory, draft);
    return done;
  }
  if (job.durable) ::syncfs(target.get());
  if (::renameat2(job.directory, draft.c_str(), job.directory, job.name.c_str(), RENAME_NOREPLACE) < 0)
    return fail(errno_error(errno, "name the snapshot"));
  if (job.durable && ::fsync(job.directory) < 0) return fail(errno_error(errno, "name the snapshot"));
  return {};
}

}  // namespace atl::sandbox::native
