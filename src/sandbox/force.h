#pragma once

#include <memory>
#include <string>

#include "sandbox/guest_interpreter.h"

namespace atl::sandbox {

// Ends what an interpreter executes at once, as Ending::killed with this reason, whether it listens to
// interrupts or not. An interpreter of which no copy is kept is gone then. The others run where an interrupt
// cannot be ignored: our own emulation, or another service that cuts the execution off.
inline Task<void> end_by_force(std::shared_ptr<Interpreter> interpreter, std::string reason) {
  if (const auto guest = std::dynamic_pointer_cast<GuestInterpreter>(interpreter)) {
    guest->end_current(Ending::killed, std::move(reason));
    co_return Result<void>();
  }
  co_return co_await interpreter->interrupt();
}

}  // namespace atl::sandbox
