#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "sandbox/native/native.h"
#include "sandbox/native/sandbox.h"

namespace atl::sandbox::native {

// True if a sandbox made from `made` is what `asked` asks for. Name, user, working directory, variables and
// the limits of single executions are given at the hand-out.
bool serves(const Spec& made, const Spec& asked);

// Sandboxes of one kind that nobody has used yet. Owns them until take(); one that was handed out never comes
// back. Belongs to the loop thread.
struct Pool {
  explicit Pool(PoolOptions options_) : options(std::move(options_)), wanted(options.ready) {}

  bool serves(const Spec& spec) const { return native::serves(options.spec, spec); }
  // A ready one, or none. One that died while waiting is passed over.
  std::unique_ptr<NativeSandbox> take();
  // So few that the next burst would find it empty.
  bool is_low() const { return ready.size() <= wanted / 4; }
  // One fewer from now on if it was calm since the last miss and the last time; what is too many ends.
  void shrink();

  PoolOptions options;
  std::deque<std::unique_ptr<NativeSandbox>> ready;
  std::uint32_t wanted;
  std::chrono::steady_clock::time_point last_miss = std::chrono::steady_clock::now();
  bool refilling = false;
};

}  // namespace atl::sandbox::native
