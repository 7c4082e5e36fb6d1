#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "vfs/content.h"
#include "vfs/path.h"
#include "vfs/text.h"

namespace atl::vfs {

enum class Type : std::uint8_t { file, directory, symlink, fifo };
enum class Follow : std::uint8_t { no, yes };  // a symbolic link in the last component
enum class Parents : std::uint8_t { must_exist, create };
enum class Overwrite : std::uint8_t { no, yes };
enum class Whence : std::uint8_t { start, current, end };

inline constexpr int kLinksFollowedMax = 40;  // then Code::loop

struct Stat {
  std::uint64_t inode = 0;
  std::uint32_t links = 1;
  Type type = Type::file;
  std::uint64_t size = 0;  // bytes; of a symlink its target's length; of a directory 0
  std::uint32_t mode = 0;  // the twelve permission bits
  std::uint32_t uid = 0, gid = 0;
  WallTime created, modified, changed;
  std::optional<WallTime> accessed;

  bool is_file() const { return type == Type::file; }
  bool is_directory() const { return type == Type::directory; }
  bool is_symlink() const { return type == Type::symlink; }
};

// A directory's names in byte order, with type and inode, in two allocations whatever the number.
class Listing {
 public:
  struct Entry {
    std::string_view name;  // valid while the Listing lives
    Type type;
    std::uint64_t inode;
  };
  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  Entry operator[](std::size_t index) const {
    const Row& row = rows_[index];
    return {std::string_view(names_).substr(row.offset, row.length), row.type, row.inode};
  }

  class Iterator {
   public:
    Iterator(const Listing* listing, std::size_t index) : listing_(listing), index_(index) {}
    Entry operator*() const { return (*listing_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Listing* listing_;
    std::size_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, rows_.size()}; }

  // For implementations: names in any order, then sort().
  void reserve(std::size_t entries, std::size_t name_bytes);
  void add(std::string_view name, Type type, std::uint64_t inode);
  void sort();

 private:
  struct Row {
    std::uint32_t offset;
    std::uint8_t length;
    Type type;
    std::uint64_t inode;
  };
  std::string names_;
  std::vector<Row> rows_;
};

// One entry with everything known about it; `content` is a file's bytes or a symlink's target.
struct FileEntry {
  Path path;
  Type type = Type::file;
  Content content;
  std::uint32_t mode = 0644;
  std::uint32_t uid = 0, gid = 0;
  WallTime created_at, modified_at, changed_at, accessed_at;
  std::uint64_t inode = 0;  // entries of one filesystem that share an inode are hard links of one file
  std::uint32_t links = 1;

  std::string_view name() const { return path.name(); }
  bool is_directory() const { return type == Type::directory; }
  std::uint64_t size() const { return type == Type::directory ? 0 : content.size(); }
};

struct OpenOptions {
  bool read = true;
  bool write = false;
  bool append = false;  // every write goes to the end; implies write
  bool create = false;
  bool exclusive = false;     // with create: Code::already_exists if anything, even a dangling link, is there
  bool truncate = false;      // with write
  std::uint32_t mode = 0644;  // of a new file; the caller applied its umask
  Follow follow = Follow::yes;
  Parents parents = Parents::must_exist;
};

struct WriteOptions {
  std::uint32_t mode = 0644;  // of a new file
  Parents parents = Parents::create;
  bool append = false;
  Overwrite overwrite = Overwrite::yes;
};

struct CopyOptions {
  Overwrite overwrite = Overwrite::no;  // a file that is there; directories merge only with yes
  // Where `to` is a directory, `from` goes into it under its own name. With `no`, `to` is the new name
  // itself.
  bool into_directory = true;
  Follow follow = Follow::no;  // of a symlink named as the source; links inside a tree stay links
  bool preserve_times = false;
};

struct Times {
  std::optional<WallTime> accessed, modified;  // unset: stays as it is
};

struct Stats {
  std::uint64_t bytes = 0;        // contents; hard links count once
  std::uint64_t files = 0;        // everything that is not a directory, symlinks and FIFOs included
  std::uint64_t directories = 0;  // without the root
  std::uint64_t nodes() const { return files + directories; }
  bool operator==(const Stats&) const = default;
};

// An open file. Keeps working on the same file when its name is moved or removed. Position and options belong
// to the handle; duplicates of a descriptor share one File. A FIFO or a directory cannot be opened here. Used
// by one thread at a time. Destroying it closes it; close() says whether everything was kept.
class File {
 public:
  virtual ~File() = default;
  // How many bytes were read, 0 at the end.
  virtual Result<std::size_t> read(std::span<char> out) = 0;
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) = 0;
  // All bytes or none (Code::no_space, ...).
  virtual Result<void> write(std::string_view bytes) = 0;
  virtual Result<void> write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // May go beyond the end; before the start is Code::invalid_argument. The new position.
  virtual Result<std::uint64_t> seek(std::int64_t offset, Whence whence) = 0;
  virtual std::uint64_t position() const = 0;
  virtual Result<void> truncate(std::uint64_t size) = 0;
  // The file's bytes as they are now, without copying where the filesystem holds them in memory.
  virtual Result<Content> content() const = 0;
  virtual Result<Stat> stat() const = 0;
  // Success means that the storage behind the filesystem has the bytes.
  virtual Result<void> flush() = 0;
  virtual Result<void> close() = 0;
};

// A filesystem with POSIX semantics. Safe from every thread; each call is atomic: it happens as a whole, or
// fails and changes nothing. Permission bits and owners are kept, never enforced: who asks (the shell)
// decides.
//
// Errors common to all: not_found, not_a_directory (a component on the way), loop (over 40 links), too_large
// (names and paths over their limits), no_space (quota), read_only.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<Stat> stat(const Path& path, Follow follow = Follow::yes) const = 0;
  // Without the cost of an Error: nothing for whatever stat() would fail with.
  virtual std::optional<Stat> find(const Path& path, Follow follow = Follow::yes) const = 0;
  virtual Result<Listing> list(const Path& directory) const = 0;
  // is_a_directory; a FIFO has no content here: invalid_argument.
  virtual Result<Content> read(const Path& path) const = 0;
  virtual Result<std::unique_ptr<File>> open(const Path& path, const OpenOptions& options) = 0;
  // Creates the file or replaces (appends to) its bytes; mode and owner of an existing file stay. Follows
  // links.
  virtual Result<void> write(const Path& path, Content content, const WriteOptions& options = {}) = 0;
  Result<void> write(const Path& path, std::string_view bytes, const WriteOptions& options = {});

