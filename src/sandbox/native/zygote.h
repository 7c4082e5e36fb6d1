#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/filter.h"

// Interpreters that are forked ready: a zygote is a Python that has imported what programs usually want and
// then does nothing but fork. It runs in a root of its own that holds our files and the host's /usr, or
// layers that came of recipes of ours; it never runs a user's code and never sees a layer that a user made.
// Its children enter a sandbox and give up their power by the same steps as process 1 (guest/zygote/drop.h).
namespace atl::sandbox::native {

struct ZygoteOptions {
  bool enabled = true;
  // Imported beside a fixed list of standard ones; what a Spec asks for is added.
  std::vector<std::string> modules;
  // Children of one zygote share its hash seed and addresses: it is replaced after so many or so long.
  std::uint32_t children_max = 500;
  std::chrono::minutes age_max{10};
};

// What tells zygotes apart: two of one kind fork the same interpreters.
struct ZygoteKind {
  std::vector<std::string> modules;  // one that cannot be imported is told by complaint()
  std::vector<std::string> layers;   // what it runs in, lowest first; empty: the host's /usr
  auto operator<=>(const ZygoteKind&) const = default;
};

// What a child is forked into. Borrowed for the call.
struct ForkTarget {
  int guest_pidfd = -1;
  int user_namespace = -1;
  const Filter& filter;
  std::uint32_t open_files = 0;
  bool set_uid = false;
  GroupDescriptors groups;  // the control groups that it joins
  std::string user;
  std::string directory;  // empty: the user's home
  pid_t pid = 0;          // inside; 0: any
  bool copy = false;      // becomes a copy of a parked interpreter (process_image.h)
};

// A child, which joins its control groups before anything else and goes on by itself. It is a child of the
// sandbox's process 1.
struct ForkedChild {
  os::Fd control, out, err;  // the host's ends
  os::Fd pidfd;
  pid_t pid = 0;  // inside
  pid_t host_pid = 0;
  std::uint64_t generation = 0;
  std::uint64_t start_time = 0;  // as LiveProcess::started_at
};

// One zygote. Lives in the spawner process only; the process ends with this object.
class Zygote {
 public:
  struct Start {
    ZygoteKind kind;
    std::vector<os::Fd> layers;  // detached mounts of the kind's
    int proc = -1;               // a /proc that shows this process; borrowed
    std::uint64_t generation = 0;
    // Two of one layout have the same programs at the same addresses, as long as those are the same files.
    std::uint64_t layout = 0;
  };
  // Returns at once; the process becomes ready later.
  static Result<std::unique_ptr<Zygote>> start(Start start);
  // A random one.
  static std::uint64_t new_layout();
  ~Zygote();
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  // Readable when there is something to hear().
  int socket() const { return socket_.get(); }
  // Takes its greeting, or notices its end.
  void hear();
  enum class State { starting, ready, dead };
  State state() const { return state_; }
  // Why it is dead; what it could not import.
  const std::string& complaint() const { return complaint_; }
  std::uint64_t generation() const { return generation_; }
  // Unique, on this machine and on others.
  const std::string& id() const { return id_; }
  std::uint64_t layout() const { return layout_; }
  const ZygoteKind& kind() const { return kind_; }
  pid_t pid() const { return pid_; }
  std::uint64_t start_time() const { return start_time_; }
  // Also when what it runs in was removed.
  bool is_worn(const ZygoteOptions& options) const;

  // Code::unavailable if it is not ready or dies meanwhile; then no child is left. On success the child is
  // the caller's to watch and to end.
  Result<ForkedChild> fork_interpreter(const ForkTarget& fork_target);
  // Ends it without waiting. The caller gets the descriptor of the process and reaps it.
  os::Fd end();

 private:
  Zygote() = default;
  void die(std::string why);

  os::Fd socket_, pidfd_;
  int proc_ = -1;
  pid_t pid_ = 0;
  std::uint64_t start_time_ = 0;
  std::uint64_t layout_ = 0;
  std::string id_;
  ZygoteKind kind_;
  std::vector<os::Fd> layers_;
  State state_ = State::starting;
  std::string complaint_;
  std::uint64_t generation_ = 0;
  std::uint32_t children_ = 0;
  SteadyTime since_;
};

}  // namespace atl::sandbox::native
