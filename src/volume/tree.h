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

// A file on its way into a tree: invisible until finish(), gone if that never comes.
class Incoming {
 public:
  Incoming(Incoming&&) = default;
  Incoming& operator=(Incoming&&) = default;
  ~Incoming();

  // Code::no_space once more was written than the tree may still take.
  Result<void> write(std::string_view bytes);
  Result<Entry> finish();

 private:
  friend class Tree;
  Incoming() = default;

  os::Fd file_, place_, parent_;
  std::string temporary_, name_, path_;
  Ownership ownership_;
  std::uint64_t left_ = 0;
};

// The content of one volume. Paths are absolute or relative in the volume, "." and ".." resolved by text; a
// path through a symbolic link is Code::invalid_argument. Blocks on the disk: call it off the loop. Copies
// share nothing; calls may overlap with each other and with sandboxes that have the volume mounted.
class Tree {
 public:
  // `directory` is the volume's own; made if it is not there. `bytes_max` binds writing.
  static Result<Tree> open(const std::string& directory, std::uint64_t bytes_max);

  Result<Entry> stat(std::string_view path) const;
  // Pre-order, names sorted, the root itself not included. More than `entries_max` is Code::too_large.
  Result<std::vector<Entry>> list(std::string_view path, std::uint32_t depth, std::size_t entries_max) const;
  // With Parents::create an existing directory is success; else Code::already_exists.
  Result<Entry> make_directory(std::string_view path, const Ownership& ownership, Parents parents) const;
  Result<Entry> change(std::string_view path, const Ownership& ownership) const;
  // With everything in it. The root stays: Code::invalid_argument.
  Result<void> remove(std::string_view path) const;
  // Regular files only; others are Code::invalid_argument.
  Result<os::Fd> read(std::string_view path) const;
  // Replaces what is there, in one step at the end.
  Result<Incoming> write(std::string_view path, const Ownership& ownership, Parents parents) const;
  // What the files take on the disk.
  Result<std::uint64_t> bytes_used() const;

 private:
  struct Place;
  Tree() = default;
  Result<Place> place_of(std::string_view path) const;
  Result<Entry> entry_at(const Place& place) const;
  Result<void> make_parents(std::string_view path) const;

  os::Fd root_, incoming_;
  std::uint64_t bytes_max_ = 0;
};

}  // namespace atl::volume
