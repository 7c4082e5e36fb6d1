#include "auth/oidc/token.h"

#include <cjose/cjose.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "base/bytes.h"
#include "base/json.h"

namespace atl::auth::oidc {
namespace {

namespace bj = boost::json;

constexpr std::size_t kTokenMax = 16U << 10, kKeysMax = 100;
constexpr std::size_t kRsaBitsMin = 2048;

struct Algorithm {
  std::string_view name, type, curve;
};
// By public key only: a token must never choose a key of ours for a secret, or no signature at all.
constexpr std::array kAlgorithms = {
    Algorithm{"RS256", "RSA", ""},     Algorithm{"RS384", "RSA", ""},     Algorithm{"RS512", "RSA", ""},
    Algorithm{"PS256", "RSA", ""},     Algorithm{"PS384", "RSA", ""},     Algorithm{"PS512", "RSA", ""},
    Algorithm{"ES256", "EC", "P-256"}, Algorithm{"ES384", "EC", "P-384"}, Algorithm{"ES512", "EC", "P-521"}};

Error bad(std::string message) {
  return Error(Code::unauthenticated, std::move(message));
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto found = std::ranges::find(kAlgorithms, name, &Algorithm::name);
  return found == kAlgorithms.end() ? nullptr : &*found;
}

Result<bj::object> decode(std::string_view part) {
  std::string text(part);
  if (text.find_first_of("+/=") != std::string::npos) return fail(bad("the token is malformed"));
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  const auto bytes = from_base64(text);
  if (!bytes) return fail(bad("the token is malformed"));
  auto parsed = json::parse(*bytes, {.max_bytes = kTokenMax, .max_depth = 16});
  if (!parsed || !parsed->is_object()) return fail(bad("the token is malformed"));
  return std::move(parsed->as_object());
}

// Seconds since 1970, as the claims have them.
Result<std::optional<double>> time_in(const bj::object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  if (value == nullptr) return std::optional<double>();
  boost::system::error_code wrong;
  const double seconds = value->is_number() ? value->to_number<double>(wrong) : NAN;
  if (wrong || !std::isfinite(seconds) || seconds < 0 || seconds > 1e12)
    return fail(bad(fmt::format("the claim '{}' of the token is no time", name)));
  return std::optional(seconds);
}

bool is_audience(const bj::value* value, std::string_view audience) {
  if (value == nullptr) return false;
  if (value->is_string()) return value->as_string() == audience;
  if (!value->is_array()) return false;
  return std::ranges::any_of(value->as_array(), [&](const bj::value& one) {
    return one.is_string() && one.as_string() == audience;
  });
}

struct Releaser {
  void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
  void operator()(cjose_jws_t* token) const { cjose_jws_release(token); }
};

}  // namespace

std::string text_in(const bj::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

bool looks_like_token(std::string_view text) {
  return text.size() <= kTokenMax && std::ranges::count(text, '.') == 2 && text.starts_with("eyJ");
}

Result<Parts> read_parts(std::string_view token) {
  if (!looks_like_token(token)) return fail(bad("this is no token"));
  const auto first = token.find('.'), second = token.rfind('.');
  const bj::object header = TRY(decode(token.substr(0, first)));
  const bj::object claims = TRY(decode(token.substr(first + 1, second - first - 1)));
  Parts parts{text_in(header, "alg"), text_in(header, "kid"), text_in(claims, "iss")};
  if (find_algorithm(parts.algorithm) == nullptr)
    return fail(bad("the token is not signed by a public key of an algorithm that is accepted"));
  if (header.contains("crit")) return fail(bad("the token has parameters that are not understood"));
  if (header.contains("kid") && parts.key_id.empty())
    return fail(bad("the key id of the token is malformed"));
  return parts;
}

Result<KeySet> KeySet::parse(std::string_view text) {
  const auto parsed = json::parse(text, {.max_bytes = 1U << 20, .max_depth = 16});
  const auto* keys = parsed && parsed->is_object() ? parsed->as_object().if_contains("keys") : nullptr;
  if (keys == nullptr || !keys->is_array() || keys->as_array().size() > kKeysMax)
    return fail(Code::data_loss, "the issuer's keys are no set of JSON Web Keys");
  KeySet set;
  for (const bj::value& one : keys->as_array()) {
    if (!one.is_object()) continue;
    const bj::object& facts = one.as_object();
    Key key{text_in(facts, "kid"), text_in(facts, "kty"), text_in(facts, "crv"), text_in(facts, "alg"), {}};
    const std::string use = text_in(facts, "use");
    if ((key.type != "RSA" && key.type != "EC") || (!use.empty() && use != "sig")) continue;
    if (!key.algorithm.empty() && find_algorithm(key.algorithm) == nullptr) continue;
    key.json = bj::serialize(facts);
    cjose_err error{};
    const std::unique_ptr<cjose_jwk_t, Releaser> imported(
        cjose_jwk_import(key.json.data(), key.json.size(), &error));
    if (!imported) continue;
    if (key.type == "RSA" && cjose_jwk_get_keysize(imported.get(), &error) < kRsaBitsMin) continue;
    set.keys_.push_back(std::move(key));
  }
  return set;
}

Result<const KeySet::Key*> KeySet::choose(const Parts& parts) const {
  const Algorithm* algorithm = find_algorithm(parts.algorithm);
  if (algorithm == nullptr) return fail(bad("the token's algorithm is not accepted"));
  const Key* chosen = nullptr;
  for (const Key& key : keys_) {
    const bool fits = key.type == algorithm->type &&
                      (algorithm->curve.empty() || key.curve == algorithm->curve) &&
                      (key.algorithm.empty() || key.algorithm == algorithm->name);
    if (!parts.key_id.empty() ? key.id != parts.key_id : !fits) continue;
    if (!fits) return fail(bad("the token's algorithm is not that of its key"));
    if (chosen != nullptr) return fail(bad("the token does not say which key signed it"));
    chosen = &key;
  }
  if (chosen == nullptr) return fail(Code::not_found, "the issuer has no such key");
  return chosen;
}

Result<bj::object> KeySet::verify(std::string_view token, const Parts& parts) const {
  const Key* key = TRY(choose(parts));
  cjose_err error{};
  const std::unique_ptr<cjose_jwk_t, Releaser> imported(
      cjose_jwk_import(key->json.data(), key->json.size(), &error));
  const std::unique_ptr<cjose_jws_t, Releaser> read(cjose_jws_import(token.data(), token.size(), &error));
  if (!imported || !read || !cjose_jws_verify(read.get(), imported.get(), &error))
    return fail(bad("the token's signature is wrong"));
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  if (!cjose_jws_get_plaintext(read.get(), &bytes, &size, &error)) return fail(bad("the token is malformed"));
  // The library gives bytes as unsigned; JSON is text.
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  auto claims = json::parse(text, {.max_bytes = kTokenMax, .max_depth = 16});
  if (!claims || !claims->is_object()) return fail(bad("the token is malformed"));
  return std::move(claims->as_object());
}

Result<void> check_claims(const bj::object& claims, const Expected& expected) {
  if (text_in(claims, "iss") != expected.issuer) return fail(bad("the token is of another issuer"));
  if (!is_audience(claims.if_contains("aud"), expected.audience))
    return fail(bad("the token is for another audience"));
  if (text_in(claims, "sub").empty()) return fail(bad("the token names nobody"));
  const auto now = static_cast<double>(unix_micros(expected.now)) / 1e6;
  const auto skew = static_cast<double>(expected.skew.count());
  const auto ends = TRY(time_in(claims, "exp"));
  if (!ends || *ends + skew <= now) return fail(bad("the token is expired"));
  for (const char* name : {"nbf", "iat"}) {
    const auto begins = TRY(time_in(claims, name));
    if (begins && *begins - skew > now) return fail(bad("the token is not valid yet"));
  }
  return {};
}

}  // namespace atl::auth::oidc
