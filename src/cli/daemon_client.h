#pragma once

#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <string>

#include "config/configuration.h"
#include "daemon/local_access.h"

namespace atl::cli {

// The running service of this machine's data directory, as commands use it: with the key that the service
// left there for them. Calls wait until they are answered.
class DaemonClient {
 public:
  // Nothing if no service runs for this data directory.
  static std::optional<DaemonClient> find(const std::string& directory);

  // The answer's JSON; null if it has no body. An error of the service comes back with its code, message and
  // field; Code::unavailable if it cannot be reached.
  Result<boost::json::value> call(std::string method, std::string target,
                                  const boost::json::value& body = nullptr);
  // The answer as it is.
  Result<std::string> text(std::string method, std::string target, std::string body = {});

 private:
  explicit DaemonClient(daemon::LocalAccess access) : access_(std::move(access)) {}
  daemon::LocalAccess access_;
};

}  // namespace atl::cli
