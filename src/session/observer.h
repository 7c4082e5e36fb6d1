#pragma once

#include <chrono>
#include <string_view>

#include "base/trace.h"
#include "egress/proxy.h"
#include "session/types.h"

namespace atl::session {

// Told what happened, after it happened, on the loop thread. Must not wait and must not call back. `trace` is
// of the request behind it; one that names no trace: there is none, or nobody asked.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void created(const Session& session, std::chrono::nanoseconds took,
                       const trace::Context& trace) = 0;
  virtual void create_failed(std::string_view provider, Code code) = 0;
  // Every change of state, the first included (from == to).
  virtual void changed(const Session& session, State from, State to, const trace::Context& trace) = 0;
  // It was admitted, and its first record is written.
  virtual void started(const Session&, const ExecutionRecord&) {}
  // Denied ones too.
  virtual void finished(const Session& session, const ExecutionRecord& record,
                        std::chrono::nanoseconds took) = 0;
  // What its sandbox consumes, every few seconds while it runs.
  virtual void sampled(const Session&, const sandbox::Usage&) {}
  // Something inside wanted to go out, and this was decided.
  virtual void reached(const Session&, const egress::Attempt&) {}
};

}  // namespace atl::session
