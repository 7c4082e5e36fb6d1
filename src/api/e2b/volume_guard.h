#pragma once

#include <memory>

#include "api/e2b/context.h"

namespace atl::api::e2b {

// Keeps sandboxes from filling volumes: what they write does not pass through the service. Volumes of running
// sandboxes are measured every two seconds (less often where counting takes long); a sandbox whose volume
// holds more than it may is paused, and again if it is resumed before files were removed. A volume with a
// filesystem of its own needs none of it.
class VolumeGuard {
 public:
  explicit VolumeGuard(Context& context);
  ~VolumeGuard();

 private:
  struct State;
  static boost::asio::awaitable<void> watch(std::shared_ptr<State> state);
  // Whether a volume of the session holds too much.
  static Task<bool> is_over(std::shared_ptr<State> state, session::Session session);
  static boost::asio::awaitable<void> look(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace atl::api::e2b
