#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace atl::daemon {

// One service for each data directory: each of two would take the other's sandboxes for leftovers and end
// them. Held by an flock on the file `lock`, which ends with this object and with the process, however that
// ends. What is forked off while it is held must close its descriptors, as the spawner does.
//
// Commands that work beside a running service (`atoll keys`, `atoll env`) do not take it: the store and the
// layers have locks of their own.
class DataLock {
 public:
  // At once: Code::conflict with the process id of the holder if there is one. Nothing else in the directory
  // is touched.
  static Result<DataLock> take(const std::string& directory);

 private:
  explicit DataLock(os::Fd file) : file_(std::move(file)) {}
  os::Fd file_;
};

}  // namespace atl::daemon
