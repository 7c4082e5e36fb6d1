#pragma once

#include <deque>
#include <optional>
#include <string>

#include "base/clock.h"
#include "session/types.h"

namespace atl::api::e2b {

// How processes ended lately, so that a client that connects a moment too late gets the end instead of an
// error. Bounded in time and number. Belongs to the loop thread.
class Endings {
 public:
  explicit Endings(Clock& clock) : clock_(clock) {}

  // `event` is what a stream ends with.
  void keep(const std::string& sandbox_id, std::uint32_t pid, const std::string& tag, std::string event);
  struct Ending {
    std::string sandbox_id;
    std::uint32_t pid = 0;
    std::string tag;
    std::string event;
    SteadyTime at{};
  };
  // The latest that fits, if it is not too long ago.
  std::optional<Ending> find(const std::string& sandbox_id, const session::ProcessSelector& selector);

 private:
  void forget();

  Clock& clock_;
  std::deque<Ending> kept_;  // oldest first
};

}  // namespace atl::api::e2b
