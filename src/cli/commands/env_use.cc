#include <unistd.h>

#include "base/ids.h"
#include "cli/commands/env.h"

namespace atl::cli {

EnvironmentUse::~EnvironmentUse() {
  (void)store_.release(holder_);
}

Result<std::unique_ptr<EnvironmentUse>> use_environment(layer::Store& store,
                                                        const registry::Environment& environment) {
  if (environment.digests.empty()) return nullptr;
  const std::string holder = "run-" + random_word(16);
  TRY(store.refer(
      {.holder = holder, .stack = environment.stack, .layers = environment.digests, .process = ::getpid()},
      layer::Durability::unsynced));
  return std::make_unique<EnvironmentUse>(store, holder);
}

}  // namespace atl::cli
