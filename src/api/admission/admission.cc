#include "api/admission/admission.h"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <stdexcept>

#include "api/admission/place.h"
#include "api/admission/signature.h"
#include "auth/denial.h"
#include "base/bytes.h"
#include "net/error_header.h"

namespace atl::api {
namespace {

using session::DataPlane;
using session::Ports;
using session::Session;
using Kind = Refusal::Kind;

constexpr std::string_view kAccessToken = "X-Access-Token";
constexpr std::string_view kTrafficToken = "E2b-Traffic-Access-Token";
// Names the tenant that somebody with the right to do so wants to look into.
constexpr std::string_view kOtherTenant = "X-Atoll-Tenant";

Refusal unauthenticated(std::string message) {
  return {Kind::unauthenticated, Error(Code::unauthenticated, std::move(message)), {}};
}

bool has_prefix(std::string_view text, std::string_view prefix) {
  return text.size() > prefix.size() && net::equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

std::string_view bearer_of(const net::Request& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = request.headers.get("Authorization");
  return has_prefix(header, kBearer) ? header.substr(kBearer.size()) : std::string_view();
}

// An empty secret never matches.
bool is_secret(std::string_view secret, std::string_view given) {
  return !secret.empty() && equal_in_constant_time(secret, given);
}

FileProof proof_of(const net::Request& request) {
  FileProof proof;
  proof.header_token = request.headers.get(kAccessToken);
  proof.path = request.query("path").value_or("");
  proof.user = request.query("username").value_or("");
  proof.signature = request.query("signature").value_or("");
  proof.expiration = request.query("signature_expiration").value_or("");
  return proof;
}

FileOperation operation_of(const net::Request& request) {
  return request.method == net::Method::post ? FileOperation::write : FileOperation::read;
}

// A call that begins while the sandbox is made or paused would fail or be lost. If the session resumes on
// traffic, the call waits instead.
bool is_changing(const Session& session) {
  return session.state == session::State::creating || (session.pausing && !session.auto_resume);
}

std::optional<Refusal> check_reach(Reach reach, const auth::Principal& who) {
  const auto forbidden = [&](const char* why) {
    return Refusal{Kind::forbidden, Error(Code::permission_denied, why), {}, who};
  };
  if (reach != Reach::session && who.scopes != nullptr && !who.scopes->empty())
    return forbidden(
        "this key is bound to some sessions or to one environment, and this is the whole tenant's");
  if (reach == Reach::contents && !who.looks_from.empty())
    return forbidden("what a tenant has put here is not shown to those who look in from another one");
  return std::nullopt;
}

// Whoever looks into another tenant does so at their own tenant's cost.
quota::Holder holder_of(const Grant& grant) {
  if (grant.anonymous) return {{}, grant.caller};
  return {grant.who.looks_from.empty() ? grant.who.tenant : grant.who.looks_from, grant.caller};
}

class RuleAccess final : public net::Guard {
 public:
  RuleAccess(const Admission& admission, Rule needed, RefusalRenderer refuse)
      : rule(needed), admission_(admission), refuse_(std::move(refuse)) {}

  Task<std::optional<net::Response>> admit(net::Request& request) const override {
    auto outcome = co_await admission_.admit(rule, request);
    const AuditTrail* trail = admission_.trail();
    if (auto* refusal = std::get_if<Refusal>(&outcome)) {
      if (refuse_)
        if (auto response = refuse_(*refusal, request)) {
          net::name_error(*response, refusal->error.code());
          co_return std::move(*response);
        }
      co_return fail(std::move(refusal->error));
    }
    if (trail != nullptr) {
      CO_TRY(request.pending, trail->begin(rule, request, std::get<Grant>(outcome).who));
    }
    request.grant = std::make_shared<const Grant>(std::get<Grant>(std::move(outcome)));
    co_return std::nullopt;
  }
  Task<void> answered(net::Request& request, Answer answer) const override {
    return admission_.trail()->answered(request.pending, request, answer);
  }

  const Rule rule;

 private:
  const Admission& admission_;
  RefusalRenderer refuse_;
};

}  // namespace

std::string_view shown_key(const net::Request& request) {
  const std::string_view key = request.headers.get("X-API-Key");
  return key.empty() ? bearer_of(request) : key;
}

bool is_reachable(const Session& session) {
  return session.state == session::State::running ||
         (session.state == session::State::paused && session.auto_resume);
}

const Grant& grant_of(const net::Request& request) {
  return *static_cast<const Grant*>(request.grant.get());
}

const Rule* rule_of(const net::Route& route) {
  const auto* access = dynamic_cast<const RuleAccess*>(route.access.get());
  return access == nullptr ? nullptr : &access->rule;
}

net::AccessRule Admission::rule(Rule needed, RefusalRenderer refuse) const {
  if (needed.permission == Permission::unset)
    throw std::invalid_argument("a route does not name the permission that it needs");
  return std::make_shared<RuleAccess>(*this, needed, std::move(refuse));
}

boost::asio::awaitable<std::variant<Grant, Refusal>> Admission::admit(Rule needed,
                                                                      const net::Request& request) const {
  trace::Span span(request.span.context(), "admission");
  Outcome outcome = co_await decide(needed, request);
  if (auto* grant = std::get_if<Grant>(&outcome)) {
    grant->permission = needed.permission;
    grant->who.request_id = request.id;
    grant->who.trace = request.span.context();
    span.set("atoll.tenant", grant->who.tenant);
    span.set("atoll.key_id", grant->who.key_id);
    if (grant->who.address.empty()) grant->who.address = address_of(request);
  }
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    span.fail(to_string(refusal->error.code()));
    record(needed, request, *refusal);
  }
  co_return outcome;
}

// Requests for sandboxes that are not there say nothing about anybody and are in the access log.
void Admission::record(Rule needed, const net::Request& request, const Refusal& refusal) const {
  if (trail_ == nullptr) return;
  const bool is_known = refusal.kind == Kind::forbidden || refusal.kind == Kind::limited;
  if (is_known && !refusal.who.key_id.empty()) {
    auth::Principal who = refusal.who;
    who.request_id = request.id;
    if (who.address.empty()) who.address = address_of(request);
    trail_->denied(needed, request, who, refusal.error);
  } else if (refusal.kind == Kind::unauthenticated || refusal.kind == Kind::closed_port || is_known) {
    trail_->refused(request, address_of(request), refusal.error);
  }
}

boost::asio::awaitable<Admission::Outcome> Admission::decide(Rule needed, const net::Request& request) const {
  Outcome outcome = Grant{};
  switch (needed.credential) {
    case Credential::none: break;
    case Credential::key: outcome = co_await by_key(request); break;
    case Credential::volume: outcome = co_await by_volume(request); break;
    case Credential::upload: outcome = co_await by_upload(request); break;
    default: outcome = co_await by_session(needed, request);
  }
  const auto* grant = std::get_if<Grant>(&outcome);
  if (grant == nullptr) co_return outcome;
  if (!grant->who.may(needed.permission))
    co_return Refusal{Kind::forbidden, auth::missing_permission(needed.permission), {}, grant->who};
  if (auto refused = check_reach(needed.reach, grant->who)) co_return std::move(*refused);
  if (needed.rate == Rate::never || grant->caller.empty() || parts_.controller == nullptr) co_return outcome;
  if (auto counted = parts_.controller->admit_call(holder_of(*grant)); !counted)
    co_return Refusal{Kind::limited, std::move(counted).error(),
                      grant->session ? grant->session->sandbox_id : std::string(), grant->who};
  co_return outcome;
}

// "192.0.2.1" of "192.0.2.1:50000" and of "[::1]:50000"; "unix" as it is.
static std::string host_of(std::string_view peer) {
  if (peer.starts_with('[')) return std::string(peer.substr(1, peer.find(']') - 1));
  return std::string(peer.substr(0, peer.rfind(':')));
}

// Proxies append whom they were asked by, so the last address that is not a proxy's own is the client's.
std::string Admission::address_of(const net::Request& request) const {
  std::string address = host_of(request.peer);
  if (parts_.proxies == nullptr || parts_.proxies->empty()) return address;
  const auto is_proxy = [&](std::string_view text) {
    if (text == "unix") return true;
    const auto parsed = egress::Address::parse(text);
    return parsed &&
           std::ranges::any_of(*parts_.proxies, [&](const auto& range) { return range.contains(*parsed); });
  };
  std::string_view list = request.headers.get("X-Forwarded-For");
  while (is_proxy(address) && !list.empty()) {
    const auto comma = list.rfind(',');
    std::string_view last = comma == std::string_view::npos ? list : list.substr(comma + 1);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(0, comma);
    while (last.starts_with(' ')) last.remove_prefix(1);
    while (last.ends_with(' ')) last.remove_suffix(1);
    if (!egress::Address::parse(last)) break;
    address = last;
  }
  return address;
}

auth::Presented Admission::presented(const net::Request& request) const {
  auth::Presented shown;
  shown.credential = shown_key(request);
  shown.address = address_of(request);
  shown.peer = host_of(request.peer);
  shown.tls_subject = request.tls_subject;
  shown.header = [&request](std::string_view name) { return std::string(request.headers.get(name)); };
  return shown;
}

Task<std::optional<auth::Principal>> Admission::identify(const net::Request& request) const {
  const auth::Presented shown = presented(request);
  if (parts_.providers != nullptr) {
    for (const auto& provider : *parts_.providers) {
      CO_TRY(auto who, co_await provider->identify(shown));
      if (who) co_return std::move(who);
    }
  } else if (!shown.credential.empty()) {
    CO_TRY(auth::Principal who, parts_.keys->check(shown.credential, shown.address));
    co_return std::optional(std::move(who));
  }
  if (!shown.credential.empty()) co_return fail(Code::unauthenticated, "Invalid API key");
  co_return std::optional<auth::Principal>();
}

boost::asio::awaitable<Admission::Outcome> Admission::slow_down(const net::Request& request,
                                                                Refusal refusal) const {
  if (parts_.attempts == nullptr) co_return refusal;
  const auto delay =
      parts_.attempts->failed(address_of(request), parts_.keys->id_by_prefix(shown_key(request)));
  if (delay.count() == 0) co_return refusal;
  if (!parts_.attempts->begin_wait())
    co_return Refusal{
        Kind::limited, Error(Code::resource_exhausted, "too many wrong credentials; try again later"), {}};
  struct Waiting {
    auth::Attempts& attempts;
    ~Waiting() { attempts.end_wait(); }
  } waiting{*parts_.attempts};
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, delay);
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  co_return refusal;
}

