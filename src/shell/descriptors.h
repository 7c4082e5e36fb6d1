#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "shell/cow.h"
#include "shell/open_file.h"
#include "vfs/file_system.h"
#include "vfs/path.h"

namespace atl::shell {

class Machine;

// What descriptors were before a redirection, in the order in which they changed; null: the descriptor was
// closed.
using SavedFiles = std::vector<std::pair<int, OpenFilePtr>>;

// How a path is opened.
struct OpenHow {
  bool read = false, write = false, append = false, truncate = false, create = false;
};

// The open files of one shell by number, its place in the filesystem (working directory, directory stack) and
// its umask. Duplicated descriptors share one OpenFile, which closes when the last of them goes.
class Descriptors {
 public:
  // What a subshell inherits; copies share the table until one of them changes it.
  struct State {
    Cow<std::vector<OpenFilePtr>> files;
    vfs::Path cwd;
    std::vector<std::string> directories;  // the rest of the directory stack
    std::uint32_t umask = 0022;
  };

  // `machine` must outlive this object.
  Descriptors(Machine& machine, State state) : machine_(machine), state_(std::move(state)) {}
  const State& state() const { return state_; }

  // The file behind a descriptor; null if it is closed.
  OpenFilePtr file(int fd) const;
  // Puts a file behind a descriptor (null closes it); what was there before loses this holder.
  void set_file(int fd, OpenFilePtr file);
  // Closes every descriptor.
  void close_all() { state_.files.reset(); }
  // Takes back what a redirection changed and empties `saved`.
  void restore(SavedFiles& saved);
  // The first closed descriptor from `from` on.
  int free_descriptor(int from) const;

  // Standard streams. A closed one gives a stream that reads nothing and refuses writes with "Bad file
  // descriptor". Valid until the descriptor changes.
  Output& out();
  Output& err();
  Input& in();

  // Opens a path as a redirection would: devices, /dev/fd/N, FIFOs (waits for the other end) and files, with
  // the modes that the owner's permission bits allow. Changes no descriptor. Errors are the filesystem's.
  Result<OpenFilePtr> open(const std::string& path, const OpenHow& how);
  // A path as typed, made absolute; ".." is resolved through links. not_found for an empty text.
  Result<vfs::Path> path_of(std::string_view text) const;
  // Whether the owner may read (4), write (2), execute (1).
  bool permitted(const vfs::Stat& stat, unsigned bits) const;

  const vfs::Path& cwd() const { return state_.cwd; }
  // Does not set PWD and does not look whether the directory exists.
  void set_cwd(vfs::Path path) { state_.cwd = std::move(path); }
  std::uint32_t umask() const { return state_.umask; }
  void set_umask(std::uint32_t bits) { state_.umask = bits; }
  // The directory stack below the working directory, as pushd and popd keep it.
  std::vector<std::string>& directories() { return state_.directories; }
  const std::vector<std::string>& directories() const { return state_.directories; }

 private:
  Machine& machine_;
  State state_;
};

}  // namespace atl::shell
