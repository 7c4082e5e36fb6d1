#pragma once

#include <bitset>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "shell/command.h"
#include "shell/fiber.h"
#include "shell/limits.h"
#include "shell/network.h"
#include "shell/stream.h"
#include "vfs/file_system.h"

namespace atl::shell {

class Regex;

inline constexpr int signal_max = 64;

// What the script sees as a process: the shell, a subshell, a pipeline stage, a job.
struct Process {
  int pid = 0;
  int parent = 0;
  Fiber* fiber = nullptr;
  bool done = false;
  int status = 0;
  int killed_by = 0;  // ended by this signal
  // The process that waits for this one on the same fiber: a shell for its subshell, timeout for its command.
  Process* caller = nullptr;
  bool struck = false;  // a signal came from another fiber: it also ends what this process waits for
  std::bitset<signal_max + 1> pending;
  std::bitset<signal_max + 1> handled;  // a trap is set
  std::bitset<signal_max + 1> ignored;
  WaitQueue waiters;
};

// Bytes that one reader took out of an open file, so that nobody else changes or reads them meanwhile.
struct Claim {
  std::string bytes;     // pipes and the like
  vfs::Content content;  // files: kept alive, not copied
};

// An open file description: what descriptors point to. Shared by duplicates; closing is destroying.
class OpenFile : public Input, public Output {
 public:
  std::string_view fill() override { return {}; }
  void consume(std::size_t) override {}
  bool write(std::string_view) override {
    error_ = "Bad file descriptor";
    return false;
  }
  std::string_view error() const override { return error_; }
  std::uint64_t inode() const override { return 0; }
  // What is there now, at least one byte, for this reader alone; waits for the first. Empty at the end. Valid as long as
  // both the claim and the file are.
  virtual std::string_view take(Claim& claim);
  // The end of what take() gave, which its reader did not use: the next one shall have it.
  virtual void give_back(Claim& claim, std::string_view rest);
  virtual bool readable() const { return false; }
  virtual bool writable() const { return false; }
  // Reads that would wait are possible: a pipe, a terminal.
  virtual bool is_pipe() const { return false; }
  virtual bool is_terminal() const { return false; }
  // True when a read would not wait.
  virtual bool ready() { return true; }
  virtual vfs::File* file() { return nullptr; }
  std::string path;  // as opened, for /dev/fd and messages

 protected:
  std::string_view error_;
};
using OpenFilePtr = std::shared_ptr<OpenFile>;

// Ends the current fiber's command: see Stopped. `reason` says which frame may catch it.
enum class StopReason : std::uint8_t { limit, canceled, signal };
struct StoppedBy : Stopped {
  StopReason reason;
  int signal;
  Process* process;  // signal: whose
};

// Who holds a database file among the processes of one shell (SQLite's shared, reserved and exclusive locks).
struct FileLock {
  int shared = 0;
  bool reserved = false;
  bool exclusive = false;
};

// What all subshells of one shell share: filesystem, clock, limits and their meters, fibers, processes.
class Machine {
 public:
  Machine(vfs::FileSystem& fs, const Limits& limits, const Clock& clock);
  ~Machine();

  vfs::FileSystem& fs;
  const Clock& clock;
  Limits limits;
  Scheduler scheduler;
  std::shared_ptr<Process> process;  // the one that runs now
  std::function<bool()> canceled;  // asked often; any thread may change its answer

  // Begins a new account of usage.
  void begin();
  // Ends the script if a limit was reached, it was canceled, or a signal says so; rings alarms that are due.
  void check();
  void charge(std::uint64_t work) {
    meter_ += work;
    if (meter_ >= next_check_) [[unlikely]]
      check();
  }
  void charge_command() {
    if (++commands_ > limits.commands) [[unlikely]]
      stop_limit(Limit::commands);
    charge(16);
    if (attention_) [[unlikely]]
      notice_signals();
    if (slice_over_) [[unlikely]]
      end_slice();
  }
  void charge_iteration() {
    if (++iterations_ > limits.iterations) [[unlikely]]
      stop_limit(Limit::iterations);
    charge(1);
  }
  void charge_tokens(std::uint64_t count) {
    tokens_ += count;
    if (tokens_ > limits.tokens) [[unlikely]]
      stop_limit(Limit::tokens);
    charge(count);
  }
  void charge_memory(std::int64_t bytes);
  void charge_output(std::size_t bytes);
  // A text that grows while it is read: a line, a whole file.
  void check_held(std::size_t bytes);
  std::uint64_t commands() const { return commands_; }

  // Waits in the current fiber; signals and cancellation end the wait with Stopped.
  void wait(WaitQueue& queue);
  // False when the time came first.
  bool wait_until(WaitQueue& queue, SteadyTime when);
  void sleep(Duration how_long);
  // Lets every fiber that can run have a turn.
  void yield();
  // Ends the current process's command if a signal that nothing handles is pending.
  void notice_signals();

  [[noreturn]] void stop_limit(Limit which);
  // An exception that no script can mean reached the first frame of a fiber: the script ends. Its status.
  int stop_defect(std::string_view what);
  bool stopping() const { return stopped_by_ != Limit::none || canceled_; }
  // What stopped the script since begin(): the limit, and the words for the user.
  Limit stopped_by() const { return stopped_by_; }
  std::string stop_message() const;

