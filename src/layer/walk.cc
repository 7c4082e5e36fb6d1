#include "layer/walk.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <vector>

#include "os/file.h"

namespace atl::layer {
namespace {

class Walker {
 public:
  Walker(OverlayAttributes attributes, const Visit& visit) : attributes_(attributes), visit_(visit) {}

  Result<void> directory(int fd, std::string path, int depth) {
    if (depth > kDepthMax || path.size() > kPathBytesMax)
      return fail(Error(Code::too_large, "directories are nested too deeply").with_detail(path));
    Entry entry{.kind = Kind::directory, .path = path};
    if (::fstat(fd, &entry.info) < 0) return fail(errno_error(errno, "read a directory").with_detail(path));
    entry.opaque = is_opaque(fd, attributes_);
    entry.attributes = TRY(read_attributes(fd));
    TRY(visit_(entry, fd));
    for (const std::string& name : TRY(names_in(fd)))
      TRY(one(fd, name, path.empty() ? name : path + "/" + name, depth));
    return {};
  }

 private:
  Result<void> one(int parent, const std::string& name, std::string path, int depth) {
    Entry entry{.path = std::move(path)};
    if (::fstatat(parent, name.c_str(), &entry.info, AT_SYMLINK_NOFOLLOW) < 0)
      return fail(errno_error(errno, "read a directory").with_detail(entry.path));
    if (S_ISDIR(entry.info.st_mode)) {
      const os::Fd fd = TRY(os::open_beneath(parent, name.c_str(), O_RDONLY | O_DIRECTORY));
      return directory(fd.get(), std::move(entry.path), depth + 1);
    }
    if (is_whiteout(entry.info)) {
      entry.kind = Kind::whiteout;
      return visit_(entry, -1);
    }
    if (S_ISLNK(entry.info.st_mode)) return link(parent, name, entry);
    if (S_ISREG(entry.info.st_mode)) return file(parent, name, entry);
    return {};
  }

  Result<void> link(int parent, const std::string& name, Entry& entry) {
    char target[kPathBytesMax];
    const ssize_t length = ::readlinkat(parent, name.c_str(), target, sizeof target);
    if (length < 0) return fail(errno_error(errno, "read a link").with_detail(entry.path));
    entry.kind = Kind::symlink;
    entry.target.assign(target, static_cast<std::size_t>(length));
    return visit_(entry, -1);
  }

  Result<void> file(int parent, const std::string& name, Entry& entry) {
    if (entry.info.st_nlink > 1) {
      const auto [first, fresh] =
          first_path_.emplace(std::pair(entry.info.st_dev, entry.info.st_ino), entry.path);
      if (!fresh) {
        entry.kind = Kind::hard_link;
        entry.target = first->second;
        return visit_(entry, -1);
      }
    }
    const os::Fd fd = TRY(os::open_beneath(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    entry.attributes = TRY(read_attributes(fd.get()));
    return visit_(entry, fd.get());
  }

  OverlayAttributes attributes_;
  const Visit& visit_;
  std::map<std::pair<dev_t, ino_t>, std::string> first_path_;
};

}  // namespace

Result<std::vector<std::string>> names_in(int directory) {
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return fail(errno_error(errno, "read a directory"));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), &::closedir);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Result<void> walk(int root, OverlayAttributes attributes, const Visit& visit) {
  return Walker(attributes, visit).directory(root, "", 0);
}

}  // namespace atl::layer
