#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

// A process as /proc shows it, looked at from outside: no privileged code runs on a user's memory, and what
// the process says about itself is not asked for.
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

// A live process: its directory in /proc stays that process's, whatever becomes of its number.
class LiveProcess {
 public:
  // `start_time`: when the kernel says it started (started_at); another process of that number is
  // Code::not_found.
  static Result<LiveProcess> open(int proc, pid_t pid, std::uint64_t start_time);
  static Result<std::uint64_t> started_at(int proc, pid_t pid);

  pid_t pid() const { return pid_; }
  std::uint64_t start_time() const { return start_time_; }
  // False once it has ended: from then on its number may be another's.
  bool is_alive() const;
  // Files of its directory by name, as the kernel makes them up now. They fail once it has ended.
  Result<std::string> text(const char* name, std::size_t bytes_max = 1 << 20) const;
  Result<os::Fd> open_file(const char* name, int flags) const;
  // Files as Extent says; their states only in Extent::whole.
  Result<std::vector<Area>> areas(Extent extent) const;
  // The same with what a fork does to each, which costs four times as much to ask for.
  Result<std::vector<Area>> areas_at_fork(Extent extent) const;
  // What a link leads to; empty if there is none.
  std::string link(const std::string& name) const;
  std::vector<std::string> list(const char* name) const;
  // Of the file that is mapped there.
  std::string state_of(const Area& area) const;

 private:
  Result<std::vector<Area>> areas_of(const char* file, Extent extent) const;
  pid_t pid_ = 0;
  std::uint64_t start_time_ = 0;
  os::Fd directory_;
};

// The areas of zygotes, read once: a zygote that is ready does nothing but fork, and maps nothing any more.
// For one process that makes copies one after the other; not for several threads.
class ZygoteAreas {
 public:
  using Areas = std::shared_ptr<const std::vector<Area>>;
  // With what a fork does to each and which of them have pages of their own.
  Result<Areas> of(const LiveProcess& zygote, Extent extent);

 private:
  struct Known {
    pid_t pid = 0;
    std::uint64_t start_time = 0;
    std::string size;  // of its address space: another one means other areas
    Areas areas;
  };
  std::vector<Known> known_;
};

}  // namespace atl::sandbox::native
