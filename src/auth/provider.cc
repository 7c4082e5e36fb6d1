#include "auth/provider.h"

namespace atl::auth {

Task<std::optional<Principal>> KeyProvider::identify(const Presented& shown) {
  if (!shown.credential.starts_with("e2b_")) co_return std::optional<Principal>();
  CO_TRY(Principal who, keys_.check(shown.credential, shown.address));
  co_return std::optional<Principal>(std::move(who));
}

}  // namespace atl::auth
