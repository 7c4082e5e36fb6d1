#pragma once

#include <string_view>
#include <vector>

#include "sandbox/provider.h"

namespace atl::session {

// The providers of this service; they outlive it.
using Providers = std::vector<sandbox::Provider*>;

// Null if there is none of this name.
inline sandbox::Provider* find_provider(const Providers& providers, std::string_view name) {
  for (sandbox::Provider* provider : providers)
    if (provider->name() == name) return provider;
  return nullptr;
}

}  // namespace atl::session
