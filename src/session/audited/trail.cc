#include "session/audited/trail.h"

namespace atl::session::audited {
namespace {

template <class Who>
audit::Actor from(const Who& who) {
  audit::Actor actor;
  actor.key_id = who.key_id.empty() ? std::string(audit::kSystem) : who.key_id;
  actor.tenant = who.tenant;
  if constexpr (requires { actor.role = who.role; }) actor.role = who.role;
  if constexpr (requires { actor.address = who.address; }) actor.address = who.address;
  if constexpr (requires { actor.request_id = who.request_id; }) actor.request_id = who.request_id;
  return actor;
}

}  // namespace

audit::Actor actor_of(const auth::Principal& who) {
  return from(who);
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

Result<void> Trail::finish(audit::Ticket& ticket, const Error* error) {
  if (error == nullptr) return ticket.finish(audit::Outcome::ok);
  return ticket.finish(outcome_of(*error), error->message());
}

}  // namespace atl::session::audited
