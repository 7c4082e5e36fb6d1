#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "os/fd.h"
#include "sandbox/native/capture.h"
#include "sandbox/native/copier.h"
#include "sandbox/native/snapshot.h"
#include "sandbox/native/spawner.h"
#include "sandbox/native/volume_disk.h"
#include "sandbox/native/wire.h"
#include "sandbox/native/workshop.h"
#include "sandbox/native/zygote.h"

// Inside the spawner process: its loop and what it keeps. Requests are served in spawner.cc, the connection
// to the daemon is kept in spawner_line.cc, sandboxes are brought to a standstill in spawner_standstill.cc,
// interpreters are made in spawner_kernels.cc, what is copied by children of its own in spawner_copies.cc.
//
// Everybody's requests are served one after the other, so nothing here waits for a guest or a disk: what can
// is asked for and heard of later, by a descriptor in the loop, and has a time after which whoever waits is
// told that it failed.
namespace atl::sandbox::native {

// What a snapshot or capture is made in and from, held open until it is.
struct SnapshotFiles {
  Roots::Place place;
  os::Fd parent;
};

struct Living {
  Built built;
  Spec spec;  // its id is the name under which it is known
  // Stands still: because somebody paused it, or for as many jobs as hold it.
  bool frozen = false;
  bool paused = false;
  std::uint32_t holds = 0;
  // Comes to a standstill. What it runs decides how long that takes, so there is an end to it.
  struct Freezing {
    struct Asked {
      Request request;
      SnapshotFiles files;
    };
    std::vector<Asked> asked;  // what goes on then
    SteadyTime since;
    std::chrono::microseconds pause{50};  // until somebody looks again
  };
  std::optional<Freezing> freezing;
  // Interpreters that were born into it, by their number inside.
  struct Interpreter {
    std::uint64_t generation = 0;  // which zygote's
    Place place;
  };
  std::map<pid_t, Interpreter> interpreters;
  // A copy that was begun before anybody asked for it: of the first kernel of the capture that this sandbox
  // is made for.
  struct Early {
    ParkedKernel kernel;
    std::optional<Born> born;  // none while its memory is being written
    bool is_alive = false;     // it has its memory, and goes on
    dev_t device = 0;          // of the file that has it
    ino_t file = 0;
    std::optional<Request> asked;  // who waits for it
    os::Fd beside;
  };
  std::optional<Early> early;
  // Requests to answer when it is gone.
  std::vector<std::uint64_t> waiting;
  // Its processes have ended, for this reason; what they leave behind is being taken away.
  std::optional<std::string> ended;
};

// Something that a child of the spawner works on.
struct Copying {
  os::Fd pidfd, report;
  Verb verb = Verb::snapshot;
  std::uint64_t token = 0;
  std::string name;
  std::string target;                 // capture: its directory
  std::optional<ParkedKernel> first;  // capture: the first of its kernels
  bool holds = false;                 // the sandbox stands still for it
  bool stops = false;                 // it brings the sandbox to a standstill, by signals
  bool by_copier = false;  // which does the next job when it has reported
  SteadyTime since = Clock::machine().steady();
  std::optional<Born> born;  // revive: who is to come to life
  bool is_early = false;     // revive: nobody has asked yet
};

class Spawner {
 public:
  Spawner(Workshop shop, os::Fd daemon, const SpawnerOptions& options);
  void run();

