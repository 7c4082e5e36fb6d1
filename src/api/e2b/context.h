#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <string>
#include <variant>

#include "api/e2b/message.h"
#include "api/e2b/place.h"
#include "auth/keys.h"
#include "net/http.h"
#include "session/service.h"
#include "store/store.h"
#include "vault/vault.h"
#include "volume/volumes.h"

namespace atl::api::e2b {

constexpr std::string_view kEnvdVersion = "0.6.13";
constexpr std::string_view kClientId = "atoll";

// Words of this dialect in a session's attributes.
namespace attribute {
inline constexpr const char* kTemplate = "e2b.template";           // template id
inline constexpr const char* kAlias = "e2b.alias";                 // its name
inline constexpr const char* kToken = "e2b.token";                 // envd access token; absent: not secured
inline constexpr const char* kTrafficToken = "e2b.traffic_token";  // present: ports are not public
inline constexpr const char* kNetwork = "e2b.network";             // the client's own JSON, shown by get
inline constexpr const char* kInternet = "e2b.internet";           // "true" or "false" if the client said
inline constexpr const char* kMaskHost = "e2b.mask_host";
inline constexpr const char* kHttpsPorts = "e2b.https_ports";  // " 3000 8443 ": servers there speak TLS
inline constexpr const char* kSettings = "e2b.settings";  // of its template, as JSON, if it has any of its own
inline constexpr const char* kUser = "e2b.user";          // default user, if the template sets one
inline constexpr const char* kDirectory = "e2b.directory";  // default working directory, likewise
inline constexpr const char* kBuild = "e2b.build";        // a sandbox or snapshot of a template's build
inline constexpr const char* kColdAfterPause = "e2b.cold";  // present: when its time is over, only files are kept
}  // namespace attribute

// What every part of the dialect works with. Lives as long as the server.
struct Context {
  boost::asio::any_io_executor executor;
  session::Service& service;
  auth::Keys& keys;
  store::Store& store;
  volume::Volumes& volumes;
  vault::Vault& vault;
  Clock& clock = Clock::machine();
  // Domain of sandbox hosts ("e2b.localhost:8443"); asked at run time because ports are known late. Empty:
  // none.
  std::function<std::string()> domain;
  std::string data = {};  // directory of the host for uploads of template builds

  // What seals passwords of this tenant.
  std::function<Result<std::string>(const std::string&)> seal_for(const auth::Principal& who) const {
    return [this, tenant = who.tenant](const std::string& plain) { return vault.seal(tenant, plain); };
  }
  // By X-API-KEY or a bearer token.
  Result<auth::Principal> authenticate(const net::Request& request) const;
  static std::string_view key_of(const net::Request& request);
};

// A live sandbox that a request of the data plane is for, with its owner's rights.
struct Target {
  session::Session session;
  auth::Principal owner;
  std::uint16_t port = 0;

  const std::string& id() const { return session.sandbox_id; }
  std::string attribute(const char* name) const {
    auto found = session.attributes.find(name);
    return found == session.attributes.end() ? std::string() : found->second;
  }
};

// The sandbox, or the answer that says why not (400, 409, 502).
std::variant<Target, net::Response> find_target(const Context& context, const net::Request& request);
// What the way to a sandbox answers in its own name: `body` has sandboxId, message and code. A page for
// whoever navigates there with a browser, JSON for everybody else.
net::Response place_error(const net::Request& request, const Object& body);
// 409 {"sandboxId","message":"The sandbox is changing its state","code":409}
net::Response sandbox_changing(const net::Request& request, std::string_view sandbox_id);
// 502 {"sandboxId","message":"The sandbox was not found","code":502}
net::Response sandbox_gone(const net::Request& request, std::string_view sandbox_id);
// True while calls into the sandbox can succeed: running, or paused and waking on traffic.
bool is_reachable(const session::Session& session);

// The live session of the path's {id}; Code::not_found otherwise.
Task<session::Session> live_session(const Context& context, const net::Request& request, auth::Principal who);

// X-Access-Token against the sandbox's token; 401 in E2B's words.
Result<void> check_token(const Target& target, const net::Request& request);

// The user of a Basic header, else the template's, or empty. Code::unauthenticated "invalid username: '...'" if the sandbox has
// none of that name.
Task<std::string> user_of(const Context& context, const Target& target, const net::Request& request);
Task<bool> user_exists(const Context& context, const Target& target, std::string user);

// Empty and "~" are the user's home, relative paths start there; "." and ".." are resolved.
Result<std::string> resolve_path(std::string_view path, std::string_view user);
// The same in a sandbox, where an empty path is the template's working directory if it has one.
Result<std::string> resolve_path(std::string_view path, std::string_view user, const Target& target);

}  // namespace atl::api::e2b