std::optional<Refusal> Admission::check_tenant(const net::Request& request, auth::Principal& who) const {
  const std::string_view other = request.headers.get(kOtherTenant);
  const auto closed = [](const std::string& tenant) {
    return Refusal{
        Kind::forbidden, Error(Code::permission_denied, "the tenant " + tenant + " is closed"), {}};
  };
  if (parts_.tenants != nullptr && !parts_.tenants->is_open(who.tenant)) return closed(who.tenant);
  if (other.empty() || other == who.tenant) return std::nullopt;
  if (!who.may(Permission::tenants_look))
    return Refusal{Kind::forbidden, auth::missing_permission(Permission::tenants_look), {}};
  if (parts_.tenants != nullptr)
    if (auto known = parts_.tenants->get(other); !known)
      return Refusal{Kind::failed, std::move(known).error(), {}};
  who.looks_from = std::exchange(who.tenant, std::string(other));
  who.permissions = who.permissions & auth::kLookPermissions;
  return std::nullopt;
}

boost::asio::awaitable<Admission::Outcome> Admission::by_key(const net::Request& request) const {
  auto who = co_await identify(request);
  if (!who && who.error().code() != Code::unauthenticated)
    co_return Refusal{Kind::failed, std::move(who).error(), {}};
  if (!who) co_return co_await slow_down(request, unauthenticated("Invalid API key"));
  if (!*who) co_return unauthenticated("API key is missing");
  Grant grant;
  grant.who = std::move(**who);
  if (auto refused = check_tenant(request, grant.who)) {
    refused->who = std::move(grant.who);
    co_return std::move(*refused);
  }
  grant.caller = grant.who.key_id;
  grant.by_key = true;
  co_return grant;
}

