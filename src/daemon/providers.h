#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/provider.h"

namespace atl::config {
class Configuration;
}

// The providers that depend on something outside of this program: an engine, another program, another
// service.
namespace atl::daemon {

// What such a provider is started with. The configuration must outlive the provider.
struct ProviderContext {
  boost::asio::any_io_executor executor;
  const config::Configuration& configuration;
  std::string data;                 // the data directory
  std::vector<std::string> layers;  // directories of the host that hold layers of environments
  std::string installation;         // installation_id() of it: what we make elsewhere is labelled with this
  // Reads a tenant's secret. Unset while there is no vault, as for `atoll doctor`.
  std::function<Task<std::string>(std::string tenant, std::string name)> secret;
};

struct OptionalProvider {
  std::string_view name;
  // What it can do, for lists that name it where it does not work.
  sandbox::Traits traits;
  // Runs in the only thread of the process, while it still has root's power, before anything else is opened:
  // helpers may be forked off. A failure is the reason, written for the operator, why it does not work here,
  // with the way to get it; it leaves nothing running.
  Result<std::unique_ptr<sandbox::Provider>> (*start)(const ProviderContext& context);
  // Whether it would work on this machine with these settings, found out by trying: what it says of itself
  // and what its sandboxes will lack, with the remedy. Leaves nothing running.
  Result<sandbox::Isolation> (*probe)(const ProviderContext& context);
};

std::span<const OptionalProvider> optional_providers();

// The id of this installation: made once, kept in the file `installation` of the data directory. It tells our
// containers and remote sandboxes from those of another daemon that uses the same engine or account.
Result<std::string> installation_id(const std::string& data);

}  // namespace atl::daemon
