#include "volume/tree.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>

#include "base/ids.h"
#include "os/file.h"
#include "os/tree_size.h"

namespace atl::volume {
namespace {

constexpr std::uint32_t kUser = 1000;  // `user` inside
constexpr std::uint32_t kIdsMax = 65'536;
constexpr std::uint32_t kModeBits = 01777;
constexpr std::size_t kPathMax = 4096;
constexpr const char* kFiles = "files";
constexpr const char* kIncoming = "incoming";

// The components of a path, with "." and ".." resolved by text.
Result<std::vector<std::string>> components(std::string_view path) {
  if (path.size() > kPathMax) return fail(Code::too_large, "the path is too long");
  if (path.find('\0') != std::string_view::npos)
    return fail(Code::invalid_argument, "a path cannot hold NUL");
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      if (part.size() > NAME_MAX) return fail(Code::too_large, "a name in the path is too long");
      parts.emplace_back(part);
    }
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += (i == 0 ? "" : "/") + parts[i];
  return path.empty() ? "." : path;
}

// In the words of whoever asked for `path`.
std::unexpected<Error> path_error(Error error, std::string_view path) {
  switch (error.code()) {
    case Code::not_found: return fail(Code::not_found, fmt::format("path '{}' not found", path));
    case Code::loop:
      return fail(Code::invalid_argument, fmt::format("path '{}' goes through a symbolic link", path));
    case Code::not_a_directory:
      return fail(Code::invalid_argument, fmt::format("path '{}' goes through a file", path));
    default: return fail(std::move(error));
  }
}

std::unexpected<Error> last_error(std::string_view path) {
  return path_error(errno_error(errno, path), path);
}

std::unexpected<Error> already_there(std::string_view path) {
  return fail(Code::already_exists, fmt::format("path '{}' already exists", path));
}

Result<void> check_existing(int parent, const std::string& name, std::string_view path, Existing existing) {
  struct stat there {};
  if (::fstatat(parent, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) < 0) return {};
  if (S_ISDIR(there.st_mode)) return fail(Code::conflict, fmt::format("path '{}' is a directory", path));
  if (existing == Existing::refuse) return already_there(path);
  return {};
}

EntryType type_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryType::file;
  if (S_ISDIR(mode)) return EntryType::directory;
  return S_ISLNK(mode) ? EntryType::symlink : EntryType::unknown;
}

Entry entry_of(int directory, const std::string& name, std::string path, const struct stat& info) {
  Entry entry;
  entry.name = name == "." ? "" : name;
  entry.path = std::move(path);
  entry.type = type_of(info.st_mode);
  entry.size = static_cast<std::uint64_t>(info.st_size);
  entry.mode = info.st_mode & 07777;
  entry.uid = info.st_uid;
  entry.gid = info.st_gid;
  entry.accessed_at = info.st_atim;
  entry.modified_at = info.st_mtim;
  entry.changed_at = info.st_ctim;
  if (entry.type == EntryType::symlink) {
    char target[PATH_MAX];
    const ssize_t size = ::readlinkat(directory, name.c_str(), target, sizeof target);
    if (size > 0) entry.target.assign(target, static_cast<std::size_t>(size));
  }
  return entry;
}

Result<void> check(const Ownership& ownership) {
  for (const auto& [id, field] : {std::pair(ownership.uid, "uid"), std::pair(ownership.gid, "gid")}) {
    if (id && *id >= kIdsMax)
      return fail(Error(Code::invalid_argument, fmt::format("{} must be below {}", field, kIdsMax))
                      .with_field(field));
  }
  if (ownership.mode && (*ownership.mode & ~kModeBits) != 0)
    return fail(Error(Code::invalid_argument, "mode must be permission bits without set-uid and set-gid")
                    .with_field("mode"));
  return {};
}

