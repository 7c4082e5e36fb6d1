#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/connection.h"

namespace atl::client {
class AtollError;
class SandboxClient;
}  // namespace atl::client

namespace atl::cli {

// One event of a stream that the service sends.
struct ServerEvent {
  std::string id;
  std::string name;
  std::string data;
};

// What goes with a call.
struct RemoteCall {
  std::string method = "GET";
  std::string target;  // "/api/sessions?limit=3"
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // Of a download: a header without which the answer is not the one that was meant; then it is
  // Code::is_a_directory.
  std::string must_have = {};
  // SIGINT and SIGTERM end the call with Code::canceled instead of the process, so that whoever calls can
  // clear up.
  bool ends_in_order = false;
  // It waits for code or a command of a guest, which may take as long as the service allows.
  bool runs_code = false;
};

// An exception of the client library as the error that commands report. One that nobody answers names the
// address, who says that the service is there, and `atoll serve`.
Error error_of(const Endpoint& endpoint, const client::AtollError& error);

// The JSON of an answer; null if it is empty. What is no JSON, or more of it than any service sends, is
// Code::unavailable.
Result<boost::json::value> parse_answer(const std::string& answer);

// The service at an endpoint, as commands use it, through the C++ client library: calls wait until they are
// answered. Several threads may call at once. An error of the service comes back with its code, message and
// field. One that nobody answers is Code::unavailable and names the address, who says that the service is
// there, and `atoll serve`.
class Remote {
 public:
  static Result<Remote> open(const ConnectionFlags& flags);
  Remote(Remote&&) noexcept;
  ~Remote();
  const Endpoint& endpoint() const { return endpoint_; }
  // For what has a form of its own there: terminals.
  client::SandboxClient& library() const { return *library_; }

  // The answer as it is. Nothing is sent twice.
  Result<std::string> text(RemoteCall call) const;
  // The answer's JSON; null if it has no body.
  Result<boost::json::value> json(std::string method, std::string target,
                                  const boost::json::value& body = nullptr) const;

  // Hands out events as they come, until the stream ends or `each` says so. Gives the answer's JSON if the
  // service answered with that instead of a stream.
  enum class Next : std::uint8_t { go_on, end };
  using OnEvent = std::function<Result<Next>(const ServerEvent&)>;
  Result<std::optional<boost::json::value>> events(RemoteCall call, const OnEvent& each) const;

  // `moved` hears how many bytes there are so far, and how many it will be (0: nobody knows).
  using Moved = std::function<void(std::uint64_t so_far, std::uint64_t all)>;
  // The answer's body into a descriptor; gives its length.
  Result<std::uint64_t> download(RemoteCall call, int to, const Moved& moved) const;
  // The request's body from a descriptor: `bytes` of them, or all until its end if that is not known. Whether
  // that end is the right one says `complete`: if not, the service never hears of it and keeps nothing.
  using Complete = std::function<Result<void>()>;
  Result<boost::json::value> upload(RemoteCall call, int from, std::optional<std::uint64_t> bytes,
                                    const Moved& moved, const Complete& complete = {}) const;

 private:
  Remote(Endpoint endpoint, std::unique_ptr<client::SandboxClient> library);

  Endpoint endpoint_;
  std::unique_ptr<client::SandboxClient> library_;
};

}  // namespace atl::cli
