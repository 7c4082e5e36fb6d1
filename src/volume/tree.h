#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace atl::volume {

enum class EntryType : std::uint8_t { unknown, file, directory, symlink };

// As lstat sees it: a link is never followed.
struct Entry {
  std::string name;
  std::string path;  // absolute in the volume
  EntryType type = EntryType::unknown;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;  // permission bits
  std::uint32_t uid = 0, gid = 0;
  timespec accessed_at{}, modified_at{}, changed_at{};
  std::string target;  // of a symlink, as it is written
};

// Whose something is; unset: as it is, or the default of what is new (1000:1000, 0644 or 0755). Set-uid and
// set-gid bits are refused.
struct Ownership {
  std::optional<std::uint32_t> uid, gid, mode;
};

enum class Parents { must_exist, create };
// What a write does to something of that name.
enum class Existing { refuse, replace };

// Who knows what a volume holds: the filesystem that is its own, or a walk over all of it.
enum class Counting { filesystem, walk };

// What a volume may hold. Zero: no bound.
struct Bounds {
  std::uint64_t bytes_max = 0;
  std::uint64_t inodes_max = 0;
};

// What a volume holds, as its filesystem counts it: blocks, not lengths; every name costs an inode, also an
// empty file's.
struct Holding {
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;
};

// Code::no_space, with what is held, what may be and what to do, once `held` is over `bounds`.
Result<void> check_room(const Holding& held, const Bounds& bounds);

// A file on its way into a tree: invisible until finish(), gone if that never comes.
class Incoming {
 public:
  Incoming(Incoming&&) = default;
  Incoming& operator=(Incoming&&) = default;
  ~Incoming();

  // Code::no_space once more was written than the tree may still take.
  Result<void> write(std::string_view bytes);
  // With Existing::refuse, Code::already_exists if something of that name has come meanwhile: it stays as it
  // is.
  Result<Entry> finish();

 private:
  friend class Tree;
  Incoming() = default;

  os::Fd file_, place_, parent_;
  std::string temporary_, name_, path_;
  Ownership ownership_;
  Existing existing_ = Existing::refuse;
  std::uint64_t left_ = 0;
};

// The content of one volume. Paths are absolute or relative in the volume, "." and ".." resolved by text; a
// path through a symbolic link is Code::invalid_argument. Blocks on the disk: call it off the loop. Copies
// share nothing; calls may overlap with each other and with sandboxes that have the volume mounted.
class Tree {
 public:
  // `directory` is the volume's own; made if it is not there. `bounds` bind writing.
  static Result<Tree> open(const std::string& directory, Bounds bounds);
  // The same in an open directory. If that is a filesystem of the volume's own, the filesystem counts.
  static Result<Tree> open(int directory, Bounds bounds, Counting counting);

  Result<Entry> stat(std::string_view path) const;
  // Pre-order, names sorted, the root itself not included. More than `entries_max` is Code::too_large.
  Result<std::vector<Entry>> list(std::string_view path, std::uint32_t depth, std::size_t entries_max) const;
  // With Parents::create an existing directory is success, and directories made on the way are owned alike;
  // else Code::already_exists.
  Result<Entry> make_directory(std::string_view path, const Ownership& ownership, Parents parents) const;
  Result<Entry> change(std::string_view path, const Ownership& ownership) const;
  // With everything in it. The root stays: Code::invalid_argument.
  Result<void> remove(std::string_view path) const;
  // Regular files only; others are Code::invalid_argument.
  Result<os::Fd> read(std::string_view path) const;
  // In one step at the end. Its directory must be there. With Existing::refuse, Code::already_exists if
  // something of that name is; a directory is never replaced: Code::conflict.
  Result<Incoming> write(std::string_view path, const Ownership& ownership, Existing existing) const;
  // What is on the disk, at any depth. Without a filesystem of its own, files that are open but have no name
  // any more are not seen.
  Result<Holding> holding() const;

 private:
  struct Place;
  Tree() = default;
  Result<Place> place_of(std::string_view path) const;
  Result<Entry> entry_at(const Place& place) const;
  Result<void> make_parents(std::string_view path, const Ownership& ownership) const;

  os::Fd root_, incoming_;
  Bounds bounds_;
  Counting counting_ = Counting::walk;
};

}  // namespace atl::volume