// A /files request may name no sandbox: it is the one whose secret it carries, or whose secret makes its
// signature.
std::optional<Refusal> Admission::find_session(const net::Request& request, Grant& grant) const {
  auto place = place_of(request);
  if (!place) return Refusal{Kind::misplaced, std::move(place).error(), {}};
  if (*place) {
    auto found = parts_.service->peek((*place)->sandbox_id);
    if (!found)
      return Refusal{Kind::gone, Error(Code::not_found, "The sandbox was not found"), (*place)->sandbox_id};
    grant.session = std::move(*found);
    grant.port = (*place)->port;
  } else {
    const FileProof proof = proof_of(request);
    const FileOperation operation = operation_of(request);
    auto found = parts_.service->peek_if([&](const Session& session) {
      return check_file_access(proof, operation, session.secret, WallTime::min()).has_value();
    });
    if (!found) return unauthenticated("invalid signature");
    grant.session = std::move(*found);
    grant.port = kEnvdPort;
  }
  const std::string& id = grant.session->sandbox_id;
  if (is_changing(*grant.session))
    return Refusal{Kind::changing, Error(Code::conflict, "The sandbox is changing its state"), id};
  if (!is_reachable(*grant.session))
    return Refusal{Kind::gone, Error(Code::not_found, "The sandbox was not found"), id};
  return std::nullopt;
}

