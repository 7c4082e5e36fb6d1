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
#include "sandbox/native/checkpoint.h"
#include "sandbox/native/copier.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/snapshot.h"
#include "sandbox/native/spawner.h"
#include "sandbox/native/spawner_protocol.h"
#include "sandbox/native/volume_disk.h"
#include "sandbox/native/zygote.h"

// Inside the spawner process: its loop and what it keeps. Requests are served in spawner.cc, the connection
// to the daemon is kept in spawner_connection.cc, sandboxes are brought to a standstill in
// spawner_standstill.cc, interpreters are made in spawner_interpreters.cc, what is copied by children of its
// own in spawner_copies.cc.
//
// All requests are served one after the other, so nothing here waits for a guest or a disk. What takes time
// is begun here and finished later, when a descriptor in the loop becomes ready; after a deadline the call
// fails.
namespace atl::sandbox::native {

// Whether the other end of this socket was closed.
bool has_left(int socket);

// What a snapshot or checkpoint is made in and from, held open until it is.
struct SnapshotFiles {
  Roots::Place place;
  os::Fd parent;
};

// One sandbox as the spawner knows it, from the moment its guest runs until nothing of it is left. Owned by
// Spawner::sandboxes_.
struct SpawnedSandbox {
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
  // Interpreters that were forked into it, by their number inside.
  struct Interpreter {
    std::uint64_t generation = 0;  // which zygote's
    Place place;
  };
  std::map<pid_t, Interpreter> interpreters;
  // A copy that was begun before anybody asked for it: of the first interpreter of the checkpoint that this
  // sandbox is made for.
  struct Prefetched {
    CheckpointedInterpreter interpreter;
    std::optional<ForkedChild> forked;  // none while its memory is being written
    bool is_alive = false;              // it has its memory, and goes on
    dev_t device = 0;                   // of the file that has it
    ino_t file = 0;
    std::optional<Request> asked;  // who waits for it
    os::Fd beside;
  };
  std::optional<Prefetched> prefetched;
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
  std::string target;                            // checkpoint: its directory
  std::optional<CheckpointedInterpreter> first;  // checkpoint: the first of its interpreters
  bool holds = false;                            // the sandbox stands still for it
  bool stops = false;                            // it brings the sandbox to a standstill, by signals
  bool by_copier = false;                        // which does the next job when it has reported
  SteadyTime since = Clock::machine().steady();
  std::optional<ForkedChild> forked;  // revive: who is to come to life
  bool is_prefetched = false;         // revive: nobody has asked yet
};

// One object for the life of the spawner process, on its only thread that serves requests. Every function
// returns without waiting. A failure is the answer to its request and never ends the process.
class Spawner {
 public:
  // Takes over the builder and the connection to the daemon.
  Spawner(SandboxBuilder builder, os::Fd daemon, const SpawnerOptions& options);
  // Serves until the daemon has gone and nothing is left to keep, or a daemon asked for the end. Returns
  // once, when every sandbox is gone.
  void run();

