#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace atl::auth::oidc {

// A member that is text; empty if there is none.
std::string text_in(const boost::json::object& object, std::string_view name);

// The first two parts of a token, read but not believed.
struct Parts {
  std::string algorithm, key_id;  // of the header; key_id may be empty
  std::string issuer;             // of the claims
};
// Code::unauthenticated for what is no signed token, has an algorithm that is not by public key, or has
// parameters that must be understood and are not.
Result<Parts> read_parts(std::string_view token);
// Three parts with dots between them, as every signed token has.
bool looks_like_token(std::string_view text);

// Public keys of an issuer. Only those that sign: keys for encryption and secrets shared with others are left
// out, and so are RSA keys under 2048 bits.
class KeySet {
 public:
  // Code::data_loss for what is no set of keys.
  static Result<KeySet> parse(std::string_view json);

  // The claims of the token if one of the keys signed it: the one with the token's key id, and if the token
  // names none, the only one of the algorithm's kind. The key decides which algorithms are good for it.
  // Code::not_found if there is no such key, Code::unauthenticated if the signature is wrong.
  Result<boost::json::object> verify(std::string_view token, const Parts& parts) const;
  std::size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::string id, type, curve, algorithm;
    std::string json;  // as the issuer wrote it
  };
  Result<const Key*> choose(const Parts& parts) const;
  std::vector<Key> keys_;
};

struct Expected {
  std::string issuer, audience;
  std::chrono::seconds skew{60};
  WallTime now;
};
// Code::unauthenticated for claims of another issuer or audience, out of their time, or without `sub` or
// `exp`.
Result<void> check_claims(const boost::json::object& claims, const Expected& expected);

}  // namespace atl::auth::oidc
