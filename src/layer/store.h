#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layer/digest.h"
#include "os/fd.h"

// The layers of a data directory, each once, named by what it holds. Every operation is safe beside other
// processes on the same directory (a service, commands) and leaves either the old or the new state when it is
// killed half-way; what such an end leaves behind is swept when the store is opened next.
namespace atl::layer {

struct Layer {
  std::string digest;  // 64 hexadecimal digits
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

// A root filesystem: layers, lowest first, and what an image says about the programs in it.
struct Stack {
  std::string name;
  std::vector<std::string> layers;
  std::string source;      // where it came from, for people: "import ubuntu.tar", "build"
  std::string recipe;      // what made all of its layers (build.h); empty: something else had a hand in it
  std::string created_at;  // RFC 3339
  std::map<std::string, std::string> env;
  std::string user;
  std::string working_directory;
};

// Somebody who needs layers to stay: a sandbox, a snapshot, an import under way.
struct Reference {
  std::string holder;  // unique; letters, digits, '-', '_' and '.'
  std::string stack;   // by which name it came to them; may be empty
  std::string recipe;  // as in Stack
  std::vector<std::string> layers;
  // Not zero: the reference lives as long as this process at the most.
  pid_t process = 0;
  std::uint64_t process_started = 0;  // filled in by the store
};

class Store;

// An empty directory to be filled and then put into the store. Gone, with its content, unless it was put;
// also when the process is killed (swept by the next who opens the store).
class Draft {
 public:
  Draft(Draft&&) noexcept = default;
  Draft& operator=(Draft&&) = delete;
  ~Draft();
  // The tree that will be the layer.
  int tree() const { return tree_.get(); }
  std::string tree_path() const { return path_ + "/tree"; }
  // Beside the tree, for files on the way: never part of the layer.
  int room() const { return directory_.get(); }
  const std::string& room_path() const { return path_; }

 private:
  friend class Store;
  Draft() = default;
  std::string path_;
  os::Fd directory_, tree_, lock_;
};

// A process's own reference to what it is working with, released at the end of its scope.
class Claim {
 public:
  Claim(Claim&& other) noexcept : store_(std::exchange(other.store_, nullptr)), holder_(other.holder_) {}
  Claim& operator=(Claim&&) = delete;
  ~Claim();
  const std::string& holder() const { return holder_; }

 private:
  friend class Store;
  Claim(Store* store, std::string holder) : store_(store), holder_(std::move(holder)) {}
  Store* store_;
  std::string holder_;
};

struct DiskUse {
  std::uint64_t layers = 0, bytes = 0;                // all
  std::uint64_t unused_layers = 0, unused_bytes = 0;  // what collect() would remove
};

// Whether put() waits until the disk has everything. Tests may do without.
enum class Durability : std::uint8_t { synced, unsynced };

class Store {
 public:
  // Opens or creates `directory`, and sweeps what interrupted work left there.
  static Result<std::unique_ptr<Store>> open(std::string directory,
                                             Durability durability = Durability::synced);

  Owners owners() const { return owners_; }
  OverlayAttributes attributes() const { return attributes_for(owners_); }

  // Layers.
  Result<Draft> draft();
  // Names the draft's tree by its digest; a layer that exists already stays and the draft goes. The layer
  // belongs to the claim from before it can be seen, so no collect() takes it away meanwhile.
  Result<Layer> put(Draft draft, const Claim& claim);
  // Code::not_found if there is none.
  Result<Layer> find(const std::string& digest) const;
  // Reads the whole layer again. Code::data_loss if it is not what its name says.
  Result<void> verify(const std::string& digest) const;
  // Its tree on this machine: what a sandbox::Spec takes. Does not check that it exists.
  std::string path(const std::string& digest) const;
  Result<std::vector<Layer>> layers() const;

  // Stacks, by name. A name has letters, digits, '-', '_' and '.', at most 64, and does not start with '.'.
  Result<void> save(const Stack& stack);
  Result<Stack> stack(const std::string& name) const;
  Result<std::vector<Stack>> stacks() const;
  // Code::conflict while somebody refers to it.
  Result<void> remove(const std::string& name);
  // Changes whenever a stack is saved or removed, by whomever.
  std::uint64_t generation() const;

  // References.
  Result<Claim> claim();
  Result<void> extend(const Claim& claim, const std::vector<std::string>& layers);
  Result<void> refer(Reference reference, Durability durability = Durability::synced);
  // Code::not_found if the holder has none.
  Result<Reference> reference(const std::string& holder) const;
  Result<void> release(const std::string& holder);
  // Those in force; what a dead process left does not count.
  Result<std::vector<Reference>> references() const;
  // Removes layers that nobody refers to.
  Result<DiskUse> collect();
  Result<DiskUse> disk_use() const;

  // Which layer a build step gave, by a digest of everything that went into it. Not a reference.
  std::optional<std::string> cached(const std::string& key) const;
  Result<void> cache(const std::string& key, const std::string& digest);

 private:
  Store(std::string directory, Durability durability);
  Result<void> prepare();
  Result<void> sweep();
  Result<os::Fd> lock() const;
  Result<void> write_document(const char* folder, const std::string& name, const std::string& text,
                              Durability durability);
  Result<void> put_reference(const Reference& reference, Durability durability);
  Result<std::vector<Layer>> unused() const;

  std::string directory_;
  Durability durability_;
  Owners owners_;
  os::Fd trees_, stacks_, references_, cache_, incoming_;
};

// "python", "Python3", "node-20.1": what may name a stack or an environment.
bool is_name(std::string_view text);

}  // namespace atl::layer
