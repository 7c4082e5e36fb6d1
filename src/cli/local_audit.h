#pragma once

#include <string>

#include "audit/log.h"
#include "base/result.h"

namespace atl::cli {

// An entry for a change that a command makes in a data directory by itself, because no service runs there.
// Nothing is changed where it cannot be written. The actor is "uid:" and the number of the user at the
// terminal.
class LocalAudit {
 public:
  // Code::conflict while a service has the log: then the change belongs to that service.
  static Result<LocalAudit> begin(const std::string& data, std::string action, std::string object,
                                  std::string tenant);
  // What became of it; gives the result back, or why its entry could not be written.
  template <class T>
  Result<T> finish(Result<T> result, std::string object = {}) {
    if (!object.empty()) ticket_.entry().object = std::move(object);
    auto written = result ? ticket_.finish(audit::Outcome::ok)
                          : ticket_.finish(audit::Outcome::error, result.error().message());
    if (result && !written) return fail(std::move(written).error());
    return result;
  }

 private:
  explicit LocalAudit(audit::Ticket ticket) : ticket_(std::move(ticket)) {}
  audit::Ticket ticket_;
};

}  // namespace atl::cli
