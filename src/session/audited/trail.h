#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "audit/log.h"
#include "auth/principal.h"
#include "base/log_subject.h"
#include "os/task.h"

// How calls of the session service become entries of the audit log. Internal to audited/, but for actor_of().
namespace atl::session::audited {

audit::Actor actor_of(const auth::Principal& who);

// By its code: a right or a policy that is missing is `denied`, everything else `error`.
audit::Outcome outcome_of(const Error& error);

// Writes the entries of one caller.
//
// A change has its entry before it is acknowledged: room for it is made before the change begins, and if the
// service ends in between, the next start says that. A change whose entry cannot be written is not
// acknowledged. What ends or deletes something is always acknowledged.
class Trail {
 public:
  Trail(std::shared_ptr<audit::Log> log, audit::Actor actor)
      : log_(std::move(log)), actor_(std::move(actor)) {}

  audit::Entry entry(std::string_view action, std::string object) const;
  audit::Log& log() const { return *log_; }
  const std::shared_ptr<audit::Log>& shared_log() const { return log_; }

  // Runs `call` between intent and entry. It is not begun where the log has no room for its entry.
  template <class T>
  Task<T> change(audit::Kind kind, audit::Entry what, Task<T> call) const {
    return audited<T>(log_, kind, std::move(what), std::move(call));
  }
  // Runs `call`; repetitions of the same look share an entry.
  template <class T>
  Task<T> look(audit::Entry what, Task<T> call) const {
    return looked<T>(log_, std::move(what), std::move(call));
  }

  static void warn_unwritten(const log::Subject& about, const Error& error);
  // Writes what became of a call that was begun.
  static Result<void> finish(audit::Ticket& ticket, const Error* error);

 private:
  template <class T>
  static Task<T> audited(std::shared_ptr<audit::Log> log, audit::Kind kind, audit::Entry what, Task<T> call) {
    // Calls that only read go on even if their entry cannot be written; the service's log says so.
    log::Subject about;
    if (kind == audit::Kind::reveal) about.tenant = what.actor.tenant;
    Result<audit::Ticket> begun = log->begin(kind, std::move(what));
    // If the disk cannot be written, changes are refused; calls that only read go on, and the service's log
    // says so.
    if (!begun && kind == audit::Kind::reveal && begun.error().code() != Code::no_space) {
      warn_unwritten(about, begun.error());
      co_return co_await std::move(call);
    }
    if (!begun) co_return fail(std::move(begun).error());
    audit::Ticket ticket = std::move(*begun);
    Result<T> result = co_await std::move(call);
    const Error* error = result ? nullptr : &result.error();
    auto written = finish(ticket, error);
    if (written) written = co_await log->settle();
    if (!written && kind == audit::Kind::reveal && written.error().code() != Code::no_space) {
      warn_unwritten(about, written.error());
      co_return result;
    }
    if (!written && result && kind != audit::Kind::ending) co_return fail(std::move(written).error());
    co_return result;
  }
  template <class T>
  static Task<T> looked(std::shared_ptr<audit::Log> log, audit::Entry what, Task<T> call) {
    Result<T> result = co_await std::move(call);
    if (!result) {
      what.outcome = outcome_of(result.error());
      what.reason = result.error().message();
    }
    log->fold(what);
    co_return result;
  }

  std::shared_ptr<audit::Log> log_;
  audit::Actor actor_;
};

}  // namespace atl::session::audited
