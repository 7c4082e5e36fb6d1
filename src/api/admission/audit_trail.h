#pragma once

#include <memory>

#include "api/admission/audited_routes.h"
#include "api/admission/rule.h"
#include "audit/log.h"
#include "auth/principal.h"
#include "net/router.h"

namespace atl::api {

// Writes what the session service cannot: calls of routes that do not lead to it, and calls that were refused
// before they led anywhere. Belongs to the loop thread.
class AuditTrail {
 public:
  explicit AuditTrail(std::shared_ptr<audit::Log> log) : log_(std::move(log)) {}

  // A credential that opens nothing. Folded by address: nobody fills the disk without a key.
  void refused(const net::Request& request, const std::string& address, const Error& why) const;
  // A known caller who may not do this, or not so often.
  void denied(Rule needed, const net::Request& request, const auth::Principal& who, const Error& why) const;

  // Before the handler of a request that was let in. Null: nothing is to be written here. Code::no_space: it
  // must not happen.
  Result<std::shared_ptr<void>> begin(Rule needed, const net::Request& request,
                                      const auth::Principal& who) const;
  // After it, with what begin() gave.
  Task<void> answered(std::shared_ptr<void> begun, const net::Request& request,
                      net::Guard::Answer answer) const;

 private:
  std::shared_ptr<audit::Log> log_;
};

}  // namespace atl::api
