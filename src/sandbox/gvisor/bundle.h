#pragma once

#include <string>
#include <vector>

#include "sandbox/spec.h"

namespace atl::sandbox::gvisor {

// Where the guest's program lies inside: a directory of its own, in the lowest layer.
inline constexpr const char* kGuestDirectory = "/.atoll";
inline constexpr const char* kGuestProgram = "/.atoll/guest";

struct BundleMount {
  std::string source;  // a directory of the host
  std::string inside;
  bool writable = false;
};

struct BundleOptions {
  std::string container;  // runsc's name for it
  std::string root;       // the root filesystem, a directory of the host
  std::string group;      // path of its control group; empty: none
  std::vector<BundleMount> mounts;
};

// Tasks of the host that the kernel may count for one sandbox: threads of the workload, each of which is one
// task of the host, and those of gVisor's own two processes.
std::uint64_t tasks_max(const Limits& limits);
// Bytes of /dev/shm, which gVisor keeps in memory.
std::uint64_t shared_memory_max(const Limits& limits);

// Whether one container can become what either of them asks for: the bundle, mounts and groups are the same.
bool is_same_kind(const Spec& a, const Spec& b);

// The OCI configuration (config.json) of a sandbox: its first process is the guest on the standard streams,
// with the capabilities that root inside keeps; limits as far as OCI has words for them.
std::string bundle_config(const Spec& spec, const BundleOptions& options);

}  // namespace atl::sandbox::gvisor
