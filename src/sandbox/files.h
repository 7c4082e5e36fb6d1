#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "os/task.h"

namespace atl::sandbox {

enum class FileType : std::uint8_t { unknown, file, directory, symlink, other };

// As lstat sees it; for a symlink `target_type` and `target` describe where it leads (unknown if nowhere).
struct FileInfo {
  std::string name;
  std::string path;  // absolute, as asked for
  FileType type = FileType::unknown;
  FileType target_type = FileType::unknown;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;       // permission bits of the entry; of the target for a symlink
  std::uint32_t link_mode = 0;  // of the entry itself
  std::uint32_t uid = 0, gid = 0;
  std::string owner, group;  // names inside the sandbox; numbers as text if unknown
  WallTime modified_at;
  std::string target;                             // resolved absolute path of a symlink
  std::map<std::string, std::string> attributes;  // extended attributes "user.*"
};

enum class Recursive { no, yes };
enum class Overwrite { no, yes };
// Whose rights make a file or a directory. `users`: the user's own, as the kernel has it. `hand_over`: what
// the user may not make is made by the sandbox's root and handed to the user, as E2B's agent does; symbolic
// links on the way are then not followed, so that a program inside cannot turn root's hand elsewhere.
enum class Ownership : std::uint8_t { users, hand_over };

struct WriteOptions {
  std::string user;           // owner of what is created; empty: the sandbox's default user
  std::uint32_t mode = 0644;  // of a new file
  bool create_parents = true;
  bool append = false;
  Ownership ownership = Ownership::users;
  // Replaces all attributes "user.<prefix>*" when set.
  std::optional<std::map<std::string, std::string>> attributes;
  std::string attribute_prefix;
};

// Sequential reading of one open file. An empty string from next() is the end. Little is read ahead of the
// caller (256 KiB), so a file of any size passes through in bounded memory. Destroying it closes the file.
class FileReader {
 public:
  virtual ~FileReader() = default;
  virtual const FileInfo& info() const = 0;  // as it was when the file was opened
  virtual Task<std::string> next() = 0;      // at most 64 KiB
};

// Sequential writing of one file. Nothing is promised before finish() succeeded. A writer that is destroyed
// before, or whose sandbox loses its daemon meanwhile, leaves nothing half done: a file that was there is as
// it was, appended to or not, and one that was made for it is gone (its directories stay). A file stays the
// same one, with its owner, its mode and its other names. Sandboxes that run elsewhere (e2b) leave what the
// other service leaves.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  // Waits while the guest is behind. Code::conflict after finish().
  virtual Task<void> write(std::string bytes) = 0;
  // Success: every byte was written, attributes are set, the file is closed. Not promised: that it is on a
  // disk.
  virtual Task<FileInfo> finish() = 0;
};

enum class WatchEventType : std::uint8_t { create, write, remove, rename, chmod };

struct WatchEvent {
  WatchEventType type;
  std::string name;  // relative to the watched directory
};

// Changes of one directory, oldest first. Equal events in a row are given once. For a listener that does not
// read, 16,384 events are kept and later ones are lost. Destroying it ends the watch inside.
class Watch {
 public:
  virtual ~Watch() = default;
  // Waits for events; several may come at once. Code::unavailable when the watch has ended.
  virtual Task<std::vector<WatchEvent>> next() = 0;
  // Does not wait: what was done before this call and no earlier call has told, none of it missing. Never
  // while a next() is under way.
  virtual Task<std::vector<WatchEvent>> poll() = 0;
};

// How much one listing may hold. Names and attributes come from inside, where a path of four kilobytes costs
// nothing.
struct ListBounds {
  ListBounds(std::size_t entries)
      : entries_max(entries) {}  // NOLINT: a number is what most callers have to say
  std::size_t entries_max;
  std::size_t bytes_max = 16U << 20;  // of all entries as they are told
  // Told page by page how many bytes the listing holds more; an error ends it. Not called once list() has
  // returned. None: nobody counts.
  std::function<Result<void>(std::size_t bytes)> take = {};
};

// Files of one sandbox, always in the sandbox's own view: a path is resolved inside, by the guest, as `user`
// would see it (with that user's permissions; empty: the sandbox's default user), and can never name anything
// of the host. Paths are absolute.
//
// Errors common to all: not_found, permission_denied, not_a_directory, no_space, and those of Sandbox. A call
// on a tree (copy, remove, list) is not atomic: what it did before it failed stays.
class Files {
 public:
  virtual ~Files() = default;
  // Of the entry itself: a symbolic link in the last component is not followed.
  virtual Task<FileInfo> stat(std::string path, std::string user) = 0;
  // Pre-order, names sorted, the root itself not included; symbolic links are not descended. More than the
  // bounds allow is Code::too_large.
  virtual Task<std::vector<FileInfo>> list(std::string path, std::uint32_t depth, ListBounds bounds,
                                           std::string user) = 0;
  // Parents too. Code::already_exists if the directory is there.
  virtual Task<FileInfo> make_directory(std::string path, std::string user,
                                        Ownership ownership = Ownership::users) = 0;
  // Both give the entry at its new place. Code::already_exists if `to` is there and may not be overwritten.
  virtual Task<FileInfo> move(std::string from, std::string to, std::string user, Overwrite overwrite) = 0;
  virtual Task<FileInfo> copy(std::string from, std::string to, std::string user, Overwrite overwrite) = 0;
  // A missing path is Code::not_found; a directory that is not empty needs Recursive::yes.
  virtual Task<void> remove(std::string path, Recursive recursive, std::string user) = 0;
  virtual Task<void> chmod(std::string path, std::uint32_t mode, std::string user) = 0;
  // `length` bytes from `offset` on, fewer where the file ends before; unset: all the rest.
  // Code::is_a_directory for a directory.
  virtual Task<std::unique_ptr<FileReader>> open_read(std::string path, std::uint64_t offset,
                                                      std::optional<std::uint64_t> length,
                                                      std::string user) = 0;
  // Makes the file or, without `append`, empties it at once.
  virtual Task<std::unique_ptr<FileWriter>> open_write(std::string path, WriteOptions options) = 0;
  virtual Task<std::unique_ptr<Watch>> watch(std::string path, Recursive recursive, std::string user) = 0;
};

}  // namespace atl::sandbox
