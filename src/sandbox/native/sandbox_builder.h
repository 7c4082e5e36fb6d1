#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/filter.h"
#include "sandbox/native/image_maker.h"
#include "sandbox/native/parts_pool.h"
#include "sandbox/native/rootless.h"
#include "sandbox/native/roots.h"
#include "sandbox/native/spawner.h"
#include "sandbox/native/volume_disk.h"
#include "sandbox/native/walls.h"
#include "sandbox/spec.h"

namespace atl::sandbox::native {

// What a built sandbox consists of, seen from the host.
// Owned by the spawner. Closing the descriptors does not end the guest: kill and reap it, then give the parts
// back to the pool.
struct Built {
  os::Fd stream;    // the host's end
  os::Fd handover;  // to give the guest another stream
  os::Fd pidfd;
  os::Fd upper;
  pid_t pid = 0;
  Parts parts;
  Isolation isolation;
  // Its /usr began as that of a zygote: the host's, or that of trusted layers, and nothing over it.
  bool plain_usr = false;
  // Its writable layer is on the disk: closing `upper` may wait for that.
  bool on_disk = false;
};

// What a sandbox writes to, beside memory.
struct Disk {
  os::Fd mount;    // closed: files are kept in memory
  ImageSize size;  // of the image that is mounted
};

// True if there is nothing in that directory, or no such directory. A link is something.
bool is_empty(int directory, const char* name);

// The spawner's tools and its prepared parts: its tiny root, compiled filters, control groups, prepared
// parts. Lives in the spawner process only.
class SandboxBuilder {
 public:
  // Moves the calling process into its own mount namespace with a tiny root. On failure the process is
  // unusable.
  static Result<SandboxBuilder> open(const SpawnerOptions& options);

  // A sandbox whose guest is running, or the reason; a failure leaves nothing behind.
  Result<Built> build(const Spec& spec, Disk disk);
  // The image that such a sandbox should have; none: a tmpfs will do, because it stays small beside the
  // memory it counts as, or because this machine has no images.
  std::optional<ImageSize> image_for(const Spec& spec) const;
  ImageMaker& images() { return images_; }
  const ImageMaker& images() const { return images_; }
  const Roots& roots() const { return roots_; }
  // Detached mounts of layers for a zygote. Code::permission_denied unless each is root's alone to change.
  Result<std::vector<os::Fd>> zygote_layers(const std::vector<std::string>& paths);
  // Once it is where it stays: from here on parts are made ahead.
  void begin();
  PartsPool& parts_pool() { return *parts_pool_; }
  // After the last sandbox.
  void close();

  // Everything inside goes on: by the kernel's freezer, or by signals where there is none.
  Result<void> thaw(const Built& built);

  CgroupTree& cgroups() { return cgroups_; }
  const Privileges& privileges() const { return privileges_; }
  const std::string& cgroup_parent() const { return cgroup_parent_; }
  const Isolation& probed() const { return probed_; }
  bool realtime() const { return realtime_; }
  const Filter& filter() const { return filter_; }
  int proc() const { return proc_.get(); }
  // Leaves the tiny root for good: for a child that writes to the host's filesystem.
  bool enter_host();
  // Back, for a child that has what it wanted.
  bool leave_host_again();

  // Filesystems of volumes, by the volume's directory on the host.
  bool can_mount_volumes() const { return loop_control_.is_open() && !privileges_.rootless; }
  // Code::permission_denied for a directory that is not beneath a root that may be written.
  Result<VolumeDiskJob> volume_job(const std::string& directory, std::uint64_t bytes,
                                   std::uint64_t inodes) const;
  // From here on sandboxes that mount something of that directory get it from this filesystem.
  Result<void> keep_volume(const std::string& directory, os::Fd mount);
  // Where it is mounted; nothing if it is not.
  std::optional<std::string> volume_directory(const std::string& directory) const;
  // Sandboxes that have it mounted keep it.
  void drop_volume(const std::string& directory);

 private:
  SandboxBuilder() = default;
  // As root if this process is, else as an ordinary user; then alone with its mounts.
  Result<void> leave_host(const RootPaths& paths);
  Result<void> make_mappable_room(const std::string& at);
  // An ordinary user's layers are that user's: ids of the sandbox that fit.
  Result<void> map_layers(const Spec& spec, Slot& slot);
  Result<void> gather_mounts(const Spec& spec, WallPlan& plan);
  // A detached copy of a directory of the host, mapped to the ids of `user_namespace`. By its descriptor, or
  // by a path that is no daemon's.
  Result<os::Fd> from_host(int directory, const char* path, const os::Fd& user_namespace, bool writable);
  Result<void> add_host_mount(const HostMount& mount, WallPlan& plan);
  // The same of the filesystem of a volume, if the directory is one's.
  std::optional<Result<os::Fd>> from_volume(const std::string& path, const os::Fd& user_namespace,
                                            bool writable);
  // A map in which the owner of the directory is `user` inside.
  Result<os::Fd> map_for_owner(const os::Fd& directory, const Slot& slot);

  os::Fd host_mounts_;  // the host's mount namespace
  os::Fd own_mounts_;
  os::Fd proc_;
  os::Fd null_;
  Filter filter_;
  ProcCover cover_;
  ProcViews views_;
  std::vector<int> ignored_signals_;
  ImagePlace image_place_;  // until it is the maker's
  ImageMaker images_;
  os::Fd loop_control_;
  std::map<std::string, std::string> volumes_;  // directory on the host to mount point in the tiny root
  std::uint64_t volume_serial_ = 0;
  Roots roots_;
  Privileges privileges_;
  CgroupTree cgroups_;
  std::unique_ptr<PartsPool> parts_pool_;
  std::vector<layer::HostPart> host_parts_;
  std::string cgroup_parent_;
  std::uint32_t slots_wanted_ = 0;
  bool realtime_ = false;
  Isolation probed_;
};

}  // namespace atl::sandbox::native
