#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "egress/proxy.h"
#include "session/session_table.h"
#include "store/store.h"

namespace atl::session {

// What the programs of each session may reach, and what they tried: checks rules, opens the filtering proxy
// of a sandbox, replaces its rules, and answers what was decided. The proxy and the log of a session are kept
// in its Live; this class alone changes them.
//
// Belongs to the loop thread.
class SessionNetworks {
 public:
  struct Dependencies {
    boost::asio::any_io_executor executor;
    SessionTable* table = nullptr;
    store::Store* store = nullptr;
    Clock* clock = nullptr;
    egress::Outside outside;              // without a resolver: no session gets a network
    egress::DialBudget* dials = nullptr;  // null: connections to the world are not counted
    // A tenant's secrets, for header rules that name them. Unset: there are none.
    std::function<std::shared_ptr<egress::Secrets>(const std::string& tenant)> secrets;
    quota::ResourceController* controller = nullptr;  // null: what leaves is not counted
    Observer* observer = nullptr;                     // may be null
  };
  explicit SessionNetworks(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

  // Whether a session could have these settings, as far as that can be told without a sandbox. A rule that
  // cannot be read or an upstream proxy that cannot be found is Code::invalid_argument with the field
  // "network"; a rule that names an internal address which the operator did not open has the field
  // "network.allow"; Code::unsupported with the field "network" if this service has no network.
  Task<void> check(sandbox::Network mode, egress::RuleTexts texts) const;

  // Opens the network of the present sandbox with the rules of the session's facts. After a failure the
  // sandbox has no network.
  Task<void> open(LivePtr live);
  // The same for a sandbox that was taken back from an earlier service, once its guest can be asked; nothing
  // for others. If it cannot be opened, the sandbox runs on without a network, and its isolation says so.
  Task<void> reopen(LivePtr live);

  // For the calls of Service with these names.
  Task<NetworkFacts> network(Principal who, std::string id) const;
  Task<NetworkFacts> update(Principal who, std::string id, NetworkRequest request);

 private:
  using RulesPtr = std::shared_ptr<const egress::Rules>;
  Result<RulesPtr> compile(const egress::RuleTexts& texts) const;
  Result<void> check_rules(sandbox::Network mode, const egress::RuleTexts& texts) const;
  std::shared_ptr<egress::Proxy> make_proxy(const LivePtr& live) const;
  Task<void> open_with(LivePtr live, RulesPtr rules);

  Dependencies dependencies_;
};

}  // namespace atl::session
