#include "layer/extract.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "layer/walk.h"
#include "os/file.h"

namespace atl::layer {
namespace {

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";
constexpr std::size_t kNameBytesMax = 255;
// Within what filesystems can store.
constexpr la_int64_t kTimeMax = 1LL << 33;

Error bad(std::string_view path, std::string_view what) {
  return {Code::invalid_argument, fmt::format("the archive's entry '{}' {}", path, what)};
}

struct Split {
  std::string parent, name;
};
Split split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// What is set last, when nothing in the directory changes any more.
struct DirectoryStamp {
  mode_t mode = 0755;
  uid_t uid = 0;
  gid_t gid = 0;
  time_t time = 0;
  Attributes attributes;
};

class Extraction {
 public:
  Extraction(int tree, Owners owners, Whiteouts whiteouts)
      : tree_(tree), owners_(owners), whiteouts_(whiteouts) {
    directories_.emplace("", DirectoryStamp{});
  }

  Result<void> add(archive_entry* entry, TarReader& reader) {
    const char* raw = archive_entry_pathname(entry);
    if (raw == nullptr) return fail(Code::invalid_argument, "the archive has an entry without a name");
    const std::string path = TRY(clean_path(raw));
    // Whiteouts count, too: an archive of nothing else is not empty.
    ++extracted_.entries;
    if (whiteouts_ == Whiteouts::oci) {
      const Split at = split(path);
      if (at.name.starts_with(kWhiteout)) return hide(at);
    }
    if (archive_entry_hardlink(entry) != nullptr) return hard_link(path, entry);
    switch (archive_entry_filetype(entry)) {
      case AE_IFREG: return file(path, entry, reader);
      case AE_IFDIR: return directory(path, entry);
      case AE_IFLNK: return symlink(path, entry);
      case AE_IFCHR:
      case AE_IFBLK:
      case AE_IFIFO:
      // A device in a layer would be a hole in the wall, and the others are nothing without the process that
      // made them.
      case AE_IFSOCK: ++extracted_.devices_dropped; return {};
      default: return fail(bad(path, "is of an unknown kind"));
    }
  }

  Result<Extracted> finish() {
    // Deepest first: setting a directory's time must come after everything below it.
    for (auto at = directories_.rbegin(); at != directories_.rend(); ++at)
      TRY(stamp_directory(at->first, at->second));
    return extracted_;
  }

 private:
  // The directory to put something into; made if the archive forgot it.
  Result<int> parent_of(const std::string& path, const std::string& parent) {
    if (parent.empty()) return tree_;
    // Archives name the files of one directory one after the other.
    if (last_.is_open() && parent == last_path_) return last_.get();
    auto opened = os::open_beneath(tree_, parent.c_str(), O_RDONLY | O_DIRECTORY);
    if (!opened) {
      if (opened.error().code() != Code::not_found)
        return fail(bad(path, "stands below something that is no directory"));
      TRY(make_parents(path, parent));
      opened = os::open_beneath(tree_, parent.c_str(), O_RDONLY | O_DIRECTORY);
      if (!opened) return fail(bad(path, "stands below something that is no directory"));
    }
    last_ = std::move(*opened);
    last_path_ = parent;
    return last_.get();
  }

  Result<void> make_parents(const std::string& path, const std::string& parent) {
    for (std::size_t end = parent.find('/');; end = parent.find('/', end + 1)) {
      const std::string part = parent.substr(0, end);
      const Split at = split(part);
      os::Fd above;
      if (!at.parent.empty()) {
        auto opened = os::open_beneath(tree_, at.parent.c_str(), O_RDONLY | O_DIRECTORY);
        if (!opened) return fail(bad(path, "stands below something that is no directory"));
        above = std::move(*opened);
      }
      const int dir = above.is_open() ? above.get() : tree_;
      // Closed to others until it gets its real mode at the end.
      if (::mkdirat(dir, at.name.c_str(), 0700) == 0)
        directories_.emplace(part, DirectoryStamp{});
      else if (errno != EEXIST)
        return fail(errno_error(errno, "unpack into a layer").with_detail(part));
      if (end == std::string::npos) return {};
    }
  }

