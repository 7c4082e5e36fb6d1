#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "atoll/client.h"

/// @file
/// Sessions from start to stop, under the names of the session service's design, over a daemon.
namespace atl::client {

/// What start() tells: session_id, sandbox_id, provider, url.
struct Started {
  std::string session_id;
  std::string sandbox_id;
  std::string provider;
  std::string url;
};

/// Starts sandboxes and runs code in them. Usable by several threads at once.
class SandboxManager {
 public:
  explicit SandboxManager(SandboxClient client) : client_(std::move(client)) {}

  /// A running sandbox for a session; the service gives the id where `session_id` is empty.
  ///
  /// The provider "e2b" means an E2B-compatible service, and the daemon is one: where it has no provider of
  /// that name, its default is taken, and the answer says which that is. Any other name that the daemon does
  /// not have is a ServiceError; a session_id that has a sandbox is ConfigurationError.
  Started start_sandbox(const std::string& session_id, std::optional<std::string> environment = {},
                        std::optional<std::string> provider = {}, Variables metadata = {});
  /// `session_id` is one that start_sandbox() was given, or the service's.
  Execution execute_code(const std::string& session_id, std::string code, ExecuteOptions options = {});
  /// Ends it; harmless for one that has ended. A sandbox of another session is refused.
  void stop_sandbox(const std::string& session_id, const std::string& sandbox_id = {});
  /// The session, kept: it does not end with the object.
  Session session(const std::string& session_id);

 private:
  std::string id_of(const std::string& session_id) const;

  SandboxClient client_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> ids_;  // the caller's names to the service's
};

/// `storage_path` gets a JSON file for each session and the artifacts of those that were stopped;
/// `runtime_path` is made and left to the caller, because running state is the daemon's.
class Lifecycle {
 public:
  /// The daemon is the one that ATOLL_URL names. The key is ATOLL_API_KEY's, else `e2b_api_key`: keys of
  /// Atoll and of E2B's clients are the same. ConfigurationError if the directories cannot be made.
  explicit Lifecycle(std::string storage_path = "./storage", std::string runtime_path = "./sandbox_runtime",
                     std::string e2b_api_key = {});
  Lifecycle(std::string storage_path, std::string runtime_path, SandboxClient client);

  Started start(const Json& agent_config = Json::object(), std::optional<std::string> environment = {},
                std::optional<std::string> provider = {});
  /// Keeps its artifacts below storage_path and ends it.
  void stop(const std::string& session_id, const std::string& sandbox_id = {});

  SandboxManager& sandbox_mgr() { return manager_; }
  SandboxClient& client() { return client_; }

 private:
  void note(const std::string& session_id, const Json& facts) const;

  std::string storage_path_;
  SandboxClient client_;
  SandboxManager manager_;
};

}  // namespace atl::client
