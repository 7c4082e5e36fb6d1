#pragma once

#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "os/event.h"
#include "sandbox/direct_streams.h"
#include "sandbox/frame_stream.h"
#include "sandbox/process.h"

namespace atl::sandbox {

// Sees every Outcome before anybody else: a provider adds what the kernel knows (usage, out of memory).
using OutcomeFilter = std::function<void(const ProcessInfo&, Outcome&)>;

// Microseconds since the machine started, as the kernel dates its processes.
std::uint64_t boot_micros();
// What a guest is to kill: what began in that time and belongs to no process of ours; of the interpreters on
// these channels also what they started, until the time of each. Boot times.
struct Sweep {
  static constexpr std::uint64_t kForever = ~std::uint64_t{0};
  struct Interpreter {
    std::uint32_t channel = 0;
    std::uint64_t until_us = kForever;
  };
  std::uint64_t since_us = 0;
  std::uint64_t until_us = kForever;
  std::vector<Interpreter> interpreters;
};
// Gives how many there were, when they are gone.
Task<std::uint32_t> sweep_background(std::shared_ptr<FrameStream> frames, Sweep sweep);

// Ended by us or by the kernel, and not by itself: nothing that belonged to it goes on.
bool was_cut_short(Ending ending);

// Gets everything that a process writes, before anyone else: the Interpreter that the process runs for. It
// may be destroyed before the process has ended.
class ProcessTap {
 public:
  virtual ~ProcessTap() = default;
  virtual void output(Stream stream, std::string_view bytes) = 0;
  // Bytes on kStreamControl. False if no honest program would send them: the process is killed.
  virtual bool control(std::string_view bytes) = 0;
  // Bytes of output it still holds; the process is held back accordingly (GuestProcess::grant()).
  virtual std::size_t held() const = 0;
  virtual void ended(const Outcome& outcome) = 0;
  // The process has ended with this outcome, and its spare goes on in its place. Listeners get no end of the
  // process, and its streams stay as they are.
  virtual void continued(const Outcome& outcome) = 0;
  // The guest has heard which one its spare is (0: none).
  virtual void spare_known(std::uint32_t pid) = 0;
};

// A process behind a FrameStream. The stream keeps it alive while it runs.
class GuestProcess final : public Process,
                           public FrameChannel,
                           public std::enable_shared_from_this<GuestProcess> {
 public:
  GuestProcess(std::shared_ptr<FrameStream> frames, ProcessSpec spec, OutcomeFilter outcome_filter);
  ~GuestProcess() override;

  // Gives the process a control stream and a tap. Set before start().
  void set_tap(std::weak_ptr<ProcessTap> tap) { tap_ = std::move(tap), has_tap_ = true; }
  // The process exists already, as a child of process 1 with this number, and the host holds its streams. Set
  // after the tap, before start().
  void set_direct(std::shared_ptr<DirectStreams> streams, std::uint32_t pid) {
    direct_ = std::move(streams), adopted_pid_ = pid;
  }
  bool is_direct() const { return direct_ != nullptr; }
  // Called once when the process ended.
  void on_ended(std::function<void()> done) { done_ = std::move(done); }

  // Sends the request and waits until the process runs or the guest says why it cannot. If the caller goes
  // away meanwhile, so does the process.
  Task<void> start();
  // Takes over a process that a guest told about in its greeting. False if the payload is malformed.
  bool revive(std::uint32_t channel, std::string_view payload);

  const ProcessInfo& info() const override { return info_; }
  std::unique_ptr<ProcessStream> attach(Replay replay) override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;
  Task<void> resize(PtySize size) override;
  Task<void> signal(int number) override;
  Task<Outcome> wait() override;

  // Bytes to kStreamControl; waits for credit.
  Task<void> write_control(std::string bytes);
  // The same at once; false, and nothing sent, if the credit does not cover it.
  bool write_control_now(std::string_view bytes);
  // Gives back the credit of what every listener has taken, in pieces worth a frame.
  void grant();
  // Whose place it took, if its interpreter died and its spare went on; else its own.
  std::uint32_t first_pid() const { return first_pid_ != 0 ? first_pid_ : info_.pid; }
  bool has_ended() const { return outcome_.has_value(); }
  // What it started belongs to it from this boot time on: for a command its own start, for an interpreter the
  // start of what it executes. Unset: what an interpreter started and left belongs to nobody.
  void set_since(std::optional<std::uint64_t> boot_us) { since_us_ = boot_us; }
  std::optional<std::uint64_t> since() const { return since_us_; }
  std::uint32_t channel() const { return channel_; }
  const std::shared_ptr<FrameStream>& frames() const { return frames_; }
  const std::optional<Outcome>& outcome() const { return outcome_; }
  void send_signal(int number, guest::SignalScope scope);
  // Kills everything of it; the Outcome will say so.
  void end_with(Ending ending, std::string reason);
  // A child of it that goes on in its place when it dies. Whether there is one the guest finds out.
  void set_spare(std::uint32_t pid);
  // As end_with(), but its spare goes on, if there is one.
  void end_but_spare(Ending ending, std::string reason);

  bool frame(guest::Type type, std::uint16_t flags, std::string_view payload) override;
  void lost(const Error& why) override;
  void frozen(const Error& why) override;

 private:
  class Listener;

  bool started(std::string_view payload);
  bool output(std::uint16_t flags, std::string_view bytes);
  bool exited(std::string_view payload);
  bool continued(std::string_view payload);
  Outcome outcome_of(int status, std::uint64_t cpu_us);
  void finish(Outcome outcome);
  static Task<void> finish_swept(std::shared_ptr<GuestProcess> self, Outcome outcome);
  void remember(Stream stream, std::string_view bytes);
  void start_clock();
  void end_at(std::chrono::steady_clock::time_point deadline, std::string reason);
  bool has_notes() const;
  Task<void> write(guest::StreamId stream, std::string bytes);
  std::string request() const;

  std::shared_ptr<FrameStream> frames_;
  ProcessSpec spec_;
  OutcomeFilter outcome_filter_;
  ProcessInfo info_;
  std::uint32_t first_pid_ = 0;  // when it has another now
  std::weak_ptr<ProcessTap> tap_;
  bool has_tap_ = false;
  std::shared_ptr<DirectStreams> direct_;
  std::uint32_t adopted_pid_ = 0;
  std::function<void()> done_;
  std::uint32_t channel_ = 0;
  os::Event changed_;
  boost::asio::steady_timer clock_, grace_;
  std::optional<Result<void>> started_;
  std::optional<Outcome> outcome_;
  std::optional<std::uint64_t> since_us_;
  std::optional<std::pair<Ending, std::string>> forced_;
  bool forced_but_spare_ = false;  // forced_ is for the one that runs now only
  std::vector<int> signals_sent_;
  std::chrono::steady_clock::time_point began_;
  bool abandoned_ = false;
  std::optional<Error> frozen_;  // the guest was frozen before it told whether the process started
  bool stdin_open_ = false;
  bool writing_ = false;
  std::uint32_t input_credit_ = guest::kInputWindow;
  std::uint64_t unacknowledged_ = 0;  // received, credit not yet given back
  std::uint64_t output_bytes_ = 0;
  // Until the first listener came, or a moment passed, nothing is given up.
  bool awaits_listener_ = true;
  std::vector<Listener*> listeners_;
  std::deque<Output> recent_;
  std::size_t recent_bytes_ = 0;
};

}  // namespace atl::sandbox
