#include "session/providers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace atl::session {

Result<sandbox::Provider*> require_provider(const Providers& providers, std::string_view name) {
  const auto refuse = [](Code code, std::string message) {
    return fail(Error(code, std::move(message)).with_field("provider"));
  };
  if (sandbox::Provider* const found = find_provider(providers, name)) {
    const std::string reason = found->unavailable_because();
    if (reason.empty()) return found;
    return refuse(Code::unavailable, fmt::format("provider {} does not work now: {}", name, reason));
  }
  if (!is_provider_name(name))
    return refuse(Code::invalid_argument, fmt::format("no provider is called '{}': there are {}", name,
                                                      fmt::join(kProviderNames, ", ")));
  const auto absent = std::ranges::find(providers.absent(), name, &AbsentProvider::name);
  return refuse(Code::unsupported,
                fmt::format("provider {} does not work here: {}", name,
                            absent == providers.absent().end() ? "it was not set up" : absent->reason));
}

}  // namespace atl::session
