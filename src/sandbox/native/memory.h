#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

// The memory of a parked interpreter, taken out of one child of a zygote and put into another one of the same
// layout (guest/zygote/transplant.h). Everything here looks and writes from outside, through /proc: no
// privileged code runs on a user's memory, and what the interpreter says about itself is not asked for. Sizes
// and addresses that come from it or from a file are checked before they are used.
namespace atl::sandbox::native {

// How much is taken: what differs from the zygote, for other children of the same one; or all of it, for
// children of any zygote of the same layout.
enum class Extent : std::uint8_t { difference, whole };

// What the kernel does with an area when its process forks, by its flags in /proc/<pid>/smaps. A copy of a
// process is such a fork: what has one of these is never carried, and the copy has it empty and with the same
// flags. Generators of random numbers keep their state there (the C library's in the vDSO, BoringSSL,
// GnuTLS).
inline constexpr std::uint8_t kWipedByFork = 1;      // wf: zeros in the child
inline constexpr std::uint8_t kAbsentAfterFork = 2;  // dc: not there in the child
inline constexpr std::uint8_t kDroppable = 4;        // dp: wiped, and its pages may go at any time

// One line of /proc/<pid>/maps.
struct Area {
  std::uint64_t start = 0, end = 0, offset = 0;
  std::uint32_t protection = 0;  // PROT_*
  bool shared = false;
  std::uint8_t at_fork = 0;  // kWipedByFork ...; known where /proc/<pid>/smaps was read
  // False: every page of it is the mapped file's. Known where /proc/<pid>/smaps was read.
  bool has_own_pages = true;
  // Which file is mapped: device and inode; in Extent::whole, which outlives those, name and state. Empty:
  // none.
  std::string file;
  std::string name;
  std::string state;  // of the mapped file: size and time of change
};
// Of /proc/<pid>/maps or smaps.
std::vector<Area> parse_areas(const std::string& text);

struct OpenFile {
  int number = -1;
  int same_as = -1;  // the number of a descriptor that shares its position
  std::uint32_t flags = 0;
  std::uint64_t position = 0;
  std::string path;
};

// Whole pages: at an address, and where a file holds them.
struct Run {
  std::uint64_t address = 0, size = 0, offset = 0;
};

// What is needed to go on elsewhere.
struct Memory {
  Extent extent = Extent::difference;
  std::uint32_t mask = 0;  // umask
  std::string directory;
  std::string standing;  // what it may do, which is not memory: the other must be alike in it
  std::vector<Area> areas;
  std::vector<OpenFile> files;
  std::vector<Run> runs;     // in order, apart from each other
  std::vector<Run> dropped;  // the zygote has something there, this one nothing
};
// True if each list is in order and within what a process can have.
bool is_sound(const Memory& memory);

// A live process: its directory in /proc stays that process's, whatever becomes of its number.
class Subject {
 public:
  // `born_at`: when the kernel says it started (started_at); another process of that number is
  // Code::not_found.
  static Result<Subject> open(int proc, pid_t pid, std::uint64_t born_at);
  static Result<std::uint64_t> started_at(int proc, pid_t pid);

  pid_t pid() const { return pid_; }
  std::uint64_t born_at() const { return born_at_; }
  // False once it has ended: from then on its number may be another's.
  bool is_alive() const;
  Result<std::string> text(const char* name, std::size_t bytes_max = 1 << 20) const;
  Result<os::Fd> open_file(const char* name, int flags) const;
  // Files as Extent says; their states only in Extent::whole.
  Result<std::vector<Area>> areas(Extent extent) const;
  // The same with what a fork does to each, which costs four times as much to ask for.
  Result<std::vector<Area>> areas_at_fork(Extent extent) const;
  std::string link(const std::string& name) const;
  std::vector<std::string> list(const char* name) const;
  // Of the file that is mapped there.
  std::string state_of(const Area& area) const;

 private:
  Result<std::vector<Area>> areas_of(const char* file, Extent extent) const;
  pid_t pid_ = 0;
  std::uint64_t born_at_ = 0;
  os::Fd directory_;
};

// The areas of zygotes, read once: a zygote that is ready does nothing but fork, and maps nothing any more.
// For one process that makes copies one after the other; not for several threads.
class ZygoteAreas {
 public:
  using Areas = std::shared_ptr<const std::vector<Area>>;
  // With what a fork does to each and which of them have pages of their own.
  Result<Areas> of(const Subject& zygote, Extent extent);

 private:
  struct Known {
    pid_t pid = 0;
    std::uint64_t born_at = 0;
    std::string size;  // of its address space: another one means other areas
    Areas areas;
  };
  std::vector<Known> known_;
};

// What a process may do, as far as two must be alike in it; from /proc/<pid>/status.
std::string standing_of(const std::string& status);

struct Survey {
  Memory memory;
  ZygoteAreas::Areas before;             // the zygote's areas; never null
  std::vector<std::string> left_behind;  // what cannot be carried, by name
};
// Everything about a process that stands still but the bytes of its pages. Code::conflict, naming the reason,
// if it cannot be copied truthfully: it has threads, shared memory, or has mapped files that are gone.
// Code::too_large if it holds more than `bytes_max`.
struct SurveyOf {
  const Subject& process;
  const Subject& zygote;
  int control = -1;  // the number of its control stream
  Extent extent = Extent::difference;
  std::uint64_t bytes_max = 0;
};
Result<Survey> survey(const SurveyOf& what, ZygoteAreas& zygotes);

// What gives itself to be a copy: a fresh child of `zygote` that waits at the other end of `control`.
struct Recipient {
  const Subject& process;
  const Subject& zygote;
  int control = -1;
  bool resumed = false;  // it is the same one that goes on, not a copy of it
};
// The pages are read from `pages`. On failure the child is of no use any more. It goes on when this returns.
// Code::conflict if its layout is another one.
Result<void> transplant(const Memory& memory, const char* pages, const Recipient& to);

}  // namespace atl::sandbox::native
