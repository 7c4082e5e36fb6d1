#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "os/task.h"
#include "sandbox/isolation.h"
#include "sandbox/sandbox.h"
#include "sandbox/spec.h"

namespace atl::sandbox {

struct PoolLevel {
  std::string environment;
  std::uint32_t ready = 0;
  std::uint32_t target = 0;
};

// What makes sandboxes. Belongs to the loop thread; many create calls may be under way at once.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;  // "native", "virtual", ...
  virtual const Traits& traits() const = 0;
  // What this machine gives, found out by trying, not by asking.
  virtual Isolation probed() const = 0;
  // A sandbox that is ready to run, or the reason why not; a failed create leaves nothing behind.
  virtual Task<std::unique_ptr<Sandbox>> create(Spec spec) = 0;
  // Sandboxes of an earlier daemon that still run and can be taken back, by id.
  virtual std::vector<std::string> adoptable() = 0;
  virtual Task<std::unique_ptr<Sandbox>> adopt(std::string id) = 0;
  // Removes a snapshot that Sandbox::snapshot wrote; one that is not there is success. Its files may belong to
  // ids that only the provider has power over.
  virtual Task<void> discard_snapshot(std::string directory);
  // The kernels that Sandbox::capture() put beside a snapshot; its files stay.
  virtual void discard_kernels(const std::string& directory);
  virtual std::vector<PoolLevel> pools() const = 0;
  // Ends everything, pools included.
  virtual Task<void> shut_down() = 0;
};

}  // namespace atl::sandbox