 private:
  // Keys of epoll events: what the descriptor is; living and copying are looked up by it.
  enum class Source : std::uint32_t {
    daemon,
    listener,
    sandbox,
    copying,
    reaping,
    zygote,
    parts_pool,
    images,
    standstill
  };
  void watch(int fd, Source source);
  // What the loop calls when a descriptor of that source is ready. Each handles one event and tolerates that
  // what it was about is gone.
  void on_daemon();
  void on_listener();
  // The guest of a sandbox has ended: its processes are gone, and its parts go back to the pool.
  void on_end(int pidfd);
  void on_gone();
  // Nothing of the sandbox is left: answers everybody who waited for that, and forgets its name.
  void tell_end(const std::string& name);
  void on_copied(int report);
  void on_report(int report);
  void on_reaped(int pidfd);
  // A request for an interpreter may wait for a zygote that is starting, once.
  enum class ZygoteWait { allowed, over };
  // Does what is asked, or begins to. Every request is answered exactly once, now or later. `beside` is the
  // descriptor that came with it.
  void serve(const Request& request, os::Fd beside = {}, ZygoteWait wait = ZygoteWait::allowed);
  void serve_sandbox(SpawnedSandbox& sandbox, const Request& request, os::Fd beside, ZygoteWait wait);
  // Answers when the sandbox runs. Waits in making_ if its disk image is not ready.
  void create(const Request& request, const Spec& spec);
  void finish_create(const Request& request, const Spec& spec, Disk disk);
  // Gives the ends of the new sandbox to the daemon; if they cannot be given, the sandbox ends.
  void hand_out(const Request& request, const Spec& spec, SpawnedSandbox& sandbox);
  // One that waits for its disk image. None: none of that name does.
  std::optional<Request> stop_making(const std::string& name);
  void on_images();
  SpawnedSandbox& add_sandbox(const std::string& name, const Spec& spec, Built built);
  // The sandbox of the first copy that will be asked for: made while the interpreters' memory is being taken.
  void prepare_fork(const Copying& copying);
  // The sandbox that was made ahead, under its new name, if it is what `spec` asks for; otherwise null.
  SpawnedSandbox* take_prepared_fork(const std::string& name, const Spec& spec);
  // The one made for that checkpoint, or any.
  void drop_prepared_fork(const std::optional<std::string>& target = std::nullopt);
  // `to` must be free.
  void rename(const std::string& from, const std::string& to);
  void adopt(const Request& request, SpawnedSandbox& sandbox);
  // Answers when everything of the sandbox is gone; Code::not_found if there is none.
  void destroy(const Request& request);
  void thaw(const Request& request, SpawnedSandbox& sandbox);
  // Ends every sandbox; the request of this token is answered when the last is gone.
  void begin_shut_down(std::uint64_t token);
  void take_snapshot(SpawnedSandbox& sandbox, const Request& request, SnapshotFiles files);
  void discard_snapshot(const Request& request, const ask::Discard& wanted);
  void measure_snapshot(const Request& request, const ask::Measure& wanted);
  void open_interpreters(const Request& request, const ask::OpenInterpreters& wanted);
  void discard_interpreters(const Request& request, const ask::DiscardInterpreters& wanted);
  // Filesystems of volumes, in spawner_volumes.cc.
  void open_volume(const Request& request, const ask::OpenVolume& wanted);
  // Runs in a child, which reports to this socket and ends.
  [[noreturn]] void mount_volume(const VolumeDiskJob& job, int report);
  void finish_volume(const Copying& copying, Reply reply, os::Fd mount);
  void answer_volume(Verb verb, std::uint64_t token, const std::string& directory);
  void close_volume(const Request& request, const ask::CloseVolume& wanted);
  void checkpoint(SpawnedSandbox& sandbox, const Request& request, const ask::Checkpoint& wanted,
                  SnapshotFiles files);
  CheckpointJob checkpoint_job(const ask::Checkpoint& wanted, SpawnedSandbox& sandbox,
                               const SnapshotFiles& files);
  // A child of a zygote by its number inside, or the copy of one that went on in its place. Null if none is
  // known.
  const SpawnedSandbox::Interpreter* find_interpreter(SpawnedSandbox& sandbox,
                                                      const ask::Checkpoint::Interpreter& interpreter);
  // Processes inside that nobody accounts for, by name.
  std::vector<std::string> unknown_processes(const SpawnedSandbox& sandbox,
                                             const ask::Checkpoint& checkpoint);
  // freeze, snapshot, checkpoint: goes on when the sandbox stands still.
  void stand_still(const Request& request);
  Result<void> begin_standstill(SpawnedSandbox& sandbox);
  void go_on_still(SpawnedSandbox& sandbox, SpawnedSandbox::Freezing::Asked asked);
  // The sandbox stands still: everything that waited for that begins.
  void on_still(SpawnedSandbox& sandbox);
  // The sandbox goes on running, and every waiting caller gets this error.
  void give_up_standstill(SpawnedSandbox& sandbox, const Error& why);
  void on_standstill_timer();
  // Sets the timer for the next look at sandboxes that are being frozen.
  void look_again();
  // A job is done for which the sandbox was held frozen.
  void release(SpawnedSandbox& sandbox);
  static SnapshotJob snapshot_job(const SpawnedSandbox& sandbox, const SnapshotFiles& files,
                                  const SandboxBuilder& builder);
  // Beneath the roots that this spawner was told of.
  Result<SnapshotFiles> snapshot_files(const SpawnedSandbox& sandbox, const std::string& target) const;
  // `work` in a child, on the host's filesystem; its end, with what it says, is the answer.
  Result<void> copy(Copying copying, const std::function<Result<AnyAnswer>()>& work);
  // The same by a copier, one that waits or a new one.
  template <class Job>
  Result<void> give_to_copier(Copying copying, const Job& job);
  // So that the next live fork does not wait for a process to be made.
  void ensure_copier();
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
  // Waits in the loop for the end of a child and then collects its exit status.
  void reap(os::Fd pidfd);
  // Answered when the child runs; waits for a zygote that is starting, if `wait` allows it.
  void fork_interpreter(const Request& request, const ask::ForkInterpreter& wanted, ZygoteWait wait);
  void revive(const Request& request, const ask::Revive& wanted, os::Fd file, ZygoteWait wait);
  // A child that waits for the memory of that interpreter.
  Result<ForkedChild> fork_copy(Zygote& zygote, const SpawnedSandbox& sandbox,
                                const CheckpointedInterpreter& interpreter);
  Result<void> write_copy(Copying copying, int file, std::uint32_t index);
  // The first copy of a checkpoint, as far as it can be made without knowing who wants it: its child while
  // the memory is taken, and the rest when there is a file of it.
  void fork_prefetched(SpawnedSandbox& sandbox, const CheckpointedInterpreter& interpreter);
  void write_prefetched(const std::string& target, const std::vector<std::string>& carried, int file);
  void finish_prefetched(Copying copying, Reply reply);
  // True if that is what was asked for: it was answered, or will be.
  bool take_prefetched(SpawnedSandbox& sandbox, const Request& request, const ask::Revive& wanted,
                       os::Fd& file);
  void drop_prefetched(SpawnedSandbox& sandbox);
  // What a zygote needs to fork into that sandbox. `users` keeps a descriptor open that the target borrows.
  Result<ForkTarget> fork_target_in(const SpawnedSandbox& sandbox, const std::string& user,
                                    const std::string& directory, os::Fd& users);
  // Gives the ends of its streams to the daemon.
  void hand_over(Reply reply, SpawnedSandbox& sandbox, ForkedChild forked);
  // Null if that one is gone.
  Zygote* zygote_of(std::uint64_t generation);
  // One whose children can take that interpreter; null: one is being raised, or there can be none.
  Zygote* zygote_for(const CheckpointedInterpreter& interpreter, const ZygoteKind& kind, bool& is_coming);
  // Which zygotes fork interpreters for such a sandbox.
  ZygoteKind kind_of(const Spec& spec) const;
  // Returns at once; the zygote is ready later.
  Result<std::unique_ptr<Zygote>> start_zygote(const ZygoteKind& kind, std::uint64_t layout);
  void on_zygote(int fd);
  // Interpreters that were forked from it live in some sandbox.
  bool has_children(const Zygote& zygote) const;
  // Ends a zygote that has no living children, to make room. False: there is none.
  bool drop_idle_zygote();
  // Another zygote of this kind, if there is none that is young. After a few that failed the next one is
  // tried some time later.
  void ensure_zygote(const ZygoteKind& kind);
  void note_zygote_failure(const ZygoteKind& kind, std::uint32_t failures, std::string why);
  // Why no interpreter can be forked for plain sandboxes; empty: they can, or never could.
  std::string zygotes_away() const;
  // Tells the daemon if that has changed.
  void tell_zygotes();
  // The last of its kind, which is the one in use or the next one; null if there is none.
  Zygote* last_zygote(const ZygoteKind& kind, std::optional<Zygote::State> state) const;
  // Ends every process in it. The rest follows when the kernel has told of the end.
  void kill(SpawnedSandbox& sandbox);
  // Never waits: what the daemon has not taken yet is kept, up to a bound. `lost`: only this answer could not
  // be given, because the kernel or this process has no room for its descriptors; the caller was told so.
  enum class Given { yes, lost };
  Given answer(Reply reply, std::span<const int> fds = {});
  Given keep_answer(const Reply& reply, std::string bytes, std::span<const int> fds);
  Given cannot_answer(const Reply& reply, const Error& why);
  void on_daemon_ready();
  // Sends what is still unsent while the daemon takes it.
  void flush();
  void watch_daemon(bool for_room);
  // A second connection to the same daemon, used when the first is lost.
  void add_connection(const Request& request);
  // Goes on with the second connection if there is one; otherwise the daemon is lost.
  void lose_connection();
  bool has_daemon() const;
  void answer_error(const Request& request, Error error);
  void answer_done(const Request& request);
  void hello(const Request& request);
  // Null if there is none, or it has ended. Valid until the next event.
  SpawnedSandbox* find(const std::string& name);
  // Also by a sandbox that is being made or taken apart.
  bool is_taken(const std::string& name) const;
  // Sandboxes stay for the time that the options give a daemon to come back.
  void lose_daemon();
  // A daemon that is started again would come to us.
  bool is_findable() const;
  // Removes the socket by which a daemon could find this spawner.
  void hide();
  bool should_end() const;
  // When something is due that nothing else wakes the loop for; none: never. Changes nothing.
  std::optional<SteadyTime> next_deadline() const;
  // Does what is due: ends sandboxes that nobody came back for, gives up what took too long.
  void expire(SteadyTime now);
  void expire_orphans(SteadyTime now);
  void expire_making(SteadyTime now);
  bool keeps_paused(SteadyTime now) const;

