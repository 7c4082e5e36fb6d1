#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "shell/stream.h"
#include "vfs/file_system.h"

namespace atl::shell {

class Machine;

// Bytes that one reader took out of an open file, so that nobody else changes or reads them meanwhile.
struct Claim {
  std::string bytes;     // pipes and the like
  vfs::Content content;  // files: kept alive, not copied
};

// An open file description: what descriptors point to. Shared by duplicates; closing is destroying.
class OpenFile : public Input, public Output {
 public:
  std::string_view fill() override { return {}; }
  void consume(std::size_t) override {}
  bool write(std::string_view) override {
    error_ = "Bad file descriptor";
    return false;
  }
  std::string_view error() const override { return error_; }
  std::uint64_t inode() const override { return 0; }
  // What is there now, at least one byte, for this reader alone; waits for the first. Empty at the end. Valid
  // as long as both the claim and the file are.
  virtual std::string_view take(Claim& claim);
  // The end of what take() gave, which its reader did not use: the next one shall have it.
  virtual void give_back(Claim& claim, std::string_view rest);
  // Whether it was opened for reading, and for writing.
  virtual bool readable() const { return false; }
  virtual bool writable() const { return false; }
  // Reads that would wait are possible: a pipe, a terminal.
  virtual bool is_pipe() const { return false; }
  virtual bool is_terminal() const { return false; }
  // True when a read would not wait.
  virtual bool ready() { return true; }
  // The file of the filesystem behind it; null for pipes, devices and texts. Owned by this object.
  virtual vfs::File* file() { return nullptr; }
  std::string path;  // as opened, for /dev/fd and messages

 protected:
  std::string_view error_;
};
using OpenFilePtr = std::shared_ptr<OpenFile>;

// The kinds of open file (open_files.cc). What refers to `machine` must not outlive it; callbacks are called
// on the fiber that reads or writes.
std::pair<OpenFilePtr, OpenFilePtr> make_pipe(Machine& machine);  // read end, write end
// The FIFO of that inode. Waits until somebody opens the other end.
OpenFilePtr open_fifo(Machine& machine, std::uint64_t inode, bool read, bool write);
// Reads the text.
OpenFilePtr open_string(std::string text);
OpenFilePtr open_null();
OpenFilePtr open_zero(Machine& machine);
OpenFilePtr open_random(Machine& machine);
OpenFilePtr open_full();       // /dev/full: no write succeeds
OpenFilePtr open_directory();  // readable by nobody
// Appends to `into`, which must outlive it; ends the script beyond `limit` bytes.
OpenFilePtr open_capture(Machine& machine, std::string& into, std::uint64_t limit);
// A file of the filesystem; takes it over.
OpenFilePtr open_vfs(Machine& machine, std::unique_ptr<vfs::File> file, bool read, bool write);
// Gives what is written to `sink`; counts it as output of the script.
OpenFilePtr open_callback(Machine& machine, std::function<void(std::string_view)> sink);
// Reads what `source` returns; an empty text is the end. `source` may block the thread.
OpenFilePtr open_source(Machine& machine, std::function<std::string()> source);

}  // namespace atl::shell
