#pragma once

#include <string>

namespace atl::sandbox {

// A stream of an interpreter's that can end its own execution, and no other, by force: whether it listens to
// interrupts or not, as Ending::killed with this reason. One that waits for its turn ends without having
// begun, one that is over is not touched. An interpreter of which no copy is kept is gone with what it
// executed. Streams without this run where an interrupt cannot be ignored: in our own emulation, or behind
// another service that cuts the execution off.
class Endable {
 public:
  virtual ~Endable() = default;
  virtual void end(std::string reason) = 0;
};

}  // namespace atl::sandbox
