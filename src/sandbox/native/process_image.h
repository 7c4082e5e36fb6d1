#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/native/live_process.h"

// The memory of a parked interpreter, taken out of one child of a zygote and put into another one of the same
// layout (process_image_restore.h). Sizes and addresses that come from the interpreter or from a file are
// checked before they are used. Plain values; nothing here is kept open.
namespace atl::sandbox::native {

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
struct ProcessImage {
  Extent extent = Extent::difference;
  std::uint32_t mask = 0;  // umask
  std::string directory;
  std::string credentials;  // what it may do, which is not memory: the other must be alike in it
  std::vector<Area> areas;
  std::vector<OpenFile> files;
  std::vector<Run> runs;     // in order, apart from each other
  std::vector<Run> dropped;  // the zygote has something there, this one nothing
};
// True if each list is in order and within what a process can have.
bool is_sound(const ProcessImage& image);

// What a process may do, as far as two must be alike in it; from /proc/<pid>/status.
std::string credentials_of(const std::string& status);

struct ImageReading {
  ProcessImage image;
  ZygoteAreas::Areas before;             // the zygote's areas; never null
  std::vector<std::string> left_behind;  // what cannot be carried, by name
};
// What is read, and with whom it is compared. Borrowed for the call.
struct ImageSource {
  const LiveProcess& process;  // parked, in a sandbox that stands still
  const LiveProcess& zygote;   // whose child it is
  int control = -1;            // the number of its control stream
  Extent extent = Extent::difference;
  std::uint64_t bytes_max = 0;
};
// Everything about a process that stands still but the bytes of its pages, which checkpoint_file.h reads.
// Code::conflict, naming the reason, if it cannot be copied truthfully: it has threads, shared memory, or has
// mapped files that are gone. Code::too_large if it holds more than `bytes_max`. A failure leaves nothing
// behind; the process is not changed in any case.
Result<ImageReading> read_process_image(const ImageSource& source, ZygoteAreas& zygotes);

}  // namespace atl::sandbox::native
