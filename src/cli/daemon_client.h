#pragma once

#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/connection.h"

namespace atl::client {
class SandboxClient;
}

namespace atl::cli {

// A running service as commands use it: that of this machine's data directory, with the key that the service
// left there for them, or one that was named. Calls wait until they are answered.
class DaemonClient {
 public:
  // Nothing if no service runs for this data directory.
  static std::optional<DaemonClient> find(const std::string& directory);
  // The one at that place, whether it runs or not. Code::invalid_argument if the place is none.
  static Result<DaemonClient> at(Endpoint endpoint);
  DaemonClient(DaemonClient&&) noexcept;
  ~DaemonClient();

  // The answer's JSON; null if it has no body. An error of the service comes back with its code, message and
  // field; Code::unavailable if it cannot be reached.
  Result<boost::json::value> call(std::string method, std::string target,
                                  const boost::json::value& body = nullptr);
  // The answer as it is.
  Result<std::string> text(std::string method, std::string target, std::string body = {});

 private:
  DaemonClient(Endpoint endpoint, std::unique_ptr<client::SandboxClient> library);
  Endpoint endpoint_;
  std::unique_ptr<client::SandboxClient> library_;
};

}  // namespace atl::cli
