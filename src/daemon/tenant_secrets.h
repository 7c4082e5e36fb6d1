#pragma once

#include <string>
#include <utility>

#include "daemon/auditing.h"
#include "egress/header_value.h"
#include "vault/vault.h"

namespace atl::daemon {

// What the header rules of one tenant's sessions may name.
class TenantSecrets final : public egress::Secrets {
 public:
  TenantSecrets(vault::Vault& vault, Auditing& auditing, std::string tenant)
      : vault_(vault), auditing_(auditing), tenant_(std::move(tenant)) {}
  Task<std::string> reveal(std::string name) override {
    auditing_.tell_secret(tenant_, name);
    return vault_.reveal(tenant_, std::move(name));
  }
  Task<std::string> unseal(std::string sealed) override { co_return vault_.unseal(tenant_, sealed); }

 private:
  vault::Vault& vault_;
  Auditing& auditing_;
  std::string tenant_;
};

}  // namespace atl::daemon
