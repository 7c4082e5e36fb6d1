#include "sandbox/native/spawner_sandboxes.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "os/process.h"

namespace atl::sandbox::native {

// Entered into the table before the daemon gets its answer: if the daemon is gone by now, the sandbox ends
// with all others.
SpawnedSandbox& SpawnedSandboxes::add(const std::string& name, const Spec& spec, Built built) {
  SpawnedSandbox& sandbox = *all_.emplace(name, std::make_unique<SpawnedSandbox>()).first->second;
  sandbox.built = std::move(built);
  sandbox.spec = spec;
  sandbox.spec.id = name;
  events_.watch(sandbox.built.pidfd.get(), Source::sandbox);
  by_pidfd_[sandbox.built.pidfd.get()] = name;
  return sandbox;
}

SpawnedSandbox* SpawnedSandboxes::find(const std::string& name) {
  SpawnedSandbox* const found = find_any(name);
  return found == nullptr || found->ended ? nullptr : found;
}

SpawnedSandbox* SpawnedSandboxes::find_any(const std::string& name) {
  const auto found = all_.find(name);
  return found == all_.end() ? nullptr : found->second.get();
}

void SpawnedSandboxes::rename(const std::string& from, const std::string& to) {
  auto node = all_.extract(from);
  node.key() = to;
  node.mapped()->spec.id = to;
  by_pidfd_[node.mapped()->built.pidfd.get()] = to;
  all_.insert(std::move(node));
}

std::unique_ptr<SpawnedSandbox> SpawnedSandboxes::remove(const std::string& name) {
  return std::move(all_.extract(name).mapped());
}

std::optional<std::string> SpawnedSandboxes::take_ended(int pidfd) {
  auto node = by_pidfd_.extract(pidfd);
  if (node.empty()) return std::nullopt;
  events_.forget(pidfd);
  return std::move(node.mapped());
}

std::optional<std::string> SpawnedSandboxes::take_ticket(std::uint64_t ticket) {
  auto node = by_ticket_.extract(ticket);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

// SIGKILL to process 1 of the namespace ends everything in it; the group catches what could not be in it. A
// frozen process takes the signal when it goes on and not before.
void SpawnedSandboxes::kill(SpawnedSandbox& sandbox) {
  if (sandbox.ended) return;
  (void)os::pidfd_kill(sandbox.built.pidfd.get(), SIGKILL);
  if (sandbox.frozen || sandbox.freezing) (void)builder_.thaw(sandbox.built);
}

void SpawnedSandboxes::kill_all() {
  for (auto& [name, sandbox] : all_) kill(*sandbox);
}

bool SpawnedSandboxes::has_children_of(std::uint64_t generation) const {
  return std::ranges::any_of(all_, [&](const auto& sandbox) {
    return std::ranges::any_of(sandbox.second->interpreters,
                               [&](const auto& one) { return one.second.generation == generation; });
  });
}

}  // namespace atl::sandbox::native
