#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace atl::os {

// Addresses that have the first `bits` bits in common; one address if it is all of them.
struct LocalRange {
  bool is_v6 = false;
  std::array<std::uint8_t, 16> bytes{};  // IPv4: the first four
  unsigned bits = 0;
};

// Every address that this process's network namespace takes for its own: those of all interfaces, and ranges
// that are routed to the machine itself. Read from the kernel by netlink. The kernel reports changes to a
// socket that is emptied with every call, so an answer is never older than the call. Any thread may call.
class LocalAddresses {
 public:
  // Fails if the kernel does not tell.
  static Result<std::unique_ptr<LocalAddresses>> open();

  Result<std::vector<LocalRange>> now() const;

 private:
  explicit LocalAddresses(Fd events) : events_(std::move(events)) {}
  // Whether anything that concerns us was reported since the last call.
  bool has_changed() const;

  Fd events_;
  mutable std::mutex mutex_;
  mutable bool is_stale_ = true;  // also after a failure to read, so that the next call tries again
  mutable std::vector<LocalRange> known_;
};

}  // namespace atl::os
