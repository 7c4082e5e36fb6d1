#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "shell/fiber.h"
#include "shell/limits.h"
#include "shell/network.h"
#include "shell/process.h"
#include "vfs/file_system.h"

namespace atl::shell {

class Pipe;
class Regex;
struct Command;

// Who holds a database file among the processes of one shell (SQLite's shared, reserved and exclusive locks).
struct FileLock {
  int shared = 0;
  bool reserved = false;
  bool exclusive = false;
};

// What all subshells of one shell share: filesystem, clock, limits and their meters, fibers, processes. One
// thread runs it; only `canceled` looks at what other threads change. Members that wait or charge may throw
// StoppedBy.
class Machine {
 public:
  Machine(vfs::FileSystem& fs, const Limits& limits, const Clock& clock);
  ~Machine();

  // Both outlive the machine.
  vfs::FileSystem& fs;
  const Clock& clock;
  Limits limits;
  Scheduler scheduler;
  std::shared_ptr<Process> process;  // the one that runs now
  std::function<bool()> canceled;    // asked often; any thread may change its answer

  // Begins a new account of usage.
  void begin();
  // Ends the script if a limit was reached, it was canceled, or a signal says so; rings alarms that are due.
  void check();
  // Counts work done, in bytes looked at or steps taken. Every so much of it comes to check().
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
  // What the script holds, or gives back. Ends the script beyond its limit.
  void charge_memory(std::int64_t bytes);
  // Bytes to the caller. Ends the script beyond its limit.
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

  // A process that has not begun to run. Ends the script if it has too many.
  std::shared_ptr<Process> new_process();
  // 0 for a process that exists, else ESRCH or EINVAL.
  int kill(int pid, int signal);
  // The same for the process and everything it started.
  void kill_group(int pid, int signal);
  Process* find_process(int pid);
  // The process's fiber is over: tells those who wait.
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
  // Ends every fiber but the current one, wherever it waits.
  void kill_others();

  // Commands that the embedder added; they come before our own.
  // Set before a script runs and not changed while it does.
  std::map<std::string, const Command*, std::less<>> commands_added;
  std::vector<NetworkGrant> network;                   // what curl may reach
  std::map<std::uint64_t, std::weak_ptr<Pipe>> fifos;  // by inode
  std::map<std::uint64_t, FileLock> file_locks;        // by inode
  std::map<int, std::weak_ptr<Process>> processes;
  int next_pid = 1001;

  // Sends a signal to a process and what it started when the time comes, whoever runs then.
  // On the stack of whoever waits: the machine knows it from construction to destruction.
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
  // What the scheduler calls when every fiber waits: sleeps until the next timer, or ends a script whose
  // processes all wait for each other.
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

}  // namespace atl::shell
