#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"

namespace atl::cli {

// A directory for what a command needs while it runs, so that a daemon's data is not touched. Removed with
// everything in it.
class TemporaryPlace {
 public:
  static Result<TemporaryPlace> make(const std::string& name) {
    std::string pattern = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) return fail(errno_error(errno, "make a temporary directory"));
    return TemporaryPlace(std::move(pattern));
  }
  TemporaryPlace(TemporaryPlace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryPlace& operator=(TemporaryPlace&&) = delete;
  ~TemporaryPlace() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryPlace(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace atl::cli
