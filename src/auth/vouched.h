#pragma once

#include <string>
#include <vector>

#include "auth/provider.h"
#include "auth/role_map.h"

// Identities that somebody else has checked: a reverse proxy, or the TLS handshake.
namespace atl::auth {

// A header in which a trusted proxy names the user. The same header from anybody else is nothing.
class ProxyProvider final : public IdentityProvider {
 public:
  struct Options {
    std::vector<egress::Cidr> proxies;  // whose headers are believed
    std::string user_header, groups_header;
    RoleMap roles;  // of groups, separated by commas in their header, and of the user's name
  };
  // `roles` must outlive it.
  ProxyProvider(Options options, const Roles& roles) : options_(std::move(options)), roles_(roles) {}
  std::string_view name() const override { return "proxy"; }
  Task<std::optional<Principal>> identify(const Presented& shown) override;

 private:
  Options options_;
  const Roles& roles_;
};

// The common name of a client certificate that the TLS listener verified.
class CertificateProvider final : public IdentityProvider {
 public:
  CertificateProvider(RoleMap subjects, const Roles& roles) : subjects_(std::move(subjects)), roles_(roles) {}
  std::string_view name() const override { return "mtls"; }
  Task<std::optional<Principal>> identify(const Presented& shown) override;

 private:
  RoleMap subjects_;
  const Roles& roles_;
};

}  // namespace atl::auth
