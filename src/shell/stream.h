#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace atl::shell {

// Where a command reads from: a file, a pipe, a here-document, the caller's standard input. A read from an
// empty pipe switches to the stage that fills it, so a command is written as plain sequential code.
class Input {
 public:
  virtual ~Input() = default;

  // The bytes that are buffered now, at least one; waits for the first. Empty only at the end of the input.
  // Valid until the next call of any member.
  virtual std::string_view fill() = 0;
  // Drops the first `count` bytes of what fill() returned.
  virtual void consume(std::size_t count) = 0;
  // Told while a reader puts together a line or a whole file: `bytes` it holds by now. An input that may
  // never end stops the script there when that is more than its memory limit.
  virtual void held(std::size_t bytes) { (void)bytes; }
  // Which file it reads; 0 if none.
  virtual std::uint64_t inode() const { return 0; }

  // Appends the next line without its delimiter to `line` after clearing it. False at the end.
  // `had_delimiter` tells whether the last line was complete.
  // Throws Stopped if the line grows beyond what the script may hold.
  bool read_line(std::string& line, char delimiter = '\n', bool* had_delimiter = nullptr);
  // Everything up to the end. Throws Stopped like read_line.
  std::string read_all();
};

// Where a command writes to. A write to a full pipe switches to the stage that empties it.
class Output {
 public:
  virtual ~Output() = default;

  // Takes everything. When nobody can read it any more, ends the command as SIGPIPE would (unless it is
  // trapped or ignored: then returns false, and `error` says why in strerror's words).
  virtual bool write(std::string_view bytes) = 0;
  // Says why the last write returned false: "No space left on device", "Broken pipe", ...
  virtual std::string_view error() const = 0;
  // Hands over what is buffered. Most outputs buffer nothing.
  virtual void flush() {}
  // Which file it writes; 0 if none.
  virtual std::uint64_t inode() const { return 0; }
};

}  // namespace atl::shell
