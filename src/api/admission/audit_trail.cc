#include "api/admission/audit_trail.h"

#include <fmt/format.h>

#include <optional>

#include "session/audited/trail.h"

namespace atl::api {
namespace {

using audit::Entry;
using audit::Outcome;

struct Begun {
  AuditedRoute route;
  Entry look;                           // of a look: written when it was answered
  std::optional<audit::Ticket> ticket;  // of a change
};

void judge(Entry& entry, const net::Guard::Answer& answer) {
  if (answer.error != nullptr) {
    entry.outcome = session::audited::outcome_of(*answer.error);
    entry.reason = answer.error->message();
  } else if (answer.status == 0) {
    entry.outcome = Outcome::error;
    entry.reason = "the answer was cut off";
  } else if (answer.status >= 400) {
    entry.outcome = answer.status == 401 || answer.status == 403 ? Outcome::denied : Outcome::error;
    entry.reason = fmt::format("answered {}", answer.status);
  }
}

}  // namespace

void AuditTrail::refused(const net::Request& request, const std::string& address, const Error& why) const {
  Entry entry;
  entry.actor = {std::string(audit::kAnonymous), {}, {}, address, request.id};
  entry.action = "login.refuse";
  entry.object = std::string(net::to_string(request.method)) + " " + std::string(request.path);
  entry.outcome = Outcome::denied;
  entry.reason = why.message();
  log_->fold(entry);
}

void AuditTrail::denied(Rule needed, const net::Request& request, const auth::Principal& who,
                        const Error& why) const {
  const AuditedRoute route = audited_route(request.method, request.path, needed.permission);
  Entry entry;
  entry.actor = session::audited::actor_of(who);
  entry.action = route.action;
  entry.object = object_of(route, request.path, {});
  entry.outcome = why.code() == Code::resource_exhausted ? Outcome::error : Outcome::denied;
  entry.reason = why.message();
  log_->fold(entry);
}

Result<std::shared_ptr<void>> AuditTrail::begin(Rule needed, const net::Request& request,
                                                const auth::Principal& who) const {
  auto begun = std::make_shared<Begun>();
  begun->route = audited_route(request.method, request.path, needed.permission);
  if (begun->route.writer != Writer::admission) return std::shared_ptr<void>();
  Entry entry;
  entry.actor = session::audited::actor_of(who);
  entry.actor.request_id = request.id;
  if (entry.actor.address.empty()) entry.actor.address = request.peer;
  entry.action = begun->route.action;
  entry.object = object_of(begun->route, request.path, {});
  // Whoever looks across tenants: at whom.
  if (const auto other = request.query("tenant");
      begun->route.kind == audit::Kind::reveal && other && *other != who.tenant)
    entry.object = *other;
  if (begun->route.kind == audit::Kind::reveal) {
    begun->look = std::move(entry);
  } else {
    begun->ticket = TRY(log_->begin(begun->route.kind, std::move(entry)));
  }
  return std::shared_ptr<void>(std::move(begun));
}

Task<void> AuditTrail::answered(std::shared_ptr<void> pending, const net::Request& request,
                                net::Guard::Answer answer) const {
  auto& begun = *static_cast<Begun*>(pending.get());
  if (!begun.ticket) {
    judge(begun.look, answer);
    log_->fold(begun.look);
    co_return Result<void>{};
  }
  Entry& entry = begun.ticket->entry();
  judge(entry, answer);
  if (entry.object.empty()) entry.object = object_of(begun.route, request.path, answer.body);
  const Outcome outcome = entry.outcome;
  std::string reason = entry.reason;
  auto written = begun.ticket->finish(outcome, std::move(reason));
  if (written) written = co_await log_->settle();
  // What ended or was deleted is gone, whether somebody could write that down or not.
  if (begun.route.kind == audit::Kind::ending) co_return Result<void>{};
  co_return written;
}

}  // namespace atl::api
