#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "os/task.h"
#include "store/offload.h"
#include "store/store.h"
#include "volume/tree.h"

namespace atl::volume {

// A directory that outlives sandboxes.
struct Volume {
  std::string id;  // "vol_" and 20 characters
  std::string tenant;
  std::string name;
  WallTime created_at;
};

struct VolumeOptions {
  std::uint64_t bytes_max = 10ULL << 30;  // of one volume
  std::uint32_t count_max = 100;          // of one tenant
};

// The volumes of every tenant. A volume of another tenant is Code::not_found, exactly as one that does not
// exist. Belongs to the loop thread; what touches the disk happens on threads of its own.
class Volumes {
 public:
  // Everything lies below `directory`, made with mode 0700; the key that makes tokens is a 0600 file there.
  static Result<std::unique_ptr<Volumes>> open(store::Store& store, std::string directory,
                                               VolumeOptions options, Clock& clock = Clock::machine());

  // Names have 1 to 128 characters of [A-Za-z0-9_-]. Code::already_exists, Code::resource_exhausted.
  Task<Volume> create(std::string tenant, std::string name);
  Task<Volume> get(std::string tenant, std::string id_or_name);
  Task<std::vector<Volume>> list(std::string tenant);
  // With its content. Whoever calls has made sure that nobody has it mounted.
  Task<void> remove(std::string tenant, std::string id_or_name);

  // What opens the content of one volume without a key. The same every time.
  std::string token(const Volume& volume) const;
  // The volume that `token` opens. Code::unauthenticated if it is not `id`'s, Code::not_found if it is gone.
  Task<Volume> opened_by(std::string token, std::string id);

  // Whether files can belong to every id inside: only root can give files away. Otherwise everything is `user`'s.
  static bool keeps_ids();
  // The host's directory that sandboxes mount. Code::no_space if the volume is over its limit.
  Task<std::string> mountable(const Volume& volume);

  // Runs `work` (Result<T>(Tree&)) off the loop.
  template <class T, class Work>
  Task<T> with_tree(const Volume& volume, Work work) {
    auto job = [path = path_of(volume), max = options_.bytes_max, work = std::move(work)]() mutable -> Result<T> {
      Tree tree = TRY(Tree::open(path, max));
      return work(tree);
    };
    return store::offload<T>(disk_, std::move(job));
  }
  // Runs `work` (Result<T>()) off the loop: for handles that a tree gave.
  template <class T, class Work>
  Task<T> off_loop(Work work) {
    return store::offload<T>(disk_, std::move(work));
  }

 private:
  Volumes(store::Store& store, std::string directory, VolumeOptions options, Clock& clock)
      : store_(store), directory_(std::move(directory)), options_(options), clock_(clock) {}
  std::string path_of(const Volume& volume) const { return directory_ + "/" + volume.id; }
  std::string token_of(std::string_view tenant, std::string_view id) const;

  store::Store& store_;
  std::string directory_;
  VolumeOptions options_;
  Clock& clock_;
  std::string key_;
  boost::asio::thread_pool disk_{2};
};

}  // namespace atl::volume
