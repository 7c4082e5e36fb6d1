#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/fwd.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "net/client.h"
#include "os/task.h"
#include "sandbox/docker/engine_address.h"

namespace atl::sandbox::docker {

// What an engine says about itself.
struct EngineFacts {
  std::string kind;     // "docker" or "podman"
  std::string version;  // "20.10.24"
  std::string api;      // the version that is spoken, "1.41"
  std::string storage;  // its storage driver
  std::string cgroups;  // "1" or "2"
  std::vector<std::string> warnings;
  bool is_rootless = false;
};

// An Engine API (Docker's, or the same of Podman) over HTTP. Belongs to the loop thread of the broker; calls
// may overlap. Errors: Code::unavailable when nobody listens, Code::deadline_exceeded when the engine accepts
// a call and does not answer, Code::not_found and Code::conflict as the engine says, Code::provider_failed
// for everything else that it refuses, with its own words.
class Engine {
 public:
  Engine(boost::asio::any_io_executor executor, EngineAddress address,
         std::chrono::milliseconds patience = std::chrono::seconds(60));
  const EngineAddress& address() const { return address_; }

  // Agrees on a version of the API, and says who that is. Code::unsupported for one older than 1.41.
  Task<EngineFacts> describe();
  // An answer's JSON; null if it has no body. `target` begins after the version: "/containers/json".
  Task<boost::json::value> get(std::string target);
  Task<boost::json::value> post(std::string target, boost::json::value body);
  Task<boost::json::value> post(std::string target);
  Task<void> remove(std::string target);
  // A body of another kind; gives the answer's body as it is.
  Task<void> put_archive(std::string target, std::string tar);
  // A stream of JSON lines, for pulls: ends with the engine's error if one of them has one.
  Task<void> post_progress(std::string target);
  // The standard streams of a container, raw.
  Task<std::unique_ptr<net::ByteStream>> attach(std::string container);

 private:
  Task<boost::json::value> call(net::ClientRequest request);
  Task<void> agree();
  Error explained(Error error) const;

  boost::asio::any_io_executor executor_;
  EngineAddress address_;
  net::Client client_;
  std::string api_;  // empty: not agreed yet
};

}  // namespace atl::sandbox::docker
