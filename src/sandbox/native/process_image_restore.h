#pragma once

#include "base/result.h"
#include "sandbox/native/process_image.h"

// Making a fresh child of a zygote into the interpreter that parked elsewhere (guest/zygote/restore_steps.h).
namespace atl::sandbox::native {

// What gives itself to be a copy: a fresh child of `zygote` that waits at the other end of `control`.
struct Recipient {
  const LiveProcess& process;
  const LiveProcess& zygote;
  int control = -1;
  bool resumed = false;  // it is the same one that goes on, not a copy of it
};
// The pages are read from `pages`. On failure the child is of no use any more. It goes on when this returns.
// Code::conflict if its layout is another one.
Result<void> restore_process_image(const ProcessImage& image, const char* pages, const Recipient& to);

}  // namespace atl::sandbox::native
