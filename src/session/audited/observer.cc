#include "session/audited/observer.h"

#include "session/subject.h"

namespace atl::session::audited {

void AuditedObserver::changed(const Session& session, State from, State to, const trace::Context& trace) {
  next_.changed(session, from, to, trace);
  if (from == to || was_requested(session)) return;
  audit::Entry entry;
  if (to == State::stopped) entry.action = "session.end";
  if (to == State::lost) entry.action = "session.lose";
  if (to == State::paused) entry.action = "session.pause";
  // A session that could not be created is told by the call that asked for it.
  if (entry.action.empty()) return;
  entry.actor = {std::string(audit::kSystem), {}, session.tenant, {}, {}};
  entry.object = session.session_id;
  entry.reason = session.reason;
  if (to == State::lost) entry.outcome = audit::Outcome::error;
  if (auto written = log_->append(entry); !written)
    log::error(subject_of(session), "an entry of the audit log could not be written",
               {{"error", written.error().message()}});
}

}  // namespace atl::session::audited
