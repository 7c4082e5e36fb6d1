#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "os/fd.h"
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

struct VolumeSize {
  std::uint64_t bytes = 0, inodes = 0;
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
  // Why no sandbox can be made at this moment, with the way out ("no container engine answers at ...: start
  // one, or ..."); empty: one can. Cheap: what was found out last, nobody is asked. A provider that can never
  // work on this machine is not made at all (session/providers.h).
  virtual std::string unavailable_because() const { return ""; }
  // The id of the session that a waiting sandbox of this kind was made for, where the provider's sandboxes
  // carry that id from the beginning; it is kept for that session for some seconds. Empty: any id will do.
  virtual std::string reserve_session(const Spec&) { return ""; }
  // Sandboxes of an earlier daemon that still run and can be taken back, by id. A provider that cannot find
  // out says so in the log and names none.
  virtual Task<std::vector<std::string>> adoptable() = 0;
  // Takes one of them back, paused or running as it was; processes keep running. Code::not_found if it has
  // ended since.
  virtual Task<std::unique_ptr<Sandbox>> adopt(std::string id) = 0;
  // Removes a snapshot that Sandbox::snapshot wrote; one that is not there is success. Its files may belong
  // to ids that only the provider has power over.
  virtual Task<void> discard_snapshot(std::string directory);
  // What a snapshot takes on the disk, in bytes, as the disk counts: empty files and directories cost, too,
  // and files that only the provider may read count. Code::not_found if there is none.
  virtual Task<std::uint64_t> snapshot_bytes(std::string directory);
  // The interpreters that Sandbox::checkpoint() put beside a snapshot; its files stay.
  virtual void discard_interpreters(const std::string& directory);
  // The top directory of a filesystem of its own for the volume whose directory on the host this is: made of
  // that size if it is new, mounted if it is not. Sandboxes that mount "<directory>/NAME" get that
  // filesystem's NAME from then on. Code::unsupported where the machine or the provider has none.
  virtual Task<os::Fd> open_volume(std::string directory, VolumeSize size);
  // Unmounts it; one that is not open is success. Sandboxes that have it mounted keep it.
  virtual Task<void> close_volume(std::string directory);
  // Code::invalid_argument, with the field "storage", if the tenant may not use a storage of this name, or if
  // there is none.
  virtual Result<void> check_storage(const StorageUse& use) const;
  // Removes what only this session has in its storage; what others share stays. Nothing there is success.
  virtual Task<void> discard_storage(StorageUse use);
  virtual std::vector<PoolLevel> pools() const = 0;
  // What happened since it was made, by name and for metrics: how many were created, swept, lost.
  virtual std::map<std::string, std::uint64_t> counters() const { return {}; }
  // Ends everything, pools included.
  virtual Task<void> shut_down() = 0;
  // The same for a process that ends at once: whatever lives in other processes is told to end, and nobody
  // waits for it.
  virtual void abandon() {}
};

}  // namespace atl::sandbox
