#include "cli/daemon_client.h"

#include <atoll/client.h>

#include "base/json.h"
#include "cli/remote.h"
#include "daemon/local_access.h"

namespace atl::cli {

std::optional<DaemonClient> DaemonClient::find(const std::string& directory) {
  auto access = daemon::read_local_access(directory);
  if (!access) return std::nullopt;
  auto made = at({.url = access->address, .origin = "the running service", .key = access->key});
  if (!made || !made->text("GET", "/api/whoami")) return std::nullopt;
  return std::move(*made);
}

Result<DaemonClient> DaemonClient::at(Endpoint endpoint) {
  client::ClientOptions options;
  options.url = endpoint.url;
  options.api_key = endpoint.key;
  options.connect_timeout = std::chrono::seconds(2);
  options.retries = 0;
  try {
    auto library = std::make_unique<client::SandboxClient>(std::move(options));
    return DaemonClient(std::move(endpoint), std::move(library));
  } catch (const client::AtollError& error) {
    return fail(error_of(endpoint, error));
  }
}

DaemonClient::DaemonClient(Endpoint endpoint, std::unique_ptr<client::SandboxClient> library)
    : endpoint_(std::move(endpoint)), library_(std::move(library)) {}
DaemonClient::DaemonClient(DaemonClient&&) noexcept = default;
DaemonClient::~DaemonClient() = default;

Result<std::string> DaemonClient::text(std::string method, std::string target, std::string body) {
  client::Request request;
  request.method = std::move(method);
  request.path = std::move(target);
  request.body = std::move(body);
  request.idempotent = false;
  try {
    return library_->send(std::move(request)).body;
  } catch (const client::AtollError& error) {
    return fail(error_of(endpoint_, error));
  }
}

Result<boost::json::value> DaemonClient::call(std::string method, std::string target,
                                              const boost::json::value& body) {
  std::string sent;
  if (!body.is_null()) sent = boost::json::serialize(body);
  const std::string answer = TRY(text(std::move(method), std::move(target), std::move(sent)));
  if (answer.empty()) return boost::json::value(nullptr);
  return json::parse(answer);
}

}  // namespace atl::cli