 private:
  // Keys of epoll events: what the descriptor is; living and copying are looked up by it.
  enum class Source : std::uint32_t {
    daemon,
    listener,
    living,
    copying,
    reaping,
    zygote,
    stock,
    images,
    standstill
  };
  void watch(int fd, Source source);
  void on_daemon();
  void on_listener();
  void on_end(int pidfd);
  void on_gone();
  void tell_end(const std::string& name);
  void on_copied(int report);
  void take_over(int report);
  void on_reaped(int pidfd);
  void serve(const Request& request, os::Fd beside = {});
  void create(const Request& request);
  void finish_create(const Request& request, Disk disk);
  void hand_out(const Request& request, Living& living);
  // One that waits for its disk image. None: none of that name does.
  std::optional<Request> stop_making(const std::string& name);
  void on_images();
  Living& move_in(const std::string& name, const Spec& spec, Built built);
  // The sandbox of the first copy that will be asked for: made while the kernels' memory is being taken.
  void make_standby(const Copying& copying);
  Living* take_standby(const Request& request);
  // The one made for that capture, or any.
  void drop_standby(const std::optional<std::string>& target = std::nullopt);
  void rename(const std::string& from, const std::string& to);
  void adopt(const Request& request);
  void destroy(const Request& request);
  void take_snapshot(Living& living, const Request& request, SnapshotFiles files);
  void discard_snapshot(const Request& request);
  void measure_snapshot(const Request& request);
  // Filesystems of volumes, in spawner_volumes.cc.
  void open_volume(const Request& request);
  [[noreturn]] void mount_volume(const VolumeDiskJob& job, int report);
  void finish_volume(const Copying& copying, Reply reply, os::Fd mount);
  void answer_volume(Verb verb, std::uint64_t token, const std::string& directory);
  void close_volume(const Request& request);
  void capture(Living& living, const Request& request, SnapshotFiles files);
  CaptureJob capture_job(const Request& request, Living& living, const SnapshotFiles& files);
  // A child of a zygote by its number inside, or the copy of one that went on in its place. Null if none is known.
  const Living::Interpreter* interpreter(Living& living, const Capture::Kernel& kernel);
  // Processes inside that nobody accounts for, by name.
  std::vector<std::string> strangers(const Living& living, const Capture& capture);
  // freeze, snapshot, capture: goes on when the sandbox stands still.
  void stand_still(const Request& request);
  Result<void> begin_standstill(Living& living);
  void go_on_still(Living& living, Living::Freezing::Asked asked);
  void on_still(Living& living);
  // It goes on running, and whoever waited is told why.
  void give_up_standstill(Living& living, const Error& why);
  void on_standstill_timer();
  void look_again();
  // A job is done that it stood still for.
  void release(Living& living);
  static SnapshotJob snapshot_job(const Living& living, const SnapshotFiles& files, const Workshop& shop);
  // Beneath the roots that this spawner was told of.
  Result<SnapshotFiles> snapshot_files(const Living& living, const std::string& target) const;
  // `work` in a child, on the host's filesystem; its end, with what it says, is the answer.
  Result<void> copy(Copying copying, const std::function<Result<Reply>()>& work);
  // The same by a copier, one that waits or a new one.
  template <class Job>
  Result<void> assign(Copying copying, const Job& job);
  void raise_copier();
  Result<Copier> make_copier();
  // More at once would only wait for each other.
  static constexpr std::size_t kRevivalsMax = 4;
  // Children that write at the same time, and who may wait for one: beyond these the caller is told at once.
  static constexpr std::size_t kCopyingMax = 64;
  static constexpr std::size_t kWaitingMax = 1024;
  static constexpr std::size_t kZygotesMax = 32;
  bool is_reviving_enough() const;
  // Those that had to wait, as many as there is room for.
  void revive_next();
  void reap(os::Fd pidfd);
  void bear(const Request& request);
  void revive(const Request& request, os::Fd file);
  // A child that waits for the memory of that kernel.
  Result<Born> bear_copy(Zygote& zygote, const Living& living, const ParkedKernel& kernel);
  Result<void> write_copy(Copying copying, int file, std::uint32_t index);
  // The first copy of a capture, as far as it can be made without knowing who wants it: its child while the
  // memory is taken, and the rest when there is a file of it.
  void bear_early(Living& living, const ParkedKernel& kernel);
  void write_early(const std::string& target, const std::vector<std::string>& carried, int file);
  void finish_early(Copying copying, Reply reply);
  // True if that is what was asked for: it was answered, or will be.
  bool take_early(Living& living, const Request& request, const ParkedKernel& kernel, os::Fd& file);
  void drop_early(Living& living);
  Result<Cradle> cradle_in(const Living& living, const Request& request, os::Fd& users);
  // Gives the ends of its streams to the daemon.
  void hand_over(Reply reply, Living& living, Born born);
  Zygote* zygote_of(std::uint64_t generation);
  // One whose children can take that kernel; null: one is being raised, or there can be none.
  Zygote* zygote_for(const ParkedKernel& kernel, const ZygoteKind& kind, bool& is_coming);
  // Which zygotes bear interpreters for such a sandbox.
  ZygoteKind kind_of(const Spec& spec) const;
  Result<std::unique_ptr<Zygote>> start_zygote(const ZygoteKind& kind, std::uint64_t layout);
  void on_zygote(int fd);
  bool has_children(const Zygote& zygote) const;
  // One that nobody was born of who lives, to make room.
  bool drop_idle_zygote();
  // Another zygote of this kind, if there is none that is young.
  void raise_zygote(const ZygoteKind& kind);
  // The last of its kind, which is the one in use or the next one; null if there is none.
  Zygote* last_zygote(const ZygoteKind& kind, std::optional<Zygote::State> state);
  void kill(Living& living);
  // Never waits: what the daemon has not taken yet is kept, up to a bound. `lost`: only this answer could not
  // be given, because the kernel or this process has no room for its descriptors; the caller was told so.
  enum class Given { yes, lost };
  Given answer(Reply reply, std::span<const int> fds = {});
  Given keep_answer(const Reply& reply, std::string bytes, std::span<const int> fds);
  Given cannot_answer(const Reply& reply, const Error& why);
  void on_daemon_ready();
  // The last words, while the daemon takes them.
  void flush();
  void watch_daemon(bool for_room);
  // Another connection to the same daemon, for when this one is lost.
  void add_line(const Request& request);
  void lose_line();
  bool has_daemon() const;
  void answer_error(const Request& request, Error error);
  void answer_done(const Request& request);
  void hello(const Request& request);
  Living* find(const std::string& name);
  bool is_taken(const std::string& name) const;
  void lose_daemon();
  // A daemon that is started again would come to us.
  bool is_findable() const;
  // Cannot be found any more.
  void hide();
  bool should_end() const;
  int timeout_ms();