std::optional<Refusal> Admission::check_traffic(Credential credential, const net::Request& request,
                                                const Grant& grant) const {
  const bool is_port = credential == Credential::port || grant.port == kInterpreterPort;
  if (!is_port || grant.session->ports == Ports::open) return std::nullopt;
  const std::string_view given = request.headers.get(kTrafficToken);
  if (is_secret(grant.session->traffic_token, given)) return std::nullopt;
  return Refusal{
      Kind::closed_port,
      Error(Code::permission_denied,
            given.empty() ? "Sandbox is secured with traffic access token. Token header "
                            "'e2b-traffic-access-token' is missing"
                          : "Sandbox is secured with traffic access token. Provided token in header "
                            "'e2b-traffic-access-token' is invalid"),
      grant.session->sandbox_id};
}

std::optional<Refusal> Admission::check_secret(Credential credential, const net::Request& request,
                                               const Grant& grant) const {
  const Session& session = *grant.session;
  if (credential == Credential::port || credential == Credential::sandbox) return std::nullopt;
  if (session.data_plane == DataPlane::open) return std::nullopt;
  if (credential == Credential::file) {
    auto good =
        check_file_access(proof_of(request), operation_of(request), session.secret, parts_.clock->now());
    if (good) return std::nullopt;
    return unauthenticated(good.error().message());
  }
  if (is_secret(session.secret, request.headers.get(kAccessToken))) return std::nullopt;
  if (credential == Credential::context &&
      is_secret(session.traffic_token, request.headers.get(kTrafficToken)))
    return std::nullopt;
  return unauthenticated(
      "unauthorized access, please provide a valid access token or method signing if supported");
}

// A session's secret stands for its owner, for this session and its data plane alone.
static auth::Principal data_plane_of(const Session& session) {
  auth::Principal who = session::Service::owner(session);
  who.role = "session";
  who.permissions = auth::kDataPlanePermissions;
  auth::Scopes scopes;
  scopes.sessions = {session.session_id, session.sandbox_id};
  who.scopes = std::make_shared<const auth::Scopes>(std::move(scopes));
  return who;
}

