#pragma once

#include <chrono>
#include <string_view>

#include "session/types.h"

namespace atl::session {

// Told what happened, after it happened, on the loop thread. Must not wait and must not call back.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void created(const Session& session, std::chrono::nanoseconds took) = 0;
  virtual void create_failed(std::string_view provider, Code code) = 0;
  // Every change of state, the first included (from == to).
  virtual void changed(const Session& session, State from, State to) = 0;
  // Denied ones too.
  virtual void finished(const Session& session, const ExecutionRecord& record,
                        std::chrono::nanoseconds took) = 0;
};

}  // namespace atl::session