  SandboxBuilder builder_;
  os::Fd daemon_, second_;
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
  std::map<std::string, std::unique_ptr<SpawnedSandbox>> sandboxes_;
  std::map<int, std::string> by_pidfd_;
  std::map<std::uint64_t, std::string> by_ticket_;
  std::uint64_t tickets_ = 0;
  std::set<SpawnedSandbox*> freezing_;
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
  // How many of a kind failed since one forked an interpreter, why, and when the last of them did.
  struct Failure {
    std::uint32_t count = 0;
    std::string reason;
    SteadyTime last{};
  };
  std::map<ZygoteKind, Failure> failed_zygotes_;
  std::optional<SteadyTime> zygote_due_;  // when the next one for plain sandboxes is tried
  std::string told_zygotes_away_;         // to the daemon
  struct PendingRequest {
    Request request;
    os::Fd beside;
  };
  std::vector<PendingRequest> awaiting_zygote_;  // who waits for a zygote
  std::deque<PendingRequest> awaiting_turn_;     // who waits until others have been revived
  struct PreparedFork {
    std::string name;
    Spec spec;  // that it serves
    SteadyTime since;
  };
  std::optional<PreparedFork> prepared_fork_;
  std::uint64_t prepared_forks_ = 0;
  std::optional<std::uint64_t> shutting_down_;
  std::optional<SteadyTime> orphan_since_;
  SteadyTime orphan_check_{};  // when orphans that are paused are looked at again

 public:
  void listen(os::Fd listener, os::Fd run_directory) {
    listener_ = std::move(listener);
    run_directory_ = std::move(run_directory);
  }
  // Tells the daemon that started it that everything is prepared.
  void announce() { answer(Reply{.verb = Verb::hello}); }
};

}  // namespace atl::sandbox::native
