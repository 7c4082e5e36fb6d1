#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/provider.h"

namespace atl::session {

// The providers that this program knows. A name outside of this list is a caller's mistake; one of the list
// that is not in the table below is a matter of this machine.
inline constexpr std::string_view kProviderNames[] = {"native", "virtual", "docker", "gvisor", "e2b"};

inline bool is_provider_name(std::string_view name) {
  return std::ranges::find(kProviderNames, name) != std::end(kProviderNames);
}

// One that could not be made when the service started.
struct AbsentProvider {
  std::string name;
  std::string reason;      // with the way to get it
  sandbox::Traits traits;  // what it could do
};

// The providers of this service, which outlive it, and those that it lacks. Iterating gives the present ones.
// Constant once the service was made; belongs to the loop thread.
class Providers {
 public:
  Providers() = default;
  Providers(std::initializer_list<sandbox::Provider*> present) : present_(present) {}

  void push_back(sandbox::Provider* provider) { present_.push_back(provider); }
  void add_absent(AbsentProvider absent) { absent_.push_back(std::move(absent)); }

  auto begin() const { return present_.begin(); }
  auto end() const { return present_.end(); }
  const std::vector<AbsentProvider>& absent() const { return absent_; }

 private:
  std::vector<sandbox::Provider*> present_;
  std::vector<AbsentProvider> absent_;
};

// Null if there is none of this name.
inline sandbox::Provider* find_provider(const Providers& providers, std::string_view name) {
  for (sandbox::Provider* provider : providers)
    if (provider->name() == name) return provider;
  return nullptr;
}

// The provider of this name, in working order. Code::invalid_argument for a name that no provider has,
// Code::unsupported for one that this service lacks, Code::unavailable for one that does not work at this
// moment; each with the field "provider", the last two with the reason.
Result<sandbox::Provider*> require_provider(const Providers& providers, std::string_view name);

}  // namespace atl::session
