#include "os/tree_size.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/file.h"

namespace atl::os {
namespace {

using Inode = std::pair<dev_t, ino_t>;

// One directory on the way down. Its descriptor is not kept: a tree may be deeper than a process may have
// files open.
struct Level {
  Inode self;
  std::vector<std::string> directories;  // that are left to count
};

class Count {
 public:
  explicit Count(const IsEnough& is_enough) : is_enough_(is_enough) {}

  Result<TreeSize> run(int directory) {
    at_ = TRY(open_at(directory, ".", O_RDONLY | O_DIRECTORY));
    TRY(enter());
    while (!levels_.empty() && !has_enough()) {
      if (levels_.back().directories.empty()) {
        TRY(leave());
        continue;
      }
      const std::string name = std::move(levels_.back().directories.back());
      levels_.back().directories.pop_back();
      auto inner = open_beneath(at_.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
      if (!inner) continue;  // gone meanwhile, or a link by now
      at_ = std::move(*inner);
      TRY(enter());
    }
    return total_;
  }

 private:
  bool has_enough() const { return is_enough_ && is_enough_(total_); }

  // Counts what lies in the directory where we are, and notes the directories among it.
  Result<void> enter() {
    struct stat self {};
    if (::fstat(at_.get(), &self) < 0) return fail(errno_error(errno, "look at a directory"));
    Level level{{self.st_dev, self.st_ino}, {}};
    const int copy = ::openat(at_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return fail(errno_error(errno, "read a directory"));
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), ::closedir);
    if (!stream) {
      ::close(copy);
      return fail(errno_error(errno, "read a directory"));
    }
    while (const dirent* item = ::readdir(stream.get())) {
      const std::string_view name = item->d_name;
      struct stat info {};
      if (name == "." || name == ".." || ::fstatat(at_.get(), item->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        continue;
      if (!S_ISDIR(info.st_mode) && info.st_nlink > 1 && !linked_.insert({info.st_dev, info.st_ino}).second)
        continue;
      total_.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
      ++total_.inodes;
      if (S_ISDIR(info.st_mode)) level.directories.emplace_back(name);
      if (has_enough()) break;
    }
    levels_.push_back(std::move(level));
    return {};
  }

  Result<void> leave() {
    levels_.pop_back();
    if (levels_.empty()) return {};
    // The way back is the directory's own: it leads elsewhere if somebody moved it.
    Fd above = TRY(open_at(at_.get(), "..", O_RDONLY | O_DIRECTORY));
    struct stat info {};
    if (::fstat(above.get(), &info) < 0) return fail(errno_error(errno, "look at a directory"));
    if (Inode{info.st_dev, info.st_ino} != levels_.back().self)
      return fail(Code::unavailable, "the tree changed while it was counted");
    at_ = std::move(above);
    return {};
  }

  const IsEnough& is_enough_;
  Fd at_;
  std::vector<Level> levels_;
  std::set<Inode> linked_;  // files of several names that were counted
  TreeSize total_;
};

}  // namespace

Result<TreeSize> measure_tree(int directory, const IsEnough& is_enough) {
  // Who moves directories about all the time cannot be counted by walking; a few times is chance.
  constexpr int attempts = 3;
  Result<TreeSize> counted = fail(Code::unavailable, "not counted yet");
  for (int i = 0; i < attempts; ++i) {
    counted = Count(is_enough).run(directory);
    if (counted || counted.error().code() != Code::unavailable) break;
  }
  return counted;
}

}  // namespace atl::os
