#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "sandbox/e2b/remote_sandbox.h"
#include "sandbox/provider.h"

namespace atl::sandbox::e2b {

struct E2bOptions {
  std::string api_url;      // of the control plane; empty: E2B's own
  std::string sandbox_url;  // where all sandboxes are reached; empty: each at its own host
  std::string domain = "e2b.app";
  // The key for a tenant's sandboxes, asked at every create. Empty text: there is none.
  std::function<Task<std::string>(std::string tenant)> key;
  std::map<std::string, std::string> templates;  // by environment
  std::uint32_t count_max = 20;                  // that may run at once; zero: any number
  std::string installation;                      // tells our sandboxes from others of the same account
  // Names the tenants whose own keys were used, for the rounds of the next start. Empty: none is kept.
  std::string tenants_file;
  Lease lease;
  std::chrono::milliseconds round_every{30'000};
};

// The template that an environment is made from.
std::string template_of(const std::map<std::string, std::string>& templates, const std::string& environment);

// Code::invalid_argument, naming the setting, for addresses that are none.
Result<void> check(const E2bOptions& options);

// Asks the service something small with the operator's key, on a loop of its own: whether it is reached and
// takes the key. Waits for the answer, 15 seconds at most; for commands, not for the daemon.
Result<void> try_out(const E2bOptions& options);

// A provider whose sandboxes another service runs: E2B's cloud, a self-hosted E2B, or another Atoll. It asks
// nobody before the first call.
//
// Every sandbox carries metadata (installation, our id, session), by which it is found again after a restart.
// Rounds compare what the other side has with what we know. A sandbox that we do not know is ended and
// counted; one that the other side lost is reported as ended to its holder; one that runs is prolonged, so
// that it outlives this program by at most the lease. A create whose answer got lost is undone by the same
// metadata.
Result<std::unique_ptr<Provider>> make(boost::asio::any_io_executor executor, E2bOptions options);

}  // namespace atl::sandbox::e2b