// A daemon without root can give files to nobody else: what was not asked for then stays as it is.
Result<void> give(int fd, const Ownership& ownership, bool is_new) {
  const auto id = [is_new](const std::optional<std::uint32_t>& asked) {
    return asked ? *asked : is_new ? kUser : static_cast<std::uint32_t>(-1);
  };
  const bool asked = ownership.uid || ownership.gid;
  if ((asked || is_new) && ::fchown(fd, id(ownership.uid), id(ownership.gid)) < 0 &&
      (asked || errno != EPERM))
    return fail(errno_error(errno, "change the owner"));
  if (ownership.mode && ::fchmod(fd, *ownership.mode) < 0) return fail(errno_error(errno, "change the mode"));
  return {};
}

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

Result<Directory> read_directory(int fd) {
  const int copy = ::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return fail(errno_error(errno, "read the directory"));
  DIR* stream = ::fdopendir(copy);
  if (stream == nullptr) {
    ::close(copy);
    return fail(errno_error(errno, "read the directory"));
  }
  return Directory(stream, ::closedir);
}

Result<std::vector<std::string>> names_in(int fd, std::size_t names_max) {
  Directory stream = TRY(read_directory(fd));
  std::vector<std::string> names;
  while (const dirent* item = ::readdir(stream.get())) {
    const std::string_view name = item->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == names_max) return fail(Code::too_large, "the directory holds too many entries");
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Pre-order, in steps instead of calls: how deep a tree is, is not ours to say.
struct Listing {
  std::size_t entries_max;
  std::vector<Entry> entries;

  struct Level {
    os::Fd directory;
    std::string path;
    std::vector<std::string> names;  // that are left, in reverse
  };
  // Each holds a descriptor.
  static constexpr std::size_t kLevelsMax = 256;
  std::vector<Level> levels;

  Result<void> enter(os::Fd directory, std::string path) {
    if (levels.size() == kLevelsMax)
      return fail(Error(Code::too_large,
                        fmt::format("'{}' is {} directories deep: list it by itself", path, kLevelsMax))
                      .with_field("depth"));
    auto names = TRY(names_in(directory.get(), entries_max));
    std::reverse(names.begin(), names.end());
    levels.push_back({std::move(directory), std::move(path), std::move(names)});
    return {};
  }

  Result<void> walk(os::Fd top, std::string path, std::uint32_t depth) {
    TRY(enter(std::move(top), std::move(path)));
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.names.empty()) {
        levels.pop_back();
        continue;
      }
      const std::string name = std::move(level.names.back());
      level.names.pop_back();
      struct stat info {};
      if (::fstatat(level.directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0)
        continue;  // gone meanwhile
      if (entries.size() == entries_max) return fail(Code::too_large, "the directory holds too many entries");
      std::string below = level.path + "/" + name;
      entries.push_back(entry_of(level.directory.get(), name, below, info));
      if (!S_ISDIR(info.st_mode) || levels.size() >= depth) continue;
      auto inner = os::open_beneath(level.directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
      if (inner) TRY(enter(std::move(*inner), std::move(below)));
    }
    return {};
  }
};

}  // namespace

Result<void> check_room(const Holding& held, const Bounds& bounds) {
  if (bounds.bytes_max > 0 && held.bytes > bounds.bytes_max)
    return fail(Code::no_space, fmt::format("it holds {} bytes and may hold {}: remove files first",
                                            held.bytes, bounds.bytes_max));
  if (bounds.inodes_max > 0 && held.inodes > bounds.inodes_max)
    return fail(Code::no_space,
                fmt::format("it holds {} files and directories and may hold {}: remove some first",
                            held.inodes, bounds.inodes_max));
  return {};
}

// Where a path leads: the open directory that holds it, and its name there ("." for the root).
struct Tree::Place {
  os::Fd parent;
  std::string name;
  std::string path;
};

Incoming::~Incoming() {
  if (!temporary_.empty() && place_.is_open()) ::unlinkat(place_.get(), temporary_.c_str(), 0);
}

Result<void> Incoming::write(std::string_view bytes) {
  if (bytes.size() > left_) return fail(Code::no_space, "the volume is full");
  left_ -= bytes.size();
  return os::write_all(file_.get(), bytes);
}