static bool covers(const auth::Principal& who, const Session& session) {
  if (who.tenant != session.tenant) return false;
  if (who.scopes == nullptr) return true;
  const auth::Scopes& scopes = *who.scopes;
  return (scopes.environment.empty() || scopes.environment == session.environment) &&
         (scopes.sessions.empty() || scopes.sessions.contains(session.session_id) ||
          scopes.sessions.contains(session.sandbox_id));
}

boost::asio::awaitable<Admission::Outcome> Admission::by_session(Rule needed,
                                                                 const net::Request& request) const {
  const Credential credential = needed.credential;
  Grant grant;
  if (auto refused = find_session(request, grant)) {
    if (refused->kind != Kind::unauthenticated) co_return std::move(*refused);
    co_return co_await slow_down(request, std::move(*refused));
  }
  const Session& session = *grant.session;
  if (parts_.tenants != nullptr && !parts_.tenants->is_open(session.tenant))
    co_return Refusal{Kind::gone, Error(Code::not_found, "The sandbox was not found"), session.sandbox_id};
  // A key of the tenant opens what is the tenant's. A secret that is shown beside it must be right all the
  // same.
  if (!request.headers.has(kAccessToken) && !request.headers.has(kTrafficToken)) {
    auto who = co_await identify(request);
    const bool known = who && *who && covers(**who, session);
    // Where nothing needs to be shown, a key that may not is no worse than none.
    const bool is_open = credential == Credential::port || credential == Credential::sandbox ||
                         session.data_plane == DataPlane::open;
    if (known && ((*who)->may(needed.permission) || !is_open)) {
      grant.who = std::move(**who);
      grant.caller = grant.who.key_id;
      grant.by_key = true;
      co_return grant;
    }
  }
  if (auto refused = check_traffic(credential, request, grant)) {
    // A browser that shows nothing guesses nothing.
    if (request.headers.get(kTrafficToken).empty()) co_return std::move(*refused);
    co_return co_await slow_down(request, std::move(*refused));
  }
  if (auto refused = check_secret(credential, request, grant))
    co_return co_await slow_down(request, std::move(*refused));
  grant.who = data_plane_of(session);
  const bool proved = session.data_plane == DataPlane::secured && credential != Credential::port &&
                      credential != Credential::sandbox;
  // Calls that need no secret are not counted in the owner's name, so that others cannot use up the owner's
  // rate.
  grant.caller = proved ? session.key_id : session.sandbox_id;
  grant.anonymous = !proved;
  co_return grant;
}

boost::asio::awaitable<Admission::Outcome> Admission::by_volume(const net::Request& request) const {
  std::string token(bearer_of(request));
  if (token.empty()) co_return unauthenticated("Volume token is missing");
  std::string id = request.param("volume");
  auto opened = co_await parts_.volumes->opened_by(std::move(token), std::move(id));
  if (!opened) {
    if (opened.error().code() != Code::unauthenticated)
      co_return Refusal{Kind::failed, std::move(opened).error(), {}};
    Refusal refusal{Kind::unauthenticated, std::move(opened).error(), {}};
    co_return co_await slow_down(request, std::move(refusal));
  }
  Grant grant;
  if (parts_.tenants != nullptr && !parts_.tenants->is_open(opened->tenant))
    co_return unauthenticated("the volume's tenant is closed");
  grant.who.tenant = opened->tenant;
  grant.who.role = "volume";
  grant.who.permissions = {Permission::volumes};
  grant.caller = opened->id;
  grant.volume = std::move(*opened);
  co_return grant;
}

boost::asio::awaitable<Admission::Outcome> Admission::by_upload(const net::Request& request) const {
  std::optional<auth::Principal> owner;
  if (upload_owner_) owner = upload_owner_(request.param("token"));
  if (owner && parts_.tenants != nullptr && !parts_.tenants->is_open(owner->tenant)) owner.reset();
  if (!owner) {
    Refusal refusal{Kind::unauthenticated, Error(Code::not_found, "no such upload"), {}};
    co_return co_await slow_down(request, std::move(refusal));
  }
  Grant grant;
  grant.caller = owner->key_id;
  grant.who = std::move(*owner);
  co_return grant;
}

}  // namespace atl::api
