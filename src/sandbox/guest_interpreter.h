#pragma once

#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "sandbox/guest_execution.h"
#include "sandbox/guest_process.h"
#include "sandbox/interpreter.h"
#include "sandbox/runner_codec.h"
#include "sandbox/spare_policy.h"

namespace atl::sandbox {

// An interpreter behind a FrameStream: a process that runs one of our runner programs (guest/runners) and
// speaks with us on its control stream. What the runner says is as untrusted as the code it runs: bounded,
// checked, and a runner that breaks the rules is killed.
class GuestInterpreter final : public Interpreter,
                               public ProcessTap,
                               public std::enable_shared_from_this<GuestInterpreter> {
 public:
  // `launch` starts the runner's process with this as its tap: at creation and at every restart. Asked for a
  // `forked` one it may give a `started` one.
  using Launch = std::function<Task<std::shared_ptr<GuestProcess>>(
      ProcessSpec spec, std::weak_ptr<ProcessTap> tap, InterpreterOrigin origin)>;
  GuestInterpreter(boost::asio::any_io_executor executor, InterpreterInfo info, Launch launch,
                   SpareOptions spare = {});
  ~GuestInterpreter() override;

  // Starts the interpreter and waits until it is ready.
  Task<void> start();
  // Ends it for good; running and waiting executions are told so.
  void shut_down(const std::string& reason);
  // Environment variables of an interpreter that started before its sandbox was given to somebody.
  void set_variables(const Variables& env);
  // Another working directory; Code::invalid_argument if it cannot be entered.
  Task<void> change_directory(std::string path);
  bool is_dead() const { return state_ == State::dead; }
  // Stands still between executions until unpark(), so that it can be copied; says what of it cannot be
  // copied, by name. Code::conflict while it is at work. Executions wait.
  Task<std::string> park();
  void unpark();
  // Goes on with an interpreter that is a copy of another interpreter's.
  Task<void> continue_as(std::shared_ptr<GuestProcess> process);
  // The same with one that was saved with its whole sandbox between two executions.
  void go_on_with(std::shared_ptr<GuestProcess> process);
  bool is_idle() const { return state_ == State::idle && process_ != nullptr && waiting_.empty(); }
  // Called whenever an execution begins.
  void on_begin(std::function<void()> begun) { begun_ = std::move(begun); }
  // Something is being executed.
  bool is_busy() const { return current_ != nullptr; }
  // Ends what is being executed, by force, and with it the interpreter; its spare goes on if there is one.
  void end_current(Ending ending, std::string reason);
  // A copy of the interpreter is kept, or being made.
  bool has_spare() const { return spare_.is_kept() || spare_.is_asked(); }
  // Nothing is left to be done about it: it is there, or the interpreter said why not.
  bool has_settled() const { return state_ == State::idle && !spare_.is_asked() && !spare_.is_wanted(); }
  // The process behind it, while there is one.
  const std::shared_ptr<GuestProcess>& process() const { return process_; }

  const InterpreterInfo& info() const override { return info_; }
  Task<std::unique_ptr<ExecutionStream>> execute(ExecutionSpec spec) override;
  Task<void> interrupt() override;
  Task<void> restart() override;
  std::string death() const override { return state_ == State::dead ? death_ : std::string(); }

  void output(Stream stream, std::string_view bytes) override;
  bool control(std::string_view bytes) override;
  std::size_t held() const override;
  void ended(const Outcome& outcome) override;
  void continued(const Outcome& outcome) override;
  void spare_known(std::uint32_t pid) override;

 private:
  using State = guest::InterpreterState;

  // Along interpreter_states.h.
  void enter(State next);

  Task<void> start_from(InterpreterOrigin origin);
  Task<void> become_ready(std::shared_ptr<GuestProcess> process);
  bool is_stale(const RunnerReader::Message& message) const;
  // What the runner said, if it may say that now. False: no honest runner would, and it is killed.
  bool take(char letter, std::string_view payload);
  bool may_be_late() const;
  bool take_ready(std::string_view payload);
  bool take_spare(std::string_view payload);
  bool take_result(std::string_view payload);
  bool take_done(std::string_view payload);
  void begin_next();
  void finish_current(Outcome outcome, std::uint64_t count);
  enum class Spare { when_calm, at_once };
  void finish_execution(Outcome outcome, std::uint64_t count, Spare spare);
  void be_ready(Outcome outcome, std::uint64_t count, Spare spare);
  static Task<void> finish_swept(std::shared_ptr<GuestInterpreter> self,
                                 std::shared_ptr<GuestExecution> execution, Outcome outcome,
                                 std::uint64_t count, Spare spare);
  void stop_current(Ending ending, std::string reason);
  // Interrupts what is executed, if the runner still executes it.
  void interrupt_current();
  // By a signal, and again until it is heard or the interpreter is killed.
  void interrupt_again(int attempt);
  void interrupt_later(std::chrono::milliseconds wait, int attempt);
  // By force: the execution that runs, or one that waits and then never begins.
  void end(const std::shared_ptr<GuestExecution>& execution, std::string reason);
  void drop(const std::shared_ptr<GuestExecution>& execution);
  void fail_all(const Outcome& outcome);
  void say(std::string words);
  void wait_for_calm();
  void look_for_calm(std::chrono::steady_clock::time_point at);
  void ask_for_spare();
  void go_on();

  boost::asio::any_io_executor executor_;
  InterpreterInfo info_;
  Launch launch_;
  std::function<void()> begun_;
  State state_ = State::absent;
  std::string death_;
  std::optional<std::string> parked_without_;  // what the runner said cannot come along
  std::string deferred_;                       // words for it when it goes on
  std::optional<std::string> moved_;  // what the runner said about its new directory; empty: all is well
  std::shared_ptr<GuestProcess> process_;
  bool strips_types_ = false;       // it was given what turns TypeScript into JavaScript
  bool lacks_interpreter_ = false;  // it said itself that there is none
  os::Event changed_;
  boost::asio::steady_timer clock_, interrupt_timer_;
  RunnerReader reader_;
  SparePolicy spare_;
  bool has_module_ = false;  // a started Python was given what it needs to make a spare
  boost::asio::steady_timer calm_, patience_;
  std::optional<Outcome> death_of_interpreter_;  // while its spare is to go on, or to end as well
  std::shared_ptr<GuestExecution> current_;
  std::string mark_;  // of the running execution: its runner says it with every word about it
  std::deque<std::shared_ptr<GuestExecution>> waiting_;
  // Why the running execution is being stopped, if it is.
  std::optional<std::pair<Ending, std::string>> stopping_;
  bool was_signaled_ = false;  // the running execution
  std::chrono::steady_clock::time_point began_;
};

}  // namespace atl::sandbox
