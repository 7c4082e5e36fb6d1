// Tokens as attackers and careless issuers make them. A real issuer is in tests/governance.
#include "auth/oidc/token.h"

#include <cjose/cjose.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "auth/oidc/provider.h"
#include "base/bytes.h"

namespace atl::auth::oidc {
namespace {

namespace bj = boost::json;

std::string url_base64(std::string text) {
  text = to_base64(text);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (text.ends_with('=')) text.pop_back();
  return text;
}

// A key pair of an issuer.
class Signer {
 public:
  Signer(cjose_jwk_t* key, std::string id) : key_(key), id_(std::move(id)) {
    cjose_err error{};
    EXPECT_NE(key_, nullptr);
    cjose_jwk_set_kid(key_, id_.c_str(), id_.size(), &error);
  }
  ~Signer() { cjose_jwk_release(key_); }
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;
  static Signer rsa(std::size_t bits, std::string id) {
    cjose_err error{};
    static const std::uint8_t exponent[] = {1, 0, 1};
    return Signer(cjose_jwk_create_RSA_random(bits, exponent, sizeof exponent, &error), std::move(id));
  }
  static Signer ec(std::string id) {
    cjose_err error{};
    return Signer(cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &error), std::move(id));
  }
  static Signer secret(const std::string& bytes, std::string id) {
    cjose_err error{};
    return Signer(
        cjose_jwk_create_oct_spec(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), &error),
        std::move(id));
  }

  bj::object public_key() const {
    cjose_err error{};
    char* text = cjose_jwk_to_json(key_, false, &error);
    bj::object object = bj::parse(text).as_object();
    std::free(text);
    return object;
  }
  std::string sign(const std::string& algorithm, const bj::object& claims, const std::string& id) const {
    cjose_err error{};
    cjose_header_t* header = cjose_header_new(&error);
    cjose_header_set(header, CJOSE_HDR_ALG, algorithm.c_str(), &error);
    if (!id.empty()) cjose_header_set(header, CJOSE_HDR_KID, id.c_str(), &error);
    const std::string payload = bj::serialize(claims);
    cjose_jws_t* token = cjose_jws_sign(key_, header, reinterpret_cast<const std::uint8_t*>(payload.data()),
                                        payload.size(), &error);
    EXPECT_NE(token, nullptr) << error.message;
    const char* text = nullptr;
    cjose_jws_export(token, &text, &error);
    std::string made = text;
    cjose_jws_release(token);
    cjose_header_release(header);
    return made;
  }
  std::string sign(const std::string& algorithm, const bj::object& claims) const {
    return sign(algorithm, claims, id_);
  }

 private:
  cjose_jwk_t* key_;
  std::string id_;
};

class TokenTest : public testing::Test {
 protected:
  static constexpr std::int64_t kNow = 1'800'000'000;
  static bj::object claims() {
    return {{"iss", "https://issuer.example"}, {"aud", "atoll"}, {"sub", "ann"}, {"exp", kNow + 300}};
  }
  static std::string set_of(std::initializer_list<bj::object> keys) {
    return bj::serialize(bj::object{{"keys", bj::array(keys.begin(), keys.end())}});
  }
  static Result<bj::object> verify(const KeySet& keys, const std::string& token) {
    const Parts parts = TRY(read_parts(token));
    return keys.verify(token, parts);
  }
  static Result<void> check(bj::object claims) {
    Expected expected;
    expected.issuer = "https://issuer.example";
    expected.audience = "atoll";
    expected.now = from_unix_micros(kNow * 1'000'000);
    return check_claims(claims, expected);
  }
};

TEST_F(TokenTest, AGoodOneIsGood) {
  const Signer rsa = Signer::rsa(2048, "r"), ec = Signer::ec("e");
  const KeySet keys = *KeySet::parse(set_of({rsa.public_key(), ec.public_key()}));
  EXPECT_EQ(keys.size(), 2U);
  for (const char* algorithm : {"RS256", "RS512", "PS256"})
    EXPECT_EQ(verify(keys, rsa.sign(algorithm, claims()))->at("sub").as_string(), "ann") << algorithm;
  EXPECT_TRUE(verify(keys, ec.sign("ES256", claims())));
  EXPECT_TRUE(verify(keys, ec.sign("ES256", claims(), ""))) << "the only key of its kind";
}

