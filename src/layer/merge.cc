#include "layer/merge.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "layer/overlay.h"
#include "layer/walk.h"
#include "os/file.h"

namespace atl::layer {
namespace {

Error cannot(const char* doing) {
  return errno_error(errno, doing);
}

// Owner, mode, attributes and time: everything of a directory but its names.
Result<void> copy_stamp(int from, int to, Owners owners) {
  struct stat info {};
  if (::fstat(from, &info) < 0) return fail(cannot("merge layers"));
  if (owners == Owners::kept && ::fchown(to, info.st_uid, info.st_gid) < 0)
    return fail(cannot("merge layers"));
  if (::fchmod(to, info.st_mode & 07777) < 0) return fail(cannot("merge layers"));
  for (const auto& [name, value] : TRY(read_attributes(from)))
    if (::fsetxattr(to, name.c_str(), value.data(), value.size(), 0) < 0) return fail(cannot("merge layers"));
  const timespec times[2] = {{info.st_mtim.tv_sec, 0}, {info.st_mtim.tv_sec, 0}};
  if (::futimens(to, times) < 0) return fail(cannot("merge layers"));
  return {};
}

class Merger {
 public:
  Merger(Below below, Owners owners) : below_(below), owners_(owners) {}

  Result<void> directory(int upper, int lower, int depth) {
    if (depth > kDepthMax) return fail(Code::too_large, "directories are nested too deeply");
    for (const std::string& name : TRY(names_in(upper))) TRY(one(upper, lower, name, depth));
    return copy_stamp(upper, lower, owners_);
  }

 private:
  Result<void> one(int upper, int lower, const std::string& name, int depth) {
    struct stat above {
    }, there{};
    if (::fstatat(upper, name.c_str(), &above, AT_SYMLINK_NOFOLLOW) < 0) return fail(cannot("merge layers"));
    const bool exists = ::fstatat(lower, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_whiteout(above)) {
      TRY(os::remove_tree(lower, name));
      return below_ == Below::something ? make_whiteout(lower, name.c_str()) : Result<void>();
    }
    if (S_ISDIR(above.st_mode)) return sub(upper, lower, name, exists ? &there : nullptr, depth);
    TRY(os::remove_tree(lower, name));
    if (::renameat(upper, name.c_str(), lower, name.c_str()) < 0) return fail(cannot("merge layers"));
    return {};
  }

  Result<void> sub(int upper, int lower, const std::string& name, const struct stat* there, int depth) {
    const OverlayAttributes attributes = attributes_for(owners_);
    const os::Fd in = TRY(os::open_beneath(upper, name.c_str(), O_RDONLY | O_DIRECTORY));
    bool opaque = is_opaque(in.get(), attributes);
    if (there != nullptr && (opaque || !S_ISDIR(there->st_mode))) {
      // What took the place of something else must not let what lies further below shine through.
      opaque = true;
      TRY(os::remove_tree(lower, name));
      there = nullptr;
    }
    if (there == nullptr && ::mkdirat(lower, name.c_str(), 0700) < 0) return fail(cannot("merge layers"));
    const os::Fd out = TRY(os::open_beneath(lower, name.c_str(), O_RDONLY | O_DIRECTORY));
    if (opaque && below_ == Below::something) TRY(mark_opaque(out.get(), attributes));
    return directory(in.get(), out.get(), depth + 1);
  }

  Below below_;
  Owners owners_;
};

class Linker {
 public:
  Linker(int tree, int target, Owners owners) : tree_(tree), target_(target), owners_(owners) {}

  Result<void> add(const Entry& entry, int fd) {
    const char* path = entry.path.c_str();
    switch (entry.kind) {
      case Kind::directory: {
        if (!entry.path.empty() && ::mkdirat(target_, path, 0700) < 0) return fail(cannot("link a layer"));
        if (entry.opaque) {
          const os::Fd made =
              TRY(os::open_at(target_, entry.path.empty() ? "." : path, O_RDONLY | O_DIRECTORY));
          TRY(mark_opaque(made.get(), attributes_for(owners_)));
        }
        directories_.emplace_back(entry.path);
        return {};
      }
      case Kind::whiteout: return make_whiteout(target_, path);
      case Kind::symlink:
      case Kind::file:
      case Kind::hard_link:
        if (::linkat(tree_, path, target_, path, 0) < 0) return fail(cannot("link a layer"));
        return {};
    }
    (void)fd;
    return {};
  }

  Result<void> finish() {
    for (auto at = directories_.rbegin(); at != directories_.rend(); ++at) {
      const char* path = at->empty() ? "." : at->c_str();
      const os::Fd from = TRY(os::open_at(tree_, path, O_RDONLY | O_DIRECTORY));
      const os::Fd to = TRY(os::open_at(target_, path, O_RDONLY | O_DIRECTORY));
      TRY(copy_stamp(from.get(), to.get(), owners_));
    }
    return {};
  }

 private:
  int tree_, target_;
  Owners owners_;
  std::vector<std::string> directories_;
};

}  // namespace

Result<void> merge(int upper, int lower, Below below, Owners owners) {
  return Merger(below, owners).directory(upper, lower, 0);
}

Result<void> link_tree(int tree, int target, Owners owners) {
  Linker linker(tree, target, owners);
  TRY(walk(tree, attributes_for(owners), [&](const Entry& entry, int fd) { return linker.add(entry, fd); }));
  return linker.finish();
}

}  // namespace atl::layer