Result<Entry> Incoming::finish() {
  TRY(give(file_.get(), ownership_, true));
  TRY(check_existing(parent_.get(), name_, path_, existing_));
  // The kernel decides: a file that was made between the look and this call stays.
  const unsigned how = existing_ == Existing::refuse ? RENAME_NOREPLACE : 0;
  if (::renameat2(place_.get(), temporary_.c_str(), parent_.get(), name_.c_str(), how) < 0) {
    if (errno == EEXIST) return already_there(path_);
    return last_error(path_);
  }
  temporary_.clear();
  struct stat info {};
  if (::fstat(file_.get(), &info) < 0) return last_error(path_);
  return entry_of(parent_.get(), name_, path_, info);
}

Result<Tree> Tree::open(const std::string& directory, Bounds bounds) {
  TRY(os::make_directories(directory, 0700));
  const os::Fd top = TRY(os::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  return open(top.get(), bounds, Counting::walk);
}

Result<Tree> Tree::open(int directory, Bounds bounds, Counting counting) {
  const bool is_new = ::mkdirat(directory, kFiles, 0755) == 0;
  if (!is_new && errno != EEXIST) return fail(errno_error(errno, "make the volume"));
  if (::mkdirat(directory, kIncoming, 0700) < 0 && errno != EEXIST)
    return fail(errno_error(errno, "make the volume"));
  Tree tree;
  tree.root_ = TRY(os::open_beneath(directory, kFiles, O_RDONLY | O_DIRECTORY));
  tree.incoming_ = TRY(os::open_beneath(directory, kIncoming, O_RDONLY | O_DIRECTORY));
  tree.bounds_ = bounds;
  tree.counting_ = counting;
  if (is_new) TRY(give(tree.root_.get(), {}, true));
  return tree;
}

Result<Tree::Place> Tree::place_of(std::string_view path) const {
  const auto parts = TRY(components(path));
  Place place;
  const std::string above = joined(parts, parts.empty() ? 0 : parts.size() - 1);
  auto parent = os::open_beneath(root_.get(), above.c_str(), O_RDONLY | O_DIRECTORY);
  if (!parent) return path_error(std::move(parent).error(), path);
  place.parent = std::move(*parent);
  place.name = parts.empty() ? "." : parts.back();
  place.path = parts.empty() ? "/" : "/" + joined(parts, parts.size());
  return place;
}

Result<Entry> Tree::entry_at(const Place& place) const {
  struct stat info {};
  if (::fstatat(place.parent.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0)
    return last_error(place.path);
  return entry_of(place.parent.get(), place.name, place.path, info);
}

Result<Entry> Tree::stat(std::string_view path) const {
  return entry_at(TRY(place_of(path)));
}

Result<std::vector<Entry>> Tree::list(std::string_view path, std::uint32_t depth,
                                      std::size_t entries_max) const {
  const Place place = TRY(place_of(path));
  auto directory = os::open_beneath(place.parent.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY);
  if (!directory && directory.error().code() == Code::not_a_directory)
    return fail(Code::invalid_argument, fmt::format("path '{}' is not a directory", place.path));
  if (!directory) return path_error(std::move(directory).error(), place.path);
  Listing listing{entries_max, {}, {}};
  TRY(listing.walk(std::move(*directory), place.path == "/" ? "" : place.path,
                   std::max<std::uint32_t>(depth, 1)));
  return std::move(listing.entries);
}

Result<void> Tree::make_parents(std::string_view path, const Ownership& ownership) const {
  const auto parts = TRY(components(path));
  for (std::size_t count = 1; count < parts.size(); ++count) {
    const std::string above = joined(parts, count);
    if (os::open_beneath(root_.get(), above.c_str(), O_PATH | O_DIRECTORY)) continue;
    const auto made = make_directory(above, ownership, Parents::must_exist);
    if (!made && made.error().code() != Code::already_exists) return fail(made.error());
  }
  return {};
}

Result<Entry> Tree::make_directory(std::string_view path, const Ownership& ownership, Parents parents) const {
  TRY(check(ownership));
  if (parents == Parents::create) TRY(make_parents(path, ownership));
  const Place place = TRY(place_of(path));
  if (::mkdirat(place.parent.get(), place.name.c_str(), 0755) < 0) {
    if (errno != EEXIST) return last_error(place.path);
    const Entry there = TRY(entry_at(place));
    if (parents == Parents::create && there.type == EntryType::directory) return there;
    return fail(Code::already_exists, fmt::format("path '{}' already exists", place.path));
  }
  const os::Fd made = TRY(os::open_beneath(place.parent.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY));
  TRY(give(made.get(), ownership, true));
  return entry_at(place);
}

Result<Entry> Tree::change(std::string_view path, const Ownership& ownership) const {
  TRY(check(ownership));
  const Place place = TRY(place_of(path));
  const Entry entry = TRY(entry_at(place));
  if (entry.type != EntryType::file && entry.type != EntryType::directory)
    return fail(Code::invalid_argument, fmt::format("path '{}' is no file or directory", place.path));
  // Non-blocking: it may have become a pipe meanwhile.
  auto file = os::open_beneath(place.parent.get(), place.name.c_str(), O_RDONLY | O_NONBLOCK);
  if (!file) return path_error(std::move(file).error(), place.path);
  TRY(give(file->get(), ownership, false));
  return entry_at(place);
}

Result<void> Tree::remove(std::string_view path) const {
  const Place place = TRY(place_of(path));
  if (place.name == ".") return fail(Code::invalid_argument, "the root of a volume cannot be removed");
  TRY(entry_at(place));
  return os::remove_tree(place.parent.get(), place.name);
}

Result<os::Fd> Tree::read(std::string_view path) const {
  const Place place = TRY(place_of(path));
  auto file = os::open_beneath(place.parent.get(), place.name.c_str(), O_RDONLY | O_NONBLOCK);
  if (!file) return path_error(std::move(file).error(), place.path);
  struct stat info {};
  if (::fstat(file->get(), &info) < 0) return last_error(place.path);
  if (S_ISDIR(info.st_mode))
    return fail(Code::invalid_argument, fmt::format("path '{}' is a directory", place.path));
  if (!S_ISREG(info.st_mode))
    return fail(Code::invalid_argument, fmt::format("path '{}' is no regular file", place.path));
  return std::move(*file);
}

Result<Incoming> Tree::write(std::string_view path, const Ownership& ownership, Existing existing) const {
  TRY(check(ownership));
  Place place = TRY(place_of(path));
  if (place.name == ".") return fail(Code::conflict, "path '/' is a directory");
  // Before anything is sent; finish() looks again.
  TRY(check_existing(place.parent.get(), place.name, place.path, existing));
  const Holding held = TRY(holding());
  TRY(check_room({held.bytes, held.inodes + 1}, bounds_));
  Incoming incoming;
  incoming.left_ = bounds_.bytes_max == 0 ? UINT64_MAX : bounds_.bytes_max - held.bytes;
  incoming.place_ = TRY(os::open_at(incoming_.get(), ".", O_RDONLY | O_DIRECTORY));
  incoming.temporary_ = random_word(16);
  incoming.file_ =
      TRY(os::open_at(incoming.place_.get(), incoming.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644));
  incoming.parent_ = std::move(place.parent);
  incoming.name_ = std::move(place.name);
  incoming.path_ = std::move(place.path);
  incoming.ownership_ = ownership;
  incoming.existing_ = existing;
  return incoming;
}

Result<Holding> Tree::holding() const {
  if (counting_ == Counting::walk) {
    // Over the bounds is all one wants to know.
    const os::TreeSize held = TRY(os::measure_tree(root_.get(), [&](const os::TreeSize& so_far) {
      return !check_room({so_far.bytes, so_far.inodes}, bounds_);
    }));
    // What is on its way has its place, or many at once would have the same one.
    const os::TreeSize coming = TRY(os::measure_tree(incoming_.get()));
    return Holding{held.bytes + coming.bytes, held.inodes + coming.inodes};
  }
  const os::Space space = TRY(os::filesystem_space(root_.get()));
  return Holding{space.bytes_used, space.inodes_used};
}

}  // namespace atl::volume
