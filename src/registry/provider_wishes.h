#pragma once

#include <string>
#include <string_view>

#include "registry/registry.h"

// What declarations say about the provider of sandboxes, as the key `provider` has it.
namespace atl::registry {

// The only provider whose sandboxes may run code under a policy: its own word, else that of the policy it
// extends; empty: any, or there is no such policy.
std::string demanded_provider(const Registry& registry, std::string_view policy);

// The one that an environment prefers where nobody names one; empty: none.
std::string preferred_provider(const Registry& registry, std::string_view environment);

}  // namespace atl::registry