  Workshop shop_;
  os::Fd daemon_, spare_;
  struct Outgoing {
    std::string bytes;
    std::vector<os::Fd> fds;
    Reply failure;  // what is said where there is no room for its descriptors
  };
  std::deque<Outgoing> outbox_;
  std::size_t outbox_bytes_ = 0;
  SpawnerOptions options_;
  os::Fd epoll_;
  os::Fd listener_;
  os::Fd run_directory_;
  std::map<std::string, std::unique_ptr<Living>> living_;
  std::map<int, std::string> by_pidfd_;
  std::map<std::uint64_t, std::string> by_ticket_;
  std::uint64_t tickets_ = 0;
  std::set<Living*> freezing_;
  os::Fd standstill_timer_;
  // Sandboxes whose disk images are being made, by ticket.
  struct Making {
    Request request;
    ImageSize size;
    SteadyTime since;
  };
  std::map<std::uint64_t, Making> making_;
  std::uint32_t maker_losses_ = 0;
  std::map<int, Copying> copying_;  // by the descriptor of their report
  std::map<int, os::Fd> reaping_;   // children that have reported
  std::vector<Copier> copiers_;     // those that wait
  // Older ones stay while interpreters of theirs live.
  std::vector<std::unique_ptr<Zygote>> zygotes_;
  std::uint64_t generations_ = 0;
  // How many of a kind failed in a row, and why.
  struct Failure {
    std::uint32_t count = 0;
    std::string reason;
  };
  std::map<ZygoteKind, Failure> failed_zygotes_;
  struct Expecting {
    Request request;
    os::Fd beside;
  };
  std::vector<Expecting> expecting_;  // who waits for a zygote
  std::deque<Expecting> patient_;     // who waits until others have been revived
  struct Standby {
    std::string name;
    Spec spec;  // that it serves
    SteadyTime since;
  };
  std::optional<Standby> standby_;
  std::uint64_t standbys_ = 0;
  std::optional<std::uint64_t> shutting_down_;
  std::optional<SteadyTime> orphan_since_;

 public:
  void listen(os::Fd listener, os::Fd run_directory) {
    listener_ = std::move(listener);
    run_directory_ = std::move(run_directory);
  }
  // Tells the daemon that started it that everything is prepared.
  void announce() { answer(Reply{.verb = Verb::hello}); }
};

}  // namespace atl::sandbox::native
