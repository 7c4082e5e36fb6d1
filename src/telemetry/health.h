#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace atl::telemetry {

// ok: it does all of its work. degraded: the service goes on without some of it, which `reason` names. down:
// what depends on it fails. off: nobody asked for it.
enum class Condition : std::uint8_t { ok, degraded, down, off };
std::string_view to_string(Condition condition);

struct ComponentState {
  Condition condition = Condition::ok;
  std::string reason;  // why it is not ok, with the way out where there is one
};

// The condition of each part of the service, and since when it is in it. Belongs to the loop thread.
class Health {
 public:
  explicit Health(const Clock& clock = Clock::machine()) : clock_(clock) {}

  // look() calls `probe` each time; it must not block, and what it refers to must outlive this. The caller
  // sees to it that names are unique. `remedy` tells the operator what to do when the part is not ok.
  void add(std::string name, std::function<ComponentState()> probe, std::string remedy = {});

  struct Component {
    std::string name;
    ComponentState state;
    WallTime since;      // when it was first seen in this condition
    std::string remedy;  // empty while it is ok or off
  };
  // In the order of adding.
  std::vector<Component> look();
  // The worst of all: down if something is down, degraded if something is.
  static Condition worst(const std::vector<Component>& components);

 private:
  struct Watched {
    std::string name;
    std::function<ComponentState()> probe;
    std::string remedy;
    Condition last = Condition::ok;
    WallTime since;
  };
  const Clock& clock_;
  std::vector<Watched> watched_;
};

}  // namespace atl::telemetry
