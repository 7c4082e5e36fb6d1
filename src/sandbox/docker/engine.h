#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/fwd.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/client.h"
#include "os/task.h"
#include "sandbox/docker/engine_address.h"
#include "sandbox/isolation.h"

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
  // Whether containers of it have limits in force: without root only version 2 lets it set them.
  bool sets_limits() const { return !is_rootless || cgroups == "2"; }
};

// The same in the words of a provider: which engine it is, and what its containers will lack.
Isolation isolation_of(const EngineFacts& facts);

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
  // What takes long and tells how far it is, in JSON lines: pulls and, with an archive, builds. Ends with the
  // engine's error if one of the lines has one; `on_step` hears the engine's words, without ends of lines. It
  // may be silent for as long as a step of a build takes.
  Task<void> post_progress(std::string target, std::string tar,
                           std::function<void(std::string_view)> on_step);
  // The standard streams of a container, raw.
  Task<std::unique_ptr<net::ByteStream>> attach(std::string container);

 private:
  Task<boost::json::value> call(net::ClientRequest request);
  Task<void> agree();
  Error explained(Error error) const;

  boost::asio::any_io_executor executor_;
  EngineAddress address_;
  net::Client client_;
  net::Client patient_client_;  // for what takes long
  std::string api_;             // empty: not agreed yet
};

}  // namespace atl::sandbox::docker
