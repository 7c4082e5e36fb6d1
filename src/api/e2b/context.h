#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "api/admission/admission.h"
#include "api/admission/place.h"
#include "api/e2b/message.h"
#include "auth/keys.h"
#include "net/http.h"
#include "quota/inventory.h"
#include "session/service.h"
#include "store/store.h"
#include "vault/vault.h"
#include "volume/volumes.h"

namespace atl::api::e2b {

constexpr std::string_view kEnvdVersion = "0.6.13";
constexpr std::string_view kClientId = "atoll";
inline constexpr std::uint64_t kMegabyte = 1U << 20;
// The template that clients' option `mcp` names, and the port at which they look for its gateway.
inline constexpr const char* kGatewayEnvironment = "mcp-gateway";
inline constexpr std::uint16_t kGatewayPort = 50005;

// Words of this dialect in a session's attributes.
namespace attribute {
inline constexpr const char* kTemplate = "e2b.template";  // template id
inline constexpr const char* kAlias = "e2b.alias";        // its name
inline constexpr const char* kNetwork = "e2b.network";    // the client's own JSON, shown by get
inline constexpr const char* kInternet = "e2b.internet";  // "true" or "false" if the client said
inline constexpr const char* kMaskHost = "e2b.mask_host";
inline constexpr const char* kHttpsPorts = "e2b.https_ports";  // " 3000 8443 ": servers there speak TLS
inline constexpr const char* kSettings =
    "e2b.settings";                               // of its template, as JSON, if it has any of its own
inline constexpr const char* kUser = "e2b.user";  // default user, if the template sets one
inline constexpr const char* kDirectory = "e2b.directory";      // default working directory, likewise
inline constexpr const char* kBuild = session::kPartAttribute;  // a sandbox or snapshot of a template's build
inline constexpr const char* kColdAfterPause =
    "e2b.cold";  // present: when its time is over, only files are kept
}  // namespace attribute

// What one tenant may have stored of this dialect's own, and for how long. Zero: no bound.
struct StoredBounds {
  std::uint64_t template_count = 200;
  std::chrono::milliseconds templates{0};  // after the last build
  std::uint64_t builds = 20;               // of one template, beside those with a tag
  std::uint64_t build_log_bytes = 1U << 20;
  std::chrono::milliseconds build_logs = std::chrono::hours(24 * 7);
  std::uint64_t upload_bytes = 10ULL << 30;
  std::chrono::milliseconds uploads = std::chrono::hours(24 * 7);
  std::chrono::milliseconds upload_links = std::chrono::hours(1);
};
// The log of a build that has ended, by its id: a document of the store.
inline constexpr const char* kBuildLogKind = "e2b_build_log";

// What every part of the dialect works with. Lives as long as the server.
struct Context {
  boost::asio::any_io_executor executor;
  session::Service& service;
  Admission& admission;
  auth::Keys& keys;
  store::Store& store;
  volume::Volumes& volumes;
  vault::Vault& vault;
  Clock& clock = Clock::machine();
  // Domain of sandbox hosts ("e2b.localhost:8443"); asked at run time because ports are known late. Empty:
  // none.
  std::function<std::string()> domain;
  std::string data = {};  // directory of the host for uploads of template builds
  StoredBounds bounds = {};
  quota::Inventory* inventory = nullptr;  // null: volumes, templates and what is stored have no quotas
  // Answers MCP for a sandbox of the environment kGatewayEnvironment at kGatewayPort. Unset: nobody does.
  std::function<Task<void>(net::Exchange&, const session::Session&)> gateway = {};

  // Room for bytes that somebody wants to store; auth::over_quota.
  Task<quota::Reservation> reserve_stored(const auth::Principal& who, std::uint64_t bytes) const {
    if (inventory == nullptr) co_return quota::Reservation(bytes);
    const quota::Holder holder{who.tenant, who.key_id};
    co_return co_await inventory->reserve(holder, bytes);
  }
  // What seals passwords of this tenant.
  std::function<Result<std::string>(const std::string&)> seal_for(const auth::Principal& who) const {
    return [this, tenant = who.tenant](const std::string& plain) { return vault.seal(tenant, plain); };
  }
};

// A live sandbox that a request of the data plane is for, with the rights of whoever was let in.
struct Target {
  std::shared_ptr<const Grant> grant;
  auth::Principal owner;
  std::uint16_t port = 0;

  const session::Session& session() const { return *grant->session; }
  const std::string& id() const { return session().sandbox_id; }
  std::string attribute(const char* name) const {
    auto found = session().attributes.find(name);
    return found == session().attributes.end() ? std::string() : found->second;
  }
};

// What the route's rule found. Only on routes of the sandbox's planes and ports.
Target target_of(const net::Request& request);
// The answers of the sandbox proxy itself (400, 403, 409, 502); nothing for other refusals, which the plane
// answers.
std::optional<net::Response> refuse_in_place(const Refusal& refusal, const net::Request& request);
// The session's facts as they are now, or the answer that the proxy gives if it cannot be reached any more.
std::variant<session::Session, net::Response> look_again(const Context& context, const net::Request& request,
                                                         const std::string& sandbox_id);
// What the way to a sandbox answers in its own name: `body` has sandboxId, message and code. A page for
// whoever navigates there with a browser, JSON for everybody else.
net::Response place_error(const net::Request& request, const Object& body);
// 409 {"sandboxId","message":"The sandbox is changing its state","code":409}
net::Response sandbox_changing(const net::Request& request, std::string_view sandbox_id);
// 502 {"sandboxId","message":"The sandbox was not found","code":502}
net::Response sandbox_gone(const net::Request& request, std::string_view sandbox_id);
// True while calls into the sandbox of that id can succeed. False also for one that is gone altogether.
bool is_answering(const Context& context, const std::string& sandbox_id);
// The session of the path's {id}, also one that has ended and is remembered; Code::not_found otherwise.
Task<session::Session> known_session(const Context& context, const net::Request& request,
                                     auth::Principal who);
// The live session of the path's {id}; Code::not_found otherwise.
Task<session::Session> live_session(const Context& context, const net::Request& request, auth::Principal who);

// The user of a Basic header, else the template's, or empty. Code::unauthenticated "invalid username: '...'"
// if the sandbox has none of that name.
Task<std::string> user_of(const Context& context, const Target& target, const net::Request& request);
// False also for a name that no user can have.
Task<bool> user_exists(const Context& context, auth::Principal owner, std::string sandbox_id,
                       std::string user);

// Empty and "~" are the user's home, relative paths start there; "." and ".." are resolved.
Result<std::string> resolve_path(std::string_view path, std::string_view user);
// The same in a sandbox, where an empty path is the template's working directory if it has one.
Result<std::string> resolve_path(std::string_view path, std::string_view user, const Target& target);

}  // namespace atl::api::e2b
