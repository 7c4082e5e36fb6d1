#include "auth/oidc/provider.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/log.h"

namespace atl::auth::oidc {
namespace {

namespace bj = boost::json;

constexpr std::size_t kSubjectMax = 256, kGroupsMax = 1000;

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == "[::1]";
}

// An address whose answers can be trusted: by TLS, or because they do not leave this machine.
Result<net::Url> trusted_url(const std::string& text) {
  net::Url url = TRY(net::Url::parse(text));
  if (url.scheme == net::Scheme::https || (url.scheme == net::Scheme::http && is_this_machine(url.host)))
    return url;
  return fail(Code::invalid_argument, "the issuer's addresses begin with https://");
}

Error setting_error(std::string_view setting, std::string message) {
  return Error(Code::invalid_argument, fmt::format("{}: {}", setting, message))
      .with_field(std::string(setting));
}

std::vector<std::string> words_in(const bj::object& claims, const std::string& claim) {
  std::vector<std::string> words;
  const auto* value = claims.if_contains(claim);
  if (value != nullptr && value->is_string()) words.emplace_back(value->as_string());
  if (value != nullptr && value->is_array())
    for (const bj::value& one : value->as_array())
      if (one.is_string() && words.size() < kGroupsMax) words.emplace_back(one.as_string());
  return words;
}

}  // namespace

Provider::Provider(boost::asio::any_io_executor executor, Options options, const Roles& roles, Clock& clock)
    : executor_(executor), options_(std::move(options)), roles_(roles), clock_(clock), turn_(executor) {}

Result<std::unique_ptr<Provider>> Provider::make(boost::asio::any_io_executor executor, Options options,
                                                 const Roles& roles, Clock& clock) {
  if (!trusted_url(options.issuer))
    return fail(setting_error("auth.oidc.issuer", "an https address, or http on this machine"));
  if (options.audience.empty())
    return fail(setting_error("auth.oidc.audience", "name the audience that tokens must have"));
  if (options.claim.empty() || options.roles.empty())
    return fail(setting_error("auth.oidc.roles", "a claim and a map such as 'groups: staff=developer@acme'"));
  return std::unique_ptr<Provider>(new Provider(std::move(executor), std::move(options), roles, clock));
}

Task<bj::object> Provider::get(std::string address) {
  CO_TRY(const net::Url whole, trusted_url(address));
  net::Url server = whole;
  server.base.clear();
  net::ClientOptions options;
  options.ca_file = options_.ca_file;
  options.connect_time = options.head_time = options.stall_time = options_.patience;
  options.tries = 1;
  options.body_bytes_max = 1U << 20;
  net::Client client(executor_, server, options);
  net::ClientRequest request;
  request.target = whole.base.empty() ? "/" : whole.base;
  request.headers = {{"Accept", "application/json"}};
  CO_TRY(const net::ClientResponse response, co_await client.send(std::move(request)));
  if (response.status != 200)
    co_return fail(Code::unavailable, fmt::format("the issuer answered with status {}", response.status));
  CO_TRY(bj::value parsed, json::parse(response.body));
  if (!parsed.is_object()) co_return fail(Code::unavailable, "the issuer answered with no JSON object");
  co_return std::move(parsed.as_object());
}

Task<std::shared_ptr<const KeySet>> Provider::fetch() {
  ++fetches_;
  std::string base = options_.issuer;
  while (base.ends_with('/')) base.pop_back();
  CO_TRY(const bj::object found, co_await get(base + "/.well-known/openid-configuration"));
  if (text_in(found, "issuer") != options_.issuer)
    co_return fail(Code::unavailable, "the issuer calls itself otherwise than auth.oidc.issuer does");
  CO_TRY(const bj::object keys, co_await get(text_in(found, "jwks_uri")));
  CO_TRY(KeySet set, KeySet::parse(bj::serialize(keys)));
  co_return std::make_shared<const KeySet>(std::move(set));
}

// One asks, the others wait for it and then find what it brought.
Task<std::shared_ptr<const KeySet>> Provider::keys(Need need) {
  const SteadyTime wanted_at = clock_.steady();
  const auto good = [&] {
    if (!keys_) return false;
    const SteadyTime now = clock_.steady();
    if (need == Need::unknown_key && fetched_at_ < wanted_at) return now - asked_at_ < options_.ask_again;
    return now - fetched_at_ < options_.keep || now - asked_at_ < options_.ask_again;
  };
  if (good()) co_return keys_;
  CO_TRY(const auto hold, co_await turn_.take());
  if (good()) co_return keys_;
  if (!keys_ && asked_at_ != SteadyTime{} && clock_.steady() - asked_at_ < std::chrono::seconds(1))
    co_return fail(Code::unavailable, "the issuer of tokens cannot be reached");
  asked_at_ = clock_.steady();
  auto fetched = co_await fetch();
  if (fetched) {
    keys_ = std::move(*fetched);
    fetched_at_ = clock_.steady();
  } else {
    log::warn("the issuer of tokens gave no keys", {{"error", fetched.error().message()}});
    if (!keys_) co_return fail(Code::unavailable, "the issuer of tokens cannot be reached");
  }
  co_return keys_;
}

Task<std::optional<Principal>> Provider::identify(const Presented& shown) {
  if (!looks_like_token(shown.credential)) co_return std::optional<Principal>();
  CO_TRY(const Parts parts, read_parts(shown.credential));
  // Tokens of others do not make us ask anybody for keys.
  if (parts.issuer != options_.issuer)
    co_return fail(Code::unauthenticated, "the token is of another issuer");
  CO_TRY(auto known, co_await keys(Need::usual));
  auto claims = known->verify(shown.credential, parts);
  if (!claims && claims.error().code() == Code::not_found) {
    CO_TRY(known, co_await keys(Need::unknown_key));
    claims = known->verify(shown.credential, parts);
  }
  if (!claims) co_return fail(Code::unauthenticated, "the token's signature cannot be verified");
  const Expected expected{options_.issuer, options_.audience, options_.skew, clock_.now()};
  CO_CHECK(check_claims(*claims, expected));
  Principal who;
  const std::string subject = text_in(*claims, "sub");
  if (subject.size() > kSubjectMax) co_return fail(Code::unauthenticated, "the token's subject is too long");
  who.key_id = "oidc:" + subject;
  who.name = text_in(*claims, "email");
  if (who.name.empty()) who.name = subject;
  who.address = shown.address;
  CO_CHECK(options_.roles.apply(words_in(*claims, options_.claim), roles_, who));
  co_return std::optional<Principal>(std::move(who));
}

}  // namespace atl::auth::oidc
