#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/native/process_image.h"

// A file of parked interpreters (docs/formats/parked-interpreters.md): versioned, with checksums over all of
// it. It holds a user's memory and comes back to a spawner that writes it into processes of a sandbox, so
// reading believes nothing: every size is checked before it is used, and what does not add up is
// Code::data_loss.
namespace atl::sandbox::native {

inline constexpr const char* kCheckpointName = "kernels";  // in a snapshot's directory

struct CheckpointedInterpreter {
  std::string id, directory, user;
  std::string zygote;        // whose child it was; Extent::difference can go into its other children only
  std::uint64_t layout = 0;  // of that zygote
  Extent extent = Extent::difference;
  std::int32_t pid = 0;  // inside
  std::int32_t control = -1;
  // Where the file holds its description and its pages, and their checksums.
  std::uint64_t memory_at = 0, memory_size = 0, memory_checksum = 0;
  std::uint64_t pages_at = 0, pages_size = 0, pages_checksum = 0;
};

// Writes one such file. Owns it until release(); a file on the disk that was not finished stays, for the
// caller to remove with its directory.
class CheckpointWriter {
 public:
  // Creates it; there must be none.
  static Result<CheckpointWriter> create(int directory);
  // In memory, for copies that are made at once. It is sealed when it is finished: as nobody can change it,
  // its pages have no checksum.
  static Result<CheckpointWriter> in_memory();
  // Its runs get their offsets; what of a difference is none, because the zygote has the same bytes there, is
  // left out.
  Result<void> add(CheckpointedInterpreter interpreter, ImageReading reading, const LiveProcess& process,
                   const LiveProcess& zygote);
  // Nothing may be added afterwards.
  Result<void> finish();
  os::Fd release() { return std::move(file_); }

 private:
  static Result<CheckpointWriter> begin(os::Fd file);
  Result<void> pad();
  os::Fd file_;
  bool in_memory_ = false;
  std::uint64_t at_ = 0;
  std::vector<CheckpointedInterpreter> interpreters_;
};

// Code::data_loss or, for another version, Code::unsupported.
Result<std::vector<CheckpointedInterpreter>> read_checkpoint(int file);

// Counts in a file on the disk that this interpreter is being continued once more, and returns how often it
// was before: all but the first are copies. Survives the end of this program, not a loss of power. `proc`: a
// /proc that shows this process.
Result<std::uint32_t> count_revival(int proc, int file, std::uint32_t index);

// One of them, mapped and verified; sealed pages need no verification.
class CheckpointPages {
 public:
  static Result<CheckpointPages> open(int file, const CheckpointedInterpreter& interpreter);
  ~CheckpointPages();
  CheckpointPages(CheckpointPages&& other) noexcept;
  CheckpointPages(const CheckpointPages&) = delete;
  CheckpointPages& operator=(const CheckpointPages&) = delete;
  CheckpointPages& operator=(CheckpointPages&&) = delete;
  // Both are valid while this object lives.
  const ProcessImage& image() const { return memory_; }
  const char* bytes() const { return bytes_; }

 private:
  CheckpointPages() = default;
  ProcessImage memory_;
  const char* bytes_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace atl::sandbox::native
