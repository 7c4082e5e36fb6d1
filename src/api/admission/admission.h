#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "api/admission/audit_trail.h"
#include "api/admission/rule.h"
#include "auth/attempts.h"
#include "auth/keys.h"
#include "auth/provider.h"
#include "auth/tenants.h"
#include "base/clock.h"
#include "net/router.h"
#include "quota/controller.h"
#include "session/service.h"
#include "volume/volumes.h"

namespace atl::api {

// Who was admitted, and to what.
struct Grant {
  auth::Principal who;                      // whose rights the call has; of a session's secret: its owner
  std::optional<session::Session> session;  // of the sandbox's planes and ports
  std::uint16_t port = 0;
  std::optional<volume::Volume> volume;       // of Credential::volume
  std::string caller;                         // in whose name the call is counted; empty: it is not
  bool anonymous = false;                     // nothing was shown: the tenant does not pay for the call
  bool by_key = false;                        // a credential of a tenant's, not of one session or volume
  Permission permission = Permission::unset;  // what the route is for
};

// Why a request was refused. Rendered as `error` unless a plane has an answer of its own for it.
struct Refusal {
  enum class Kind : std::uint8_t {
    misplaced,        // the request tries to name a sandbox and fails
    gone,             // there is no such sandbox, or none that runs
    changing,         // it is being made or paused
    unauthenticated,  // no credential, or one that opens something else
    closed_port,      // the traffic token is missing or wrong
    forbidden,        // a good credential that may not do this
    limited,          // too many requests
    failed,           // it could not be found out
  };
  Kind kind;
  Error error;
  std::string sandbox_id;
  auth::Principal who = {};  // of forbidden and limited: whom we know
};

// A plane's own way to refuse; nothing: as the route's router renders the error.
using RefusalRenderer = std::function<std::optional<net::Response>(const Refusal&, const net::Request&)>;

// Decides about every request of every dialect: each route calls admit() before its body is read. Belongs to
// the loop thread. Must outlive the routers that hold its rules; what Dependencies names must outlive it.
class Admission {
 public:
  struct Dependencies {
    const auth::Keys* keys = nullptr;
    const auth::IdentityProviders* providers = nullptr;  // asked in this order; null: only `keys`
    const auth::Tenants* tenants = nullptr;              // null: every tenant is open
    auth::Attempts* attempts = nullptr;                  // null: guessing is not slowed down
    const std::vector<egress::Cidr>* proxies = nullptr;  // whose X-Forwarded-For is believed; null: nobody's
    quota::ResourceController* controller = nullptr;     // null: calls are not counted
    const session::Service* service = nullptr;
    volume::Volumes* volumes = nullptr;
    Clock* clock = &Clock::machine();
  };
  explicit Admission(Dependencies dependencies) : parts_(dependencies) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Who keeps a record of calls; must outlive this. Null: nobody.
  void set_trail(const AuditTrail* trail) { trail_ = trail; }
  const AuditTrail* trail() const { return trail_; }

  // Finds out who asks, whether that one may do this, and how often. A Refusal leaves nothing behind but its
  // count. Refusals of wrong credentials may be held back for a while (auth/attempts.h).
  boost::asio::awaitable<std::variant<Grant, Refusal>> admit(Rule needed, const net::Request& request) const;

  // The rule as a router takes it. std::invalid_argument if its permission is unset: such a service does not
  // start.
  net::AccessRule rule(Rule needed, RefusalRenderer refuse = {}) const;

  // Whose upload a token of Credential::upload is for; nothing: nobody's. Asked by the rule, answered by the
  // dialect.
  using UploadOwner = std::function<std::optional<auth::Principal>(const std::string& token)>;
  void set_upload_owner(UploadOwner owner) { upload_owner_ = std::move(owner); }

 private:
  using Outcome = std::variant<Grant, Refusal>;
  // In the audit log, if somebody was refused.
  void record(Rule needed, const net::Request& request, const Refusal& refusal) const;
  boost::asio::awaitable<Outcome> decide(Rule needed, const net::Request& request) const;
  boost::asio::awaitable<Outcome> by_key(const net::Request& request) const;
  boost::asio::awaitable<Outcome> by_session(Rule needed, const net::Request& request) const;
  // Who shows a credential of a tenant's; nothing if none is shown. Errors as of auth::IdentityProvider.
  Task<std::optional<auth::Principal>> identify(const net::Request& request) const;
  auth::Presented presented(const net::Request& request) const;
  // Holds a refusal back if somebody seems to be guessing.
  boost::asio::awaitable<Outcome> slow_down(const net::Request& request, Refusal refusal) const;
  // Nothing: go on. Looking into another tenant is decided here.
  std::optional<Refusal> check_tenant(const net::Request& request, auth::Principal& who) const;
  std::string address_of(const net::Request& request) const;
  // The sandbox that the request is for, if it can be reached.
  std::optional<Refusal> find_session(const net::Request& request, Grant& grant) const;
  std::optional<Refusal> check_traffic(Credential credential, const net::Request& request,
                                       const Grant& grant) const;
  std::optional<Refusal> check_secret(Credential credential, const net::Request& request,
                                      const Grant& grant) const;
  boost::asio::awaitable<Outcome> by_volume(const net::Request& request) const;
  boost::asio::awaitable<Outcome> by_upload(const net::Request& request) const;

  Dependencies parts_;
  const AuditTrail* trail_ = nullptr;
  UploadOwner upload_owner_;
};

// What the route's rule found out. Only for requests that a rule of the admission let in.
const Grant& grant_of(const net::Request& request);
// The rule of a route; null if something else decides there.
const Rule* rule_of(const net::Route& route);
// The key that a request shows: X-API-Key, else a bearer token; empty if it shows none.
std::string_view shown_key(const net::Request& request);

// True while calls into the sandbox can succeed: running, or paused and waking on traffic.
bool is_reachable(const session::Session& session);

}  // namespace atl::api
