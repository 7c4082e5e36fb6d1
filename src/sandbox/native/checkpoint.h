#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/native/checkpoint_file.h"
#include "sandbox/native/snapshot.h"

// The two halves of a live fork and of hibernation, each in a child of the spawner's own. The sandbox stands
// still while it is checkpointed.
namespace atl::sandbox::native {

// A process, and when it began: its number alone may have become another's.
struct Place {
  pid_t pid = 0;  // in the host's numbers
  std::uint64_t start_time = 0;
};

// Descriptors in it are borrowed and must stay open until the job is done.
struct CheckpointJob {
  struct Interpreter {
    CheckpointedInterpreter checkpointed;
    Place process, zygote;
  };
  int proc = -1;
  SnapshotJob files;
  std::vector<Interpreter> interpreters;
  Extent extent = Extent::difference;
  std::uint64_t bytes_max = 0;           // of memory
  std::vector<std::string> left_behind;  // what is known not to be carried
  bool strict = false;                   // then that, whatever it is, is a failure
  std::function<void()> on_files;  // told when the files are there and the interpreters are not; may be empty
  ZygoteAreas* zygotes = nullptr;  // what a copier knows from its earlier jobs; may be null
};

struct CheckpointReport {
  std::vector<std::string> carried;      // interpreters, by id
  std::vector<std::string> left_behind;  // by name
  os::Fd interpreters;                   // a file of them in memory, where there is none on the disk
};

// Files and interpreters into one directory, whole or not at all; interpreters for copies that are made at
// once stay in memory unless they are large. An interpreter that cannot be copied truthfully is left behind.
// With `strict`, Code::conflict names what cannot be carried, and nothing is left on the disk.
Result<CheckpointReport> write_checkpoint(CheckpointJob job);

struct ReviveJob {
  int proc = -1;
  int file = -1;
  std::uint32_t index = 0;
  Place process, zygote;
  int control = -1;  // the host's end
};
// Makes a fresh child of a zygote into that interpreter of the file. Descriptors stay the caller's. On
// failure the child is of no use any more and the caller ends it. Code::conflict if the child cannot become
// it, Code::data_loss if the file is damaged.
Result<void> revive(const ReviveJob& job);

}  // namespace atl::sandbox::native
