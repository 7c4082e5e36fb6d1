#include "registry/provider_wishes.h"

namespace atl::registry {
namespace {

std::string text_of(const Entry* entry, std::string_view key) {
  const config::Node* const node = entry == nullptr ? nullptr : entry->document.root.find(key);
  return node == nullptr || !node->is_scalar() ? std::string() : node->text();
}

}  // namespace

std::string demanded_provider(const Registry& registry, std::string_view policy) {
  std::string name(policy), provider;
  // Policies that extend each other in a circle are not loaded.
  while (!name.empty() && provider.empty()) {
    const Entry* const entry = registry.entry("policies", name);
    provider = text_of(entry, "provider");
    name = text_of(entry, "extends");
  }
  return provider;
}

std::string preferred_provider(const Registry& registry, std::string_view environment) {
  return text_of(registry.entry("environments", environment), "provider");
}

}  // namespace atl::registry
