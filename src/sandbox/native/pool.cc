#include "sandbox/native/pool.h"

#include <algorithm>

#include "sandbox/limit_table.h"

namespace atl::sandbox::native {

bool serves(const Spec& mine, const Spec& spec) {
  return spec.layers == mine.layers && spec.trusted_layers == mine.trusted_layers &&
         spec.preimport == mine.preimport && spec.snapshot == mine.snapshot &&
         spec.hostname == mine.hostname && spec.sudo == mine.sudo &&
         bind_sandbox_alike(spec.limits, mine.limits) && spec.host_mounts.empty() && mine.host_mounts.empty();
}

std::unique_ptr<NativeSandbox> Pool::take() {
  while (!ready.empty()) {
    std::unique_ptr<NativeSandbox> sandbox = std::move(ready.front());
    ready.pop_front();
    if (sandbox->is_alive()) return sandbox;
  }
  wanted = std::min(wanted + 1, options.ready * 4);
  last_miss = std::chrono::steady_clock::now();
  return nullptr;
}

void Pool::shrink() {
  const auto now = std::chrono::steady_clock::now();
  if (wanted <= options.ready || now - last_miss < options.calm) return;
  --wanted;
  last_miss = now;
  while (ready.size() > wanted) ready.pop_back();
}

}  // namespace atl::sandbox::native
