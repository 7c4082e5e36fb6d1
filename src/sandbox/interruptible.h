#pragma once

namespace atl::sandbox {

// A stream of an interpreter's that can interrupt its own execution and no other: one that waits for its turn
// ends without having begun, one that is over is not touched. Interpreter::interrupt() is about whatever is
// being executed when it arrives.
class Interruptible {
 public:
  virtual ~Interruptible() = default;
  virtual void interrupt() = 0;
};

}  // namespace atl::sandbox
