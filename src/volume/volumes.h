#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "os/fair_pool.h"
#include "os/task.h"
#include "os/turn.h"
#include "store/store.h"
#include "volume/disks.h"
#include "volume/tree.h"

namespace atl::volume {

// Who keeps a volume to its size: the kernel, because the volume has a filesystem of its own, or we, who look
// now and then.
enum class Enforcement { filesystem, measured };
std::string_view to_string(Enforcement enforcement);

// A directory that outlives sandboxes.
struct Volume {
  std::string id;  // "vol_" and 20 characters
  std::string tenant;
  std::string name;
  WallTime created_at;
  Enforcement enforced = Enforcement::measured;
  Bounds bounds;  // of one with a filesystem of its own: those that it was made with
};

// As many uploads as one likes may begin while there is room for one of them, so they are counted together.
struct Arriving {
  std::uint64_t unmeasured = 0;  // bytes since the volume was looked at
  bool over = false;             // as the last look found it
};

struct VolumeOptions {
  std::uint64_t bytes_max = 10ULL << 30;  // of one volume
  std::uint64_t inodes_max = 500'000;     // of one volume, but at most one for every 4 KiB of its size
  std::uint32_t count_max = 100;          // of one tenant
  Bounds bounds() const {
    return {bytes_max, std::min(inodes_max, std::max<std::uint64_t>(16, bytes_max / 4096))};
  }
};

// The volumes of every tenant. A volume of another tenant is Code::not_found, exactly as one that does not
// exist. Belongs to the loop thread; what touches the disk happens on threads of its own.
class Volumes {
 public:
  // Everything lies below `directory`, made with mode 0700; the key that makes tokens is a 0600 file there.
  // With `disks` new volumes have filesystems of their own, where the machine can give them; those that have
  // none stay as they are. It must outlive this.
  static Result<std::unique_ptr<Volumes>> open(store::Store& store, std::string directory,
                                               VolumeOptions options, Disks* disks = nullptr,
                                               Clock& clock = Clock::machine());

  // Names have 1 to 128 characters of [A-Za-z0-9_-]. Code::already_exists, Code::resource_exhausted.
  Task<Volume> create(std::string tenant, std::string name);
  Task<Volume> get(std::string tenant, std::string id_or_name);
  Task<std::vector<Volume>> list(std::string tenant);
  // What all of them hold together, in bytes; those without a filesystem of their own are walked over, at
  // most every few seconds.
  Task<std::uint64_t> bytes_of(std::string tenant);
  // Somebody wrote into it or removed something: bytes_of() looks again.
  void note_changed(const Volume& volume) { measured_.erase(volume.id); }
  // The uploads into one volume that are on their way. Each holds it as long as it lasts.
  std::shared_ptr<Arriving> arriving_in(const Volume& volume);
  // `bytes` more came. True: it is time for mountable(), because much came since the last look or because
  // that one found the volume too full; never of a volume that the kernel keeps to its size.
  static bool is_due(const Volume& volume, Arriving& arriving, std::uint64_t bytes);
  // With its content. Whoever calls has made sure that nobody has it mounted.
  Task<void> remove(std::string tenant, std::string id_or_name);

  // What opens the content of one volume without a key. The same every time.
  std::string token(const Volume& volume) const;
  // The volume that `token` opens. Code::unauthenticated if it is not `id`'s, Code::not_found if it is gone.
  Task<Volume> opened_by(std::string token, std::string id);

  // Whether files can belong to every id inside: only root can give files away. Otherwise everything is
  // `user`'s.
  static bool keeps_ids();
  // The host's directory that sandboxes mount. Code::no_space if the volume is over its limit and only we
  // keep it to that.
  Task<std::string> mountable(Volume volume);

  // Runs `work` (Result<T>(Tree&)) off the loop.
  template <class T, class Work>
  Task<T> with_tree(Volume volume, Work work) {
    CO_TRY(const auto top, co_await top_of(volume));
    auto job = [top, volume, path = path_of(volume), work = std::move(work)]() mutable -> Result<T> {
      Tree tree = TRY(top ? Tree::open(top->get(), volume.bounds, Counting::filesystem)
                          : Tree::open(path, volume.bounds));
      return work(tree);
    };
    co_return co_await disk_.run<T>(volume.tenant, std::move(job));
  }
  // Runs `work` (Result<T>()) off the loop: for handles that a tree of this tenant's gave.
  template <class T, class Work>
  Task<T> off_loop(const std::string& tenant, Work work) {
    return disk_.run<T>(tenant, std::move(work));
  }

 private:
  Volumes(store::Store& store, std::string directory, VolumeOptions options, Disks* disks, Clock& clock)
      : store_(store), directory_(std::move(directory)), options_(options), disks_(disks), clock_(clock) {}
  // The top of the volume's own filesystem; null if it has none.
  Task<std::shared_ptr<os::Fd>> top_of(Volume volume);
  Volume from_row(const store::DocumentRow& row) const;
  // Its files, and its filesystem if it has one.
  Task<void> erase(Volume volume);
  std::string path_of(const Volume& volume) const { return directory_ + "/" + volume.id; }
  std::string token_of(std::string_view tenant, std::string_view id) const;

  store::Store& store_;
  std::string directory_;
  VolumeOptions options_;
  Disks* disks_;
  Clock& clock_;
  std::map<std::string, std::shared_ptr<os::Fd>> tops_;        // by id, once opened
  std::map<std::string, std::shared_ptr<os::Turn>> openings_;  // by id: one opens, the others wait for it
  // Of volumes that have to be walked over: what they held, and when.
  struct Measured {
    std::uint64_t bytes = 0;
    SteadyTime at{};
  };
  std::map<std::string, Measured> measured_;                 // by id
  std::map<std::string, std::weak_ptr<Arriving>> arriving_;  // by id
  std::string key_;
  os::FairPool disk_{4};  // half a million files are removed and measured in many seconds
};

}  // namespace atl::volume
