#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace atl::cli {

// Where a user wants bytes written. A regular file, or one that is not there yet, gets them whole under its
// name or not at all: they are written beside it first, and a link is followed to what it names. Devices and
// pipes get them as they come and stay what they are.
class OutputFile {
 public:
  // `field` is what the user calls the path. A directory, a place that cannot be written, or a link that
  // leads nowhere is Code::invalid_argument or what the machine says.
  static Result<OutputFile> open(std::string_view field, const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // What was not finished is removed.
  ~OutputFile();

  int fd() const { return fd_.get(); }
  // All bytes are on the disk, and the name is theirs.
  Result<void> finish();

 private:
  OutputFile(os::Fd fd, std::string target, std::string part)
      : fd_(std::move(fd)), target_(std::move(target)), part_(std::move(part)) {}

  os::Fd fd_;
  std::string target_, part_;  // part_ empty: written in place
};

}  // namespace atl::cli
