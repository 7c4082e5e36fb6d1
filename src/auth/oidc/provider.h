#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "auth/oidc/token.h"
#include "auth/provider.h"
#include "auth/role_map.h"
#include "net/client.h"
#include "os/turn.h"

namespace atl::auth::oidc {

struct Options {
  std::string issuer;    // exactly as tokens name it
  std::string audience;  // tokens for anybody else are refused
  std::string claim;     // text or list of texts
  RoleMap roles;
  std::chrono::seconds skew{60};
  std::string ca_file;                 // PEM; empty: the machine's authorities
  std::chrono::seconds keep{600};      // how long keys are used before they are asked for again
  std::chrono::seconds ask_again{10};  // the soonest that an unknown key makes us ask again
  std::chrono::milliseconds patience{5000};
};

// Bearer tokens of one OpenID Connect issuer. Its keys are found by discovery, kept for a while, and asked
// for again when a token names one that is not known, at most every few seconds. While the issuer cannot be
// reached, keys that are known stay good. Belongs to the loop thread.
class Provider final : public IdentityProvider {
 public:
  // Code::invalid_argument with the setting's name: an issuer that is no https address (http only on this
  // machine), no audience, no roles.
  static Result<std::unique_ptr<Provider>> make(boost::asio::any_io_executor executor, Options options,
                                                const Roles& roles, Clock& clock = Clock::machine());

  std::string_view name() const override { return "oidc"; }
  Task<std::optional<Principal>> identify(const Presented& shown) override;
  // How often the issuer was asked for keys.
  std::uint64_t fetches() const { return fetches_; }

 private:
  Provider(boost::asio::any_io_executor executor, Options options, const Roles& roles, Clock& clock);
  enum class Need { usual, unknown_key };
  // Keys that are fresh enough for this need. Code::unavailable if there are none and none can be had.
  Task<std::shared_ptr<const KeySet>> keys(Need need);
  Task<std::shared_ptr<const KeySet>> fetch();
  Task<boost::json::object> get(std::string url);

  boost::asio::any_io_executor executor_;
  Options options_;
  const Roles& roles_;
  Clock& clock_;
  os::Turn turn_;
  std::shared_ptr<const KeySet> keys_;
  SteadyTime fetched_at_{}, asked_at_{};
  std::uint64_t fetches_ = 0;
};

}  // namespace atl::auth::oidc
