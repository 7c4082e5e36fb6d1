#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/task.h"
#include "sandbox/files.h"

namespace atl::cli {

// A file or directory of this machine that a sandbox gets a copy of.
struct CopiedFile {
  std::string host;
  std::string path;  // inside, absolute

  // LOCAL or LOCAL:PATH. Without PATH it keeps its name, in the working directory; a PATH that ends with / is
  // a directory to put it in, and one that does not begin with / is below the working directory.
  // Code::invalid_argument with --copy as the field if LOCAL is not there or PATH climbs.
  static Result<CopiedFile> parse(const std::string& text, const std::string& working_directory);
};

// Copies them in, as `user` (empty: the sandbox's own). Permissions come along, owners and times do not; a
// link is followed; what is neither file nor directory is left out and told on standard error.
Task<void> copy_into(std::shared_ptr<sandbox::Files> files, std::vector<CopiedFile> copies, std::string user);

}  // namespace atl::cli
