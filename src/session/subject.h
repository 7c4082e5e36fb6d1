#pragma once

#include <memory>
#include <string>
#include <utility>

#include "auth/principal.h"
#include "base/log_subject.h"
#include "session/live.h"
#include "session/types.h"

// Whom lines of the log are about. Made where a line is written, never on the way of a call that goes well.
namespace atl::session {

inline log::Subject subject_of(const Session& facts) {
  return {facts.tenant, facts.session_id, {}};
}
// With the request that changes it now, if one does.
inline log::Subject subject_of(const Live& live) {
  return {live.facts().tenant, live.facts().session_id, live.trace()};
}
inline log::Subject subject_of(const ExecutionRecord& record) {
  return {record.tenant, record.session_id, record.trace};
}
inline log::Subject subject_of(const auth::Principal& who, std::string session_id = {}) {
  return {who.tenant, std::move(session_id), who.trace};
}

// The same for later: as cheap as a pointer until a line is written. With a trace of its own where the
// request does not hold the session (Live::trace()).
class About {
 public:
  explicit About(std::shared_ptr<const Live> live, const trace::Context& trace = {})
      : live_(std::move(live)), trace_(trace) {}
  log::Subject operator()() const {
    log::Subject subject = subject_of(*live_);
    if (trace_.is_valid()) subject.trace = trace_;
    return subject;
  }

 private:
  std::shared_ptr<const Live> live_;
  trace::Context trace_;
};

}  // namespace atl::session