TEST_F(TokenTest, NoSignatureIsNone) {
  const Signer rsa = Signer::rsa(2048, "r");
  const KeySet keys = *KeySet::parse(set_of({rsa.public_key()}));
  const std::string payload = url_base64(bj::serialize(claims()));
  for (const char* header :
       {R"({"alg":"none"})", R"({"alg":"None","kid":"r"})", R"({"alg":""})", R"({})", R"({"alg":["RS256"]})",
        R"({"alg":"RS256","kid":["r"]})", R"({"alg":"RS256","kid":"r","crit":["b64"],"b64":false})"}) {
    const std::string token = url_base64(header) + "." + payload + ".";
    EXPECT_EQ(verify(keys, token).error().code(), Code::unauthenticated) << header;
  }
  std::string cut = rsa.sign("RS256", claims());
  cut.resize(cut.rfind('.') + 1);
  EXPECT_EQ(verify(keys, cut).error().code(), Code::unauthenticated);
}

// The public key is public: used as the secret of an HMAC, it must open nothing.
TEST_F(TokenTest, APublicKeyIsNoSecret) {
  const Signer rsa = Signer::rsa(2048, "r");
  const std::string published = bj::serialize(rsa.public_key());
  const KeySet keys = *KeySet::parse(set_of({rsa.public_key()}));
  const Signer forger = Signer::secret(published, "r");
  for (const char* algorithm : {"HS256", "HS512"})
    EXPECT_EQ(verify(keys, forger.sign(algorithm, claims())).error().code(), Code::unauthenticated);
  // An issuer that publishes a secret by mistake publishes no key.
  const bj::object leaked{{"kty", "oct"}, {"kid", "s"}, {"k", url_base64(std::string(32, 'x'))}};
  EXPECT_EQ(KeySet::parse(set_of({leaked}))->size(), 0U);
}

TEST_F(TokenTest, TheKeyDecidesTheAlgorithm) {
  const Signer rsa = Signer::rsa(2048, "r"), ec = Signer::ec("e"), stranger = Signer::rsa(2048, "r");
  bj::object only = rsa.public_key();
  only["alg"] = "RS512";
  const KeySet keys = *KeySet::parse(set_of({only, ec.public_key()}));
  EXPECT_EQ(verify(keys, rsa.sign("RS256", claims())).error().code(), Code::unauthenticated);
  EXPECT_TRUE(verify(keys, rsa.sign("RS512", claims())));
  EXPECT_EQ(verify(keys, rsa.sign("RS512", claims(), "e")).error().code(), Code::unauthenticated);
  EXPECT_EQ(verify(keys, stranger.sign("RS512", claims())).error().code(), Code::unauthenticated);
  EXPECT_EQ(verify(keys, stranger.sign("RS512", claims(), "../../etc/passwd")).error().code(),
            Code::not_found);
  // A key of their own in the header is not looked at.
  const std::string header =
      url_base64(bj::serialize(bj::object{{"alg", "RS512"}, {"kid", "x"}, {"jwk", stranger.public_key()}}));
  const std::string signed_token = stranger.sign("RS512", claims());
  EXPECT_FALSE(verify(keys, header + signed_token.substr(signed_token.find('.'))));
}