  std::shared_ptr<Process> new_process();
  // 0 for a process that exists, else ESRCH or EINVAL.
  int kill(int pid, int signal);
  // The same for the process and everything it started.
  void kill_group(int pid, int signal);
  Process* find_process(int pid);
  void finished(Process& process, int status);
  // A compiled extended expression, kept for the next time; null if it is none.
  const Regex* regex(const std::string& pattern, bool ignore_case);
  // Starts `body` as a fiber of the process.
  void spawn(std::shared_ptr<Process> process, std::function<void()> body);
  // Runs the root body until it ends, with all fibers it starts.
  void run(std::function<void()> body);
  bool others_alive() const { return scheduler.live() > 1; }
  // Waits until no other fiber can run; timers up to `patience` are waited for.
  void drain(Duration patience);
  void kill_others();

  // Commands that the embedder added; they come before our own.
  std::map<std::string, const Command*, std::less<>> commands_added;
  std::vector<NetworkGrant> network;                         // what curl may reach
  std::map<std::uint64_t, std::weak_ptr<class Pipe>> fifos;  // by inode
  std::map<std::uint64_t, FileLock> file_locks;              // by inode
  std::map<int, std::weak_ptr<Process>> processes;
  int next_pid = 1001;

  // Sends a signal to a process and what it started when the time comes, whoever runs then.
  class Alarm {
   public:
    Alarm(Machine& machine, int pid, int signal, SteadyTime when);
    ~Alarm();
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;
    bool rang() const { return rang_; }

   private:
    friend class Machine;
    Machine& machine_;
    int pid_;
    int signal_;
    SteadyTime when_;
    bool rang_ = false;
  };

 private:
  bool idle(SteadyTime next);
  void ring_alarms(SteadyTime now);
  void end_slice();
  void wake_everybody();
  void strike(Process& target);
  [[noreturn]] void stop_canceled();

  std::uint64_t meter_ = 0;
  std::uint64_t next_check_ = 0;
  std::uint64_t commands_ = 0;
  std::uint64_t output_ = 0;
  std::uint64_t iterations_ = 0;
  std::uint64_t tokens_ = 0;
  std::int64_t memory_ = 0;
  std::vector<Alarm*> alarms_;
  std::map<std::pair<std::string, bool>, std::unique_ptr<Regex>> regexes_;
  Limit stopped_by_ = Limit::none;
  std::string defect_;
  bool canceled_ = false;
  bool attention_ = false;   // a signal may be pending somewhere
  bool slice_over_ = false;  // others have waited long enough for their turn
  SteadyTime started_;
  std::int64_t cpu_started_ns_ = 0;
  bool standstill_ = false;
};

// A pipe of 64 KB. Readers and writers hold its ends; the last one to go closes that end.
class Pipe {
 public:
  static constexpr std::size_t capacity = 64 * 1024;
  explicit Pipe(Machine& machine) : machine_(machine) {}

  std::string_view fill();
  void consume(std::size_t count);
  std::string_view take(Claim& claim);
  void give_back(Claim& claim, std::string_view rest);
  bool write(std::string_view bytes, std::string_view& error);
  void add(bool writer) {
    ++(writer ? writers_ : readers_);
    (writer ? had_writer_ : had_reader_) = true;
    machine_.scheduler.wake(queue_);
  }
  void drop(bool writer) {
    --(writer ? writers_ : readers_);
    machine_.scheduler.wake(queue_);
  }
  bool ready() const { return head_ < data_.size() || writers_ == 0; }
  void wait_for_peer(bool writer);
  Machine& machine() { return machine_; }

 private:
  Machine& machine_;
  std::string data_;
  std::size_t head_ = 0;
  int readers_ = 0;
  int writers_ = 0;
  bool had_reader_ = false;
  bool had_writer_ = false;
  WaitQueue queue_;
};

// Streams; see open_files.cc.
std::pair<OpenFilePtr, OpenFilePtr> make_pipe(Machine& machine);  // read end, write end
OpenFilePtr open_fifo(Machine& machine, std::uint64_t inode, bool read, bool write);
OpenFilePtr open_string(std::string text);
OpenFilePtr open_null();
OpenFilePtr open_zero(Machine& machine);
OpenFilePtr open_random(Machine& machine);
OpenFilePtr open_full();       // /dev/full: no write succeeds
OpenFilePtr open_directory();  // readable by nobody
OpenFilePtr open_capture(Machine& machine, std::string& into, std::uint64_t limit);
OpenFilePtr open_vfs(Machine& machine, std::unique_ptr<vfs::File> file, bool read, bool write);
OpenFilePtr open_callback(Machine& machine, std::function<void(std::string_view)> sink);
OpenFilePtr open_source(Machine& machine, std::function<std::string()> source);

// "SIGTERM", "term", "15" to 15; -1 if unknown. EXIT is 0.
int signal_number(std::string_view name);
// "TERM"; empty if unknown.
std::string_view signal_name(int number);
std::string_view signal_description(int number);
bool signal_ignored_by_default(int number);

}  // namespace atl::shell
