#pragma once

#include <memory>

#include "egress/internal.h"
#include "os/local_addresses.h"

namespace atl::egress {

// This machine's own addresses as the kernel has them at the moment of the call.
class HostAddresses final : public OwnAddresses {
 public:
  // Fails if the kernel does not tell.
  static Result<std::shared_ptr<HostAddresses>> open();

  Result<std::vector<Cidr>> now() const override;

 private:
  explicit HostAddresses(std::unique_ptr<os::LocalAddresses> local) : local_(std::move(local)) {}
  std::unique_ptr<os::LocalAddresses> local_;
};

}  // namespace atl::egress