TEST_F(TokenTest, ChangedClaimsAreNotSigned) {
  const Signer rsa = Signer::rsa(2048, "r");
  const KeySet keys = *KeySet::parse(set_of({rsa.public_key()}));
  const std::string token = rsa.sign("RS256", claims());
  bj::object changed = claims();
  changed["sub"] = "root";
  const auto first = token.find('.'), second = token.rfind('.');
  EXPECT_FALSE(
      verify(keys, token.substr(0, first + 1) + url_base64(bj::serialize(changed)) + token.substr(second)));
  for (const char* text : {"", ".", "..", "a.b.c", "eyJ.eyJ.x", "eyJhbGciOiJSUzI1NiJ9.e30"})
    EXPECT_EQ(read_parts(text).error().code(), Code::unauthenticated) << text;
  EXPECT_FALSE(looks_like_token("eyJ." + std::string(20'000, 'a') + "."));
}

TEST_F(TokenTest, SetsOfKeysThatAreNone) {
  for (const char* text : {"", "[]", "{}", R"({"keys":{}})", "no"}) EXPECT_FALSE(KeySet::parse(text)) << text;
  const Signer small = Signer::rsa(1024, "s"), rsa = Signer::rsa(2048, "r");
  bj::object encrypts = rsa.public_key();
  encrypts["use"] = "enc";
  EXPECT_EQ(KeySet::parse(set_of({small.public_key(), encrypts, {{"kty", "RSA"}}, {{"kty", "EC"}}}))->size(),
            0U);
  // Two of one name, or two without any: nobody knows which.
  const KeySet twice = *KeySet::parse(set_of({rsa.public_key(), rsa.public_key()}));
  EXPECT_FALSE(verify(twice, rsa.sign("RS256", claims())));
  EXPECT_FALSE(verify(twice, rsa.sign("RS256", claims(), "")));
}

TEST_F(TokenTest, ClaimsOutOfTimeOrPlace) {
  EXPECT_TRUE(check(claims()));
  const auto with = [](std::string_view name, bj::value value) {
    bj::object changed = claims();
    changed[name] = std::move(value);
    return check(changed);
  };
  EXPECT_TRUE(with("exp", kNow - 59)) << "clocks differ";
  EXPECT_FALSE(with("exp", kNow - 60));
  EXPECT_FALSE(with("exp", nullptr));
  EXPECT_FALSE(with("exp", "9999999999"));
  EXPECT_FALSE(with("exp", 1e300));
  EXPECT_TRUE(with("nbf", kNow + 59));
  EXPECT_FALSE(with("nbf", kNow + 61));
  EXPECT_FALSE(with("iat", kNow + 61));
  EXPECT_FALSE(with("iss", "https://issuer.example/"));
  EXPECT_FALSE(with("iss", "https://evil.example"));
  EXPECT_FALSE(with("aud", "other"));
  EXPECT_FALSE(with("aud", bj::array{"other", 5}));
  EXPECT_TRUE(with("aud", bj::array{"other", "atoll"}));
  EXPECT_FALSE(with("sub", ""));
  bj::object timeless = claims();
  timeless.erase("exp");
  EXPECT_FALSE(check(timeless));
}

TEST(OidcProvider, RefusesSettingsThatTrustAnybody) {
  boost::asio::io_context loop;
  const Roles roles;
  Options good;
  good.issuer = "https://issuer.example";
  good.audience = "atoll";
  good.claim = "groups";
  good.roles = *RoleMap::parse("staff=developer", "auth.oidc.roles");
  EXPECT_TRUE(Provider::make(loop.get_executor(), good, roles));
  const auto refused = [&](const std::function<void(Options&)>& change) {
    Options options = good;
    change(options);
    auto made = Provider::make(loop.get_executor(), std::move(options), roles);
    return made ? std::string() : made.error().field();
  };
  EXPECT_EQ(refused([](Options& o) { o.issuer = "http://issuer.example"; }), "auth.oidc.issuer");
  EXPECT_EQ(refused([](Options& o) { o.issuer = "issuer"; }), "auth.oidc.issuer");
  EXPECT_EQ(refused([](Options& o) { o.audience = ""; }), "auth.oidc.audience");
  EXPECT_EQ(refused([](Options& o) { o.claim = ""; }), "auth.oidc.roles");
  EXPECT_EQ(refused([](Options& o) { o.issuer = "http://127.0.0.1:1"; }), "");
}

}  // namespace
}  // namespace atl::auth::oidc