  Result<std::pair<uid_t, gid_t>> owner(const std::string& path, archive_entry* entry) {
    const la_int64_t uid = archive_entry_uid(entry);
    const la_int64_t gid = archive_entry_gid(entry);
    // Ids beyond have no place in the map of a sandbox: files of theirs could not be shown.
    if (uid < 0 || gid < 0 || uid >= kIdsMax || gid >= kIdsMax)
      return fail(
          bad(path, fmt::format("belongs to {}:{}; a sandbox has the ids 0 to {}", uid, gid, kIdsMax - 1)));
    return std::pair{static_cast<uid_t>(uid), static_cast<gid_t>(gid)};
  }

  // A user who is not root must be able to read its own layers again.
  mode_t mode_of(archive_entry* entry, mode_t at_least) const {
    const mode_t mode = archive_entry_perm(entry) & 07777;
    return owners_ == Owners::kept ? mode : mode | at_least;
  }

  static time_t time_of(archive_entry* entry) {
    if (archive_entry_mtime_is_set(entry) == 0) return 0;
    return static_cast<time_t>(std::clamp<la_int64_t>(archive_entry_mtime(entry), 0, kTimeMax));
  }

  Attributes attributes_of(archive_entry* entry) {
    Attributes kept;
    archive_entry_xattr_reset(entry);
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    while (archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK) {
      // Capabilities and the like need root to set them, and mean nothing on a user's own files.
      const bool settable = owners_ == Owners::kept || std::string_view(name).starts_with("user.");
      if (is_kept_attribute(name) && settable && size <= 65536)
        kept[name] = std::string(static_cast<const char*>(value), size);
      else
        ++extracted_.attributes_dropped;
    }
    return kept;
  }

  static Result<void> set_attributes(int fd, const std::string& path, const Attributes& attributes) {
    for (const auto& [name, value] : attributes)
      if (::fsetxattr(fd, name.c_str(), value.data(), value.size(), 0) < 0)
        return fail(errno_error(errno, fmt::format("set the attribute {} of '{}'", name, path)));
    return {};
  }

  // After a whiteout of the same layer the entry wins; any other entry of this name is one too many.
  Result<void> make_room(int dir, const std::string& path, const std::string& name,
                         bool* was_hidden = nullptr) {
    struct stat there {};
    if (::fstatat(dir, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) < 0) return {};
    if (!is_whiteout(there)) return fail(bad(path, "comes twice"));
    if (was_hidden != nullptr) *was_hidden = true;
    if (::unlinkat(dir, name.c_str(), 0) < 0) return fail(errno_error(errno, "unpack into a layer"));
    return {};
  }

