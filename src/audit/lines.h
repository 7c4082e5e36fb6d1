#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace atl::audit {

// The lines of one segment, one after another. Only whole lines are given: what follows the last newline is
// an entry that is being written, or one whose writing was cut off.
class Lines {
 public:
  static Result<Lines> open(const std::string& path);

  // The next line without its newline; valid until the next call. Nothing: there is no other whole one. A
  // line longer than entries can be is given in pieces, none of which is an entry.
  Result<std::optional<std::string_view>> next();
  // Where the next line begins.
  std::uint64_t offset() const { return offset_; }
  // Bytes after the last whole line. Meaningful once next() gave nothing.
  std::uint64_t rest() const { return buffer_.size() - at_; }
  void seek(std::uint64_t offset);
  // Goes to the first line whose number is above `seq`, without reading all lines before it. Lines must be in
  // order; where they are not, it may stop too late.
  Result<void> seek_after(std::uint64_t seq);

 private:
  explicit Lines(os::Fd fd) : fd_(std::move(fd)) {}

  os::Fd fd_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace atl::audit
