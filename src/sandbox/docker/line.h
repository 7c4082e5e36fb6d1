#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace atl::sandbox::docker {

// The broker's way to the guest of one container. Belongs to the loop thread of the broker.
class Line {
 public:
  virtual ~Line() = default;
  // Begins to listen; `on_end` is called once, when the container's side is over, for that reason.
  virtual void start(std::function<void(std::string)> on_end) = 0;
  // A daemon's end of a stream to the guest, instead of the one before; the guest greets on it.
  virtual Result<os::Fd> open() = 0;
  // Nothing goes to or from a daemon any more.
  virtual void close() = 0;
};

}  // namespace atl::sandbox::docker
