#include "session/audited/trail.h"

namespace atl::session::audited {

audit::Actor actor_of(const auth::Principal& who) {
  audit::Actor actor{who.key_id, who.role, who.tenant, who.address, who.request_id, who.looks_from};
  if (actor.key_id.empty()) actor.key_id = audit::kSystem;
  return actor;
}

audit::Outcome outcome_of(const Error& error) {
  switch (error.code()) {
    case Code::unauthenticated:
    case Code::permission_denied:
    case Code::policy_denied: return audit::Outcome::denied;
    default: return audit::Outcome::error;
  }
}

audit::Entry Trail::entry(std::string_view action, std::string object) const {
  audit::Entry entry;
  entry.actor = actor_;
  entry.action = action;
  entry.object = std::move(object);
  return entry;
}

void Trail::warn_unwritten(const log::Subject& about, const Error& error) {
  log::warn(about, "an entry of the audit log could not be written", {{"error", error.message()}});
}

Result<void> Trail::finish(audit::Ticket& ticket, const Error* error) {
  if (error == nullptr) return ticket.finish(audit::Outcome::ok);
  return ticket.finish(outcome_of(*error), error->message());
}

}  // namespace atl::session::audited
