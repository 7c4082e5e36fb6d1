#include "api/admission/admission.h"

#include <fmt/format.h>

#include "api/admission/place.h"
#include "api/admission/signature.h"
#include "base/bytes.h"

namespace atl::api {
namespace {

using session::DataPlane;
using session::Ports;
using session::Session;
using Kind = Refusal::Kind;

constexpr std::string_view kAccessToken = "X-Access-Token";
constexpr std::string_view kTrafficToken = "E2b-Traffic-Access-Token";

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

class RuleAccess final : public net::Guard {
 public:
  RuleAccess(const Admission& admission, Rule needed, RefusalRenderer refuse)
      : rule(needed), admission_(admission), refuse_(std::move(refuse)) {}

  Task<std::optional<net::Response>> admit(net::Request& request) const override {
    auto outcome = co_await admission_.admit(rule, request);
    const AuditTrail* trail = admission_.trail();
    if (auto* refusal = std::get_if<Refusal>(&outcome)) {
      // Requests for sandboxes that are not there say nothing about anybody and are in the access log.
      const bool wrong = refusal->kind == Kind::unauthenticated || refusal->kind == Kind::closed_port;
      if (trail != nullptr && wrong) trail->refused(request, request.peer, refusal->error);
      if (refuse_)
        if (auto response = refuse_(*refusal, request)) co_return std::move(*response);
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
  return std::make_shared<RuleAccess>(*this, needed, std::move(refuse));
}

boost::asio::awaitable<std::variant<Grant, Refusal>> Admission::admit(Rule needed,
                                                                      const net::Request& request) const {
  Outcome outcome = Grant{};
  switch (needed.credential) {
    case Credential::none: break;
    case Credential::key: outcome = by_key(request); break;
    case Credential::volume: outcome = co_await by_volume(request); break;
    case Credential::upload: outcome = by_upload(request); break;
    default: outcome = by_session(needed.credential, request);
  }
  const auto* grant = std::get_if<Grant>(&outcome);
  if (grant == nullptr || needed.rate == Rate::never || grant->caller.empty()) co_return outcome;
  if (const auto wait = parts_.limiter->take(grant->caller)) {
    co_return Refusal{Kind::limited,
                      Error(Code::resource_exhausted,
                            fmt::format("too many requests for this key; try again in {} ms", wait->count())),
                      grant->session ? grant->session->sandbox_id : std::string()};
  }
  co_return outcome;
}

Admission::Outcome Admission::by_key(const net::Request& request) const {
  const std::string_view key = shown_key(request);
  if (key.empty()) return unauthenticated("API key is missing");
  auto who = parts_.keys->check(key);
  if (!who) return unauthenticated("Invalid API key");
  Grant grant;
  grant.caller = who->key_id;
  grant.who = std::move(*who);
  return grant;
}

std::optional<auth::Principal> Admission::key_of_tenant(const net::Request& request,
                                                        const std::string& tenant) const {
  const std::string_view key = shown_key(request);
  if (key.empty()) return std::nullopt;
  auto who = parts_.keys->check(key);
  if (!who || who->tenant != tenant) return std::nullopt;
  return std::move(*who);
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

Admission::Outcome Admission::by_session(Credential credential, const net::Request& request) const {
  Grant grant;
  if (auto refused = find_session(request, grant)) return std::move(*refused);
  const Session& session = *grant.session;
  // A key of the tenant opens what is the tenant's. A secret that is shown beside it must be right all the
  // same.
  if (!request.headers.has(kAccessToken) && !request.headers.has(kTrafficToken)) {
    if (auto who = key_of_tenant(request, session.tenant)) {
      grant.caller = who->key_id;
      grant.who = std::move(*who);
      return grant;
    }
  }
  if (auto refused = check_traffic(credential, request, grant)) return std::move(*refused);
  if (auto refused = check_secret(credential, request, grant)) return std::move(*refused);
  grant.who = session::Service::owner(session);
  const bool proved = session.data_plane == DataPlane::secured && credential != Credential::port &&
                      credential != Credential::sandbox;
  // Calls that need no secret are not counted in the owner's name, so that others cannot use up the owner's
  // rate.
  grant.caller = proved ? session.key_id : session.sandbox_id;
  return grant;
}

boost::asio::awaitable<Admission::Outcome> Admission::by_volume(const net::Request& request) const {
  std::string token(bearer_of(request));
  if (token.empty()) co_return unauthenticated("Volume token is missing");
  std::string id = request.param("volume");
  auto opened = co_await parts_.volumes->opened_by(std::move(token), std::move(id));
  if (!opened) {
    const Kind kind = opened.error().code() == Code::unauthenticated ? Kind::unauthenticated : Kind::failed;
    co_return Refusal{kind, std::move(opened).error(), {}};
  }
  Grant grant;
  grant.who.tenant = opened->tenant;
  grant.caller = opened->id;
  grant.volume = std::move(*opened);
  co_return grant;
}

Admission::Outcome Admission::by_upload(const net::Request& request) const {
  std::optional<auth::Principal> owner;
  if (upload_owner_) owner = upload_owner_(request.param("token"));
  if (!owner) return Refusal{Kind::unauthenticated, Error(Code::not_found, "no such upload"), {}};
  Grant grant;
  grant.caller = owner->key_id;
  grant.who = std::move(*owner);
  return grant;
}

}  // namespace atl::api