  Result<void> file(const std::string& path, archive_entry* entry, TarReader& reader) {
    if (path.empty()) return fail(bad(".", "is no directory"));
    const Split at = split(path);
    const int dir = TRY(parent_of(path, at.parent));
    const auto [uid, gid] = TRY(owner(path, entry));
    TRY(make_room(dir, path, at.name));
    const os::Fd out = TRY(os::open_at(dir, at.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    const auto size = static_cast<std::uint64_t>(archive_entry_size(entry));
    for (;;) {
      const TarReader::Piece piece = TRY(reader.content());
      if (piece.bytes.empty()) break;
      // In this order, so that nothing overflows.
      if (piece.offset > size || piece.bytes.size() > size - piece.offset)
        return fail(bad(path, "holds more than it says"));
      if (::lseek(out.get(), static_cast<off_t>(piece.offset), SEEK_SET) < 0)
        return fail(errno_error(errno, "unpack into a layer"));
      TRY_CONTEXT("unpack", os::write_all(out.get(), piece.bytes));
    }
    // A hole at the end of a sparse file has no piece that would make it.
    if (::ftruncate(out.get(), static_cast<off_t>(size)) < 0)
      return fail(errno_error(errno, "unpack into a layer"));
    // The owner first: changing it takes set-uid bits and capabilities away.
    if (owners_ == Owners::kept && ::fchown(out.get(), uid, gid) < 0)
      return fail(errno_error(errno, "unpack into a layer"));
    if (::fchmod(out.get(), mode_of(entry, 0600)) < 0) return fail(errno_error(errno, "unpack into a layer"));
    TRY(set_attributes(out.get(), path, attributes_of(entry)));
    const timespec times[2] = {{time_of(entry), 0}, {time_of(entry), 0}};
    if (::futimens(out.get(), times) < 0) return fail(errno_error(errno, "unpack into a layer"));
    return {};
  }

  Result<void> directory(const std::string& path, archive_entry* entry) {
    const auto [uid, gid] = TRY(owner(path, entry));
    if (!path.empty()) {
      const Split at = split(path);
      const int dir = TRY(parent_of(path, at.parent));
      struct stat there {};
      if (::fstatat(dir, at.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(there.st_mode)) {
        bool replaces = false;
        TRY(make_room(dir, path, at.name, &replaces));
        if (::mkdirat(dir, at.name.c_str(), 0700) < 0)
          return fail(errno_error(errno, "unpack into a layer").with_detail(path));
        // A whiteout and then a directory of that name: the directory stands for itself, without what is
        // below.
        if (replaces) {
          const os::Fd made = TRY(os::open_beneath(dir, at.name.c_str(), O_RDONLY | O_DIRECTORY));
          TRY(mark_opaque(made.get(), attributes_for(owners_)));
        }
      }
    }
    directories_[path] = {mode_of(entry, 0700), uid, gid, time_of(entry), attributes_of(entry)};
    return {};
  }

  Result<void> symlink(const std::string& path, archive_entry* entry) {
    const char* target = archive_entry_symlink(entry);
    if (path.empty() || target == nullptr || *target == '\0' ||
        std::string_view(target).size() >= kPathBytesMax)
      return fail(bad(path, "is a link to nowhere"));
    const Split at = split(path);
    const int dir = TRY(parent_of(path, at.parent));
    const auto [uid, gid] = TRY(owner(path, entry));
    TRY(make_room(dir, path, at.name));
    if (::symlinkat(target, dir, at.name.c_str()) < 0)
      return fail(errno_error(errno, "unpack into a layer").with_detail(path));
    if (owners_ == Owners::kept && ::fchownat(dir, at.name.c_str(), uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
      return fail(errno_error(errno, "unpack into a layer"));
    const timespec times[2] = {{time_of(entry), 0}, {time_of(entry), 0}};
    if (::utimensat(dir, at.name.c_str(), times, AT_SYMLINK_NOFOLLOW) < 0)
      return fail(errno_error(errno, "unpack into a layer"));
    return {};
  }

  Result<void> hard_link(const std::string& path, archive_entry* entry) {
    const std::string target = TRY(clean_path(archive_entry_hardlink(entry)));
    if (path.empty() || target.empty()) return fail(bad(path, "is a hard link to a directory"));
    // Some formats allow it; which of the two contents is meant would be the reader's choice.
    if (archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) > 0)
      return fail(bad(path, "is a hard link with content of its own"));
    const Split from = split(target);
    os::Fd holder;
    if (!from.parent.empty()) {
      auto opened = os::open_beneath(tree_, from.parent.c_str(), O_RDONLY | O_DIRECTORY);
      if (!opened)
        return fail(bad(path, fmt::format("is a hard link to '{}', which did not come before", target)));
      holder = std::move(*opened);
    }
    const int source = holder.is_open() ? holder.get() : tree_;
    struct stat info {};
    if (::fstatat(source, from.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0)
      return fail(bad(path, fmt::format("is a hard link to '{}', which did not come before", target)));
    // A hard link to a symbolic link would let a later entry write through it.
    if (!S_ISREG(info.st_mode))
      return fail(bad(path, fmt::format("is a hard link to '{}', which is no file", target)));
    const Split at = split(path);
    const int dir = TRY(parent_of(path, at.parent));
    TRY(make_room(dir, path, at.name));
    if (::linkat(source, from.name.c_str(), dir, at.name.c_str(), 0) < 0)
      return fail(errno_error(errno, "unpack into a layer").with_detail(path));
    return {};
  }

  // ".wh.name": the name below is gone. ".wh..wh..opq": nothing of the directory below is left.
  Result<void> hide(const Split& at) {
    const std::string shown = at.parent.empty() ? at.name : at.parent + "/" + at.name;
    if (at.name == kOpaque) {
      const int dir = TRY(parent_of(shown, at.parent));
      return at.parent.empty() ? Result<void>() : mark_opaque(dir, attributes_for(owners_));
    }
    const std::string name = at.name.substr(kWhiteout.size());
    // Bookkeeping of an older filesystem, never seen by anybody.
    if (name.starts_with(kWhiteout)) return {};
    if (name.empty() || name == "." || name == "..") return fail(bad(shown, "hides no name"));
    const int dir = TRY(parent_of(shown, at.parent));
    struct stat there {};
    if (::fstatat(dir, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) < 0)
      return make_whiteout(dir, name.c_str());
    if (is_whiteout(there)) return fail(bad(shown, "comes twice"));
    // This layer has put something there itself: that wins, and hides what is below anyway.
    if (!S_ISDIR(there.st_mode)) return {};
    const os::Fd made = TRY(os::open_beneath(dir, name.c_str(), O_RDONLY | O_DIRECTORY));
    return mark_opaque(made.get(), attributes_for(owners_));
  }

  Result<void> stamp_directory(const std::string& path, const DirectoryStamp& stamp) {
    const os::Fd dir = path.empty() ? TRY(os::open_at(tree_, ".", O_RDONLY | O_DIRECTORY))
                                    : TRY(os::open_beneath(tree_, path.c_str(), O_RDONLY | O_DIRECTORY));
    if (owners_ == Owners::kept && ::fchown(dir.get(), stamp.uid, stamp.gid) < 0)
      return fail(errno_error(errno, "unpack into a layer"));
    if (::fchmod(dir.get(), stamp.mode) < 0) return fail(errno_error(errno, "unpack into a layer"));
    TRY(set_attributes(dir.get(), path, stamp.attributes));
    const timespec times[2] = {{stamp.time, 0}, {stamp.time, 0}};
    if (::futimens(dir.get(), times) < 0) return fail(errno_error(errno, "unpack into a layer"));
    return {};
  }

  int tree_;
  Owners owners_;
  Whiteouts whiteouts_;
  std::map<std::string, DirectoryStamp> directories_;
  os::Fd last_;
  std::string last_path_;
  Extracted extracted_;
};

}  // namespace

Result<std::string> clean_path(std::string_view name) {
  if (name.empty()) return fail(Code::invalid_argument, "the archive has an entry without a name");
  if (name.size() >= kPathBytesMax) return fail(bad(name.substr(0, 100), "has a name that is too long"));
  if (name.front() == '/') return fail(bad(name, "has an absolute name"));
  std::string path;
  int depth = 0;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") return fail(bad(name, "leaves its directory"));
    if (part.size() > kNameBytesMax) return fail(bad(name.substr(0, 100), "has a name that is too long"));
    if (++depth > kDepthMax) return fail(bad(name.substr(0, 100), "is nested too deeply"));
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

Result<Extracted> extract(int archive_fd, int tree, Owners owners, Whiteouts whiteouts,
                          const ArchiveLimits& limits, const Moved& moved) {
  const auto bytes = TRY(Inflater::open(archive_fd, limits, moved));
  const auto reader = TRY(TarReader::open(*bytes, limits));
  Extraction extraction(tree, owners, whiteouts);
  for (;;) {
    archive_entry* entry = TRY(reader->next());
    if (entry == nullptr) break;
    TRY(extraction.add(entry, *reader));
  }
  Extracted done = TRY(extraction.finish());
  done.digest = TRY(bytes->finish());
  return done;
}

}  // namespace atl::layer
