#pragma once

#include <cstdint>

#include "base/result.h"

// Who of a service may have how many of its open files. Every part has its own bound, and what is left over
// stays a reserve, so that clients who only hold connections cannot take what sandboxes, the store and the
// spawner need.
namespace atl::os {

struct DescriptorBudget {
  std::uint64_t limit = 0;              // open files that the kernel gives this process
  std::uint64_t reserve = 0;            // files, the store, listeners, and whatever nobody counted
  std::uint64_t sandboxes = 0;          // streams and handles of sandboxes
  std::uint64_t connections = 0;        // of clients of the API
  std::uint64_t egress = 0;             // from all sandboxes to the world
  std::uint64_t egress_of_tenant = 0;   // from one tenant's
  std::uint64_t egress_of_session = 0;  // from one sandbox
};

// Raises the soft limit on open files to the hard one and gives what is in force then. Programs that are
// started later inherit it.
Result<std::uint64_t> raise_descriptor_limit();

// Divides `limit` open files. Every part is at least one; the parts and the reserve together never exceed the
// limit. Code::unsupported below 256: with so few a service cannot keep any promise.
Result<DescriptorBudget> divide_descriptors(std::uint64_t limit);

}  // namespace atl::os
