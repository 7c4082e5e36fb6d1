#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "registry/ceilings.h"
#include "session/execution_engine.h"
#include "session/provider_rules.h"
#include "session/types.h"

namespace atl::session {

// How much one tenant may have stored, and for how long. Zero: no bound. What one tenant stores never makes
// anything of another tenant's go.
struct Keeping {
  std::uint64_t snapshot_count = 0, snapshot_bytes = 0;
  std::chrono::milliseconds snapshots{0};
  std::uint64_t paused_count = 0, paused_bytes = 0;  // sessions that are paused on the disk
  std::chrono::milliseconds paused{0};
  std::uint64_t artifact_bytes = 0;
};

// What the operator decides about the sessions of this machine. Constant once the service was made.
struct ServiceOptions {
  std::string default_provider = "native";  // or "auto"
  ProviderRules provider_rules;             // of "auto"
  std::string default_environment = "host";
  std::chrono::milliseconds default_ttl = std::chrono::hours(1);
  std::chrono::milliseconds max_ttl = std::chrono::hours(24 * 30);
  // A session that is unused for this long and runs nothing is ended or paused, as at the end of its time to
  // live. Zero: never.
  std::chrono::milliseconds idle_after{0};
  // A session that is paused in memory for this long goes to the disk if nothing of it would be lost. Zero:
  // never.
  std::chrono::milliseconds to_disk_after{0};
  std::chrono::milliseconds keep_ended = std::chrono::hours(24 * 7);  // ended sessions stay readable
  std::chrono::milliseconds keep_records = std::chrono::hours(24 * 30);
  std::int64_t record_bytes_max = 1LL << 30;
  // Sessions of one tenant that may run at once: one more is Code::resource_exhausted. Zero: no bound.
  std::uint32_t running_per_tenant = 0;
  // Sandboxes that may exist on this machine, those paused in memory included: one more is Code::unavailable.
  // Zero: no bound.
  std::uint32_t sandboxes_max = 0;
  // A request beyond them is refused; defaults that nobody asked for are cut to them.
  registry::Ceilings ceilings;
  Keeping keeping;
  std::string snapshot_directory;  // empty: no snapshots, no forks, no pause on the disk
  Ports ports = Ports::open;       // closed: those of every session are, whatever it asked for
  std::chrono::milliseconds sample_every{5000};
  ExecutionEngine::Options execution;
};

}  // namespace atl::session
