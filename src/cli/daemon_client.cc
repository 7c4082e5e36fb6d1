#include "cli/daemon_client.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/json.h"
#include "net/client.h"

namespace atl::cli {
namespace {

Code code_of(std::string_view name) {
  for (int at = 0; at <= static_cast<int>(Code::internal); ++at)
    if (row(static_cast<Code>(at)).name == name) return static_cast<Code>(at);
  return Code::internal;
}

Error error_of(const net::ClientResponse& response) {
  const auto parsed = json::parse(response.body);
  const auto* error = parsed && parsed->is_object() ? parsed->as_object().if_contains("error") : nullptr;
  if (error == nullptr || !error->is_object())
    return Error(Code::unavailable, fmt::format("the service answered with status {}", response.status));
  const auto text = [](const boost::json::value* value) {
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
  };
  const boost::json::object& facts = error->as_object();
  Error made(code_of(text(facts.if_contains("code"))), text(facts.if_contains("message")));
  const auto* details = facts.if_contains("details");
  if (details == nullptr || !details->is_object()) return made;
  return std::move(made).with_field(text(details->as_object().if_contains("field")));
}

}  // namespace

std::optional<DaemonClient> DaemonClient::find(const std::string& directory) {
  auto access = daemon::read_local_access(directory);
  if (!access) return std::nullopt;
  DaemonClient client(std::move(*access));
  if (!client.text("GET", "/api/whoami")) return std::nullopt;
  return client;
}

Result<std::string> DaemonClient::text(std::string method, std::string target, std::string body) {
  boost::asio::io_context loop;
  net::ClientOptions options;
  options.tries = 1;
  options.connect_time = std::chrono::seconds(2);
  const net::Url url = TRY(net::Url::parse(access_.address));
  net::Client client(loop.get_executor(), url, options);
  net::ClientRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers = {{"X-API-Key", access_.key}, {"Content-Type", "application/json"}};
  request.body = std::move(body);
  std::optional<Result<net::ClientResponse>> answer;
  boost::asio::co_spawn(
      loop, client.send(std::move(request)),
      [&](std::exception_ptr, Result<net::ClientResponse> value) { answer.emplace(std::move(value)); });
  loop.run();
  if (!answer) return fail(Code::unavailable, "the service did not answer");
  if (!*answer) return fail(std::move(*answer).error());
  if ((*answer)->status >= 300) return fail(error_of(**answer));
  return std::move((*answer)->body);
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
