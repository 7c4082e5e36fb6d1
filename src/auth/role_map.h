#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/principal.h"
#include "auth/role.h"

namespace atl::auth {

// Which role and tenant somebody has by a word that others vouch for: a group, a common name.
class RoleMap {
 public:
  // "staff=developer@acme, root=admin": the tenant is `default` if none is named. Code::invalid_argument with
  // `setting` as the field.
  static Result<RoleMap> parse(std::string_view text, std::string_view setting);

  // Fills in tenant, role and permissions by the first entry of the map that is among `words`.
  // Code::permission_denied if none is, or the tenant has no such role.
  Result<void> apply(const std::vector<std::string>& words, const Roles& roles, Principal& who) const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    std::string word, role, tenant;
  };
  std::vector<Entry> entries_;
};

// "groups: staff=developer@acme": the claim and its map.
Result<std::pair<std::string, RoleMap>> parse_claim_map(std::string_view text, std::string_view setting);

}  // namespace atl::auth
