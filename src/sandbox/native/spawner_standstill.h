#pragma once

#include <functional>
#include <set>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/spawner_children.h"
#include "sandbox/native/spawner_connection.h"
#include "sandbox/native/spawner_events.h"
#include "sandbox/native/spawner_sandboxes.h"

namespace atl::sandbox::native {

// Brings sandboxes to a standstill and lets them go on. What runs inside decides how long that takes, so
// nobody waits for it: the kernel is told, and looked at now and then until it is so or has taken too long.
// Every request that was asked for here is answered once: by what goes on when the sandbox stands still, or
// with an error. The spawner's only thread.
class SpawnerStandstill {
 public:
  using Asked = SpawnedSandbox::Freezing::Asked;
  // Called when the sandbox stands still, once for each that asked; may ask again and may release().
  using GoesOn = std::function<void(SpawnedSandbox&, Asked)>;
  // Borrows the first four.
  SpawnerStandstill(SandboxBuilder& builder, SpawnerEvents& events, SpawnerChildren& children,
                    SpawnerConnection& connection, GoesOn goes_on);
  // Watches its timer.
  void begin();

  // Goes on when the sandbox stands still: at once if it does already. A bounded number may wait for it.
  void ask(SpawnedSandbox& sandbox, Asked asked);
  // A child has sent the signals, or could not.
  void on_stopped(SpawnedSandbox& sandbox, const std::optional<Error>& failed);
  void on_timer();
  // The sandbox goes on running, and every waiting caller gets this error. Harmless if none waits.
  void give_up(SpawnedSandbox& sandbox, const Error& why);
  // A job holds the sandbox frozen until it is released.
  static void hold(SpawnedSandbox& sandbox) { ++sandbox.holds; }
  void release(SpawnedSandbox& sandbox);
  // Somebody resumes it. It goes on when no job holds it any more.
  Result<void> resume(SpawnedSandbox& sandbox);

 private:
  Result<void> begin_to_stop(SpawnedSandbox& sandbox);
  void on_still(SpawnedSandbox& sandbox);
  // Sets the timer for the next look at sandboxes that are being frozen.
  void look_again();

  SandboxBuilder& builder_;
  SpawnerEvents& events_;
  SpawnerChildren& children_;
  SpawnerConnection& connection_;
  GoesOn goes_on_;
  std::set<SpawnedSandbox*> freezing_;  // by the kernel's freezer; a child reports where there is none
  os::Fd timer_;
};

}  // namespace atl::sandbox::native
