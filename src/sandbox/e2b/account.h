#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/client.h"
#include "os/task.h"

namespace atl::sandbox::e2b {

// What a sandbox of the other service is asked to be.
struct NewSandbox {
  std::string template_id;  // or the id of a snapshot
  std::chrono::seconds timeout{300};
  std::map<std::string, std::string> metadata, env;
  bool internet = false;
};

// How a sandbox of the other service is reached.
struct Access {
  std::string id;
  std::string domain;         // of its hosts; empty: the account's
  std::string token;          // for its data plane; empty: it asks for none
  std::string traffic_token;  // for its ports; empty: they are open
};

enum class RemoteState : std::uint8_t { running, paused };

struct RemoteFacts {
  Access access;  // in lists only the id
  RemoteState state = RemoteState::running;
  double cpu_count = 0;
  std::uint64_t memory_bytes = 0, disk_bytes = 0;  // zero: not told
  std::map<std::string, std::string> metadata;
};

// One key at the control plane of a service that speaks E2B's protocol. Belongs to the loop thread; calls may
// overlap. The key is in no message and in no error.
//
// Errors: Code::unavailable for what may pass (no connection, 429, 5xx; reading calls were tried again
// before), Code::not_found, conflict and invalid_argument as the service says, Code::provider_failed for a
// refused key and for answers that make no sense.
class Account {
 public:
  Account(boost::asio::any_io_executor executor, net::Url control, std::string key);

  // Asked once: whether it came about is not known after Code::unavailable or deadline_exceeded.
  Task<Access> create(NewSandbox wanted);
  Task<RemoteFacts> get(std::string id);
  // All, running and paused, whose metadata hold these.
  Task<std::vector<RemoteFacts>> list(std::map<std::string, std::string> metadata);
  // One that is not there is success.
  Task<void> kill(std::string id);
  // It ends this long from now.
  Task<void> set_timeout(std::string id, std::chrono::seconds timeout);
  // Resumes it if it is paused; otherwise its end moves, if that makes it later.
  Task<Access> connect(std::string id, std::chrono::seconds timeout);
  // One that is paused already is success.
  Task<void> pause(std::string id);
  // The id from which others can be made.
  Task<std::string> snapshot(std::string id);
  // One that is not there is success.
  Task<void> remove_snapshot(std::string snapshot_id);

  const std::string& key() const { return key_; }

 private:
  struct Asked {
    std::string method, target, body;
  };
  // A collected answer with a status below 300, or the error that it means.
  Task<net::ClientResponse> ask(Asked asked);

  boost::asio::any_io_executor executor_;
  net::Client client_;
  std::string key_;
};

}  // namespace atl::sandbox::e2b