  // already_exists if anything is there (with Parents::create: unless it is a directory).
  virtual Result<void> make_directory(const Path& path, std::uint32_t mode = 0755,
                                      Parents parents = Parents::must_exist) = 0;
  virtual Result<void> make_fifo(const Path& path, std::uint32_t mode = 0644) = 0;
  virtual Result<void> make_symlink(const Path& path, std::string_view target) = 0;
  // A second name for a file (not for a directory: permission_denied). A symlink is linked itself.
  virtual Result<void> make_link(const Path& existing, const Path& path) = 0;
  // invalid_argument if it is not a symlink.
  virtual Result<std::string> read_link(const Path& path) const = 0;
  // The path without any symlink; everything on the way must exist.
  virtual Result<Path> real_path(const Path& path) const = 0;

  // unlink: is_a_directory for a directory.
  virtual Result<void> remove_file(const Path& path) = 0;
  // rmdir: not_empty, not_a_directory; the root is invalid_argument.
  virtual Result<void> remove_directory(const Path& path) = 0;
  // Whatever is there with all below. The root keeps itself and loses what it holds.
  virtual Result<void> remove_all(const Path& path) = 0;
  // rename(2): replaces a file by a file and an empty directory by a directory, atomically; loop when a
  // directory would go below itself; a second name of the same file changes nothing. Links are moved, not
  // followed.
  virtual Result<void> rename(const Path& from, const Path& to) = 0;

  virtual Result<void> set_mode(const Path& path, std::uint32_t mode, Follow follow = Follow::yes) = 0;
  virtual Result<void> set_owner(const Path& path, std::optional<std::uint32_t> uid,
                                 std::optional<std::uint32_t> gid, Follow follow = Follow::yes) = 0;
  virtual Result<void> set_times(const Path& path, const Times& times, Follow follow = Follow::yes) = 0;

  // Files and trees, contents shared where possible. already_exists without Overwrite::yes; a tree into
  // itself is loop; a file onto itself is invalid_argument. Where `to` ended up.
  virtual Result<Path> copy(const Path& from, const Path& to, const CopyOptions& options = {}) = 0;
  // Like copy() about names and overwriting; onto itself changes nothing. Atomic within one filesystem.
  virtual Result<Path> move(const Path& from, const Path& to, const CopyOptions& options = {}) = 0;

  virtual Result<Stats> stats() const = 0;

  // ---- built on the above ----
  bool exists(const Path& path) const { return find(path).has_value(); }
  bool is_file(const Path& path) const;
  bool is_directory(const Path& path) const;
  // Does not follow a link in the last component.
  Result<FileEntry> entry(const Path& path) const;
  Result<std::vector<std::string>> list_names(const Path& directory) const;
  Result<std::vector<FileEntry>> list_entries(const Path& directory) const;
  Result<std::string> read_bytes(const Path& path) const;
  // UTF-8 whatever the encoding of the file. invalid_argument if the bytes are not in that encoding.
  Result<std::string> read_text(const Path& path, Encoding encoding = Encoding::detect) const;
  // Split at \n, \r\n or \r; a last line without an end counts, an empty one after the last end does not.
  Result<std::vector<std::string>> read_lines(const Path& path, Encoding encoding = Encoding::detect) const;
  Result<void> write_text(const Path& path, std::string_view text, Encoding encoding = Encoding::utf8,
                          ByteOrderMark mark = ByteOrderMark::none);
  // Each line with \n behind it.
  Result<void> write_lines(const Path& path, std::span<const std::string> lines,
                           Encoding encoding = Encoding::utf8);
  Result<void> append(const Path& path, std::string_view bytes);
  Result<std::unique_ptr<File>> open_read(const Path& path);
  Result<std::unique_ptr<File>> open_write(const Path& path, bool append = false);
  // A file or an empty directory.
  Result<void> remove(const Path& path);
  // Creates an empty file, or sets its times to now.
  Result<void> touch(const Path& path, std::uint32_t mode = 0644);
};

// `text` as a kernel would take it from directory `base`: "..", also behind a symbolic link, is the parent of
// where the link leads. A missing component is no error unless ".." follows it. The last component is not
// followed.
Result<Path> resolve(const FileSystem& fs, const Path& base, std::string_view text);

// errno's name for a failure ("No such file or directory"), for programs that speak POSIX.
std::string_view strerror(Code code);
// The failure `code` of an operation on `path`, in the words of strerror(): "/a/b: Is a directory".
std::unexpected<Error> refuse(Code code, std::string_view path);
inline std::unexpected<Error> refuse(Code code, const Path& path) {
  return refuse(code, path.str());
}

}  // namespace atl::vfs
