#include "sandbox/guest_interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cassert>
#include <csignal>

#include "base/bytes.h"
#include "base/ids.h"
#include "guest/runners.h"
#include "sandbox/interpreter_boot.h"
#include "sandbox/interpreter_states.h"

namespace atl::sandbox {
using guest::FromRunner;
using guest::SignalScope;
using guest::ToRunner;

namespace {

constexpr std::size_t kWaitingExecutionsMax = 256;
constexpr std::chrono::seconds kReadyPatience{30};
// Executions wait for an answer about a spare; it takes a millisecond.
constexpr std::chrono::seconds kSparePatience{5};
// An interrupt that is not heard is repeated, then the interpreter is killed.
constexpr std::chrono::milliseconds kInterruptAgain{1000};
constexpr int kInterrupts = 4;
// Java hears one at once, but cannot leave its compiler, which takes seconds for a first cell where others
// want the processor too; and nothing of it is left if it is killed.
constexpr int kInterruptsOfCompilers = 10;
// A runner that reads its control stream while its code waits gets a message first; a signal follows if the
// code keeps it from reading.
constexpr std::chrono::milliseconds kHearing{100};
// Where a spare goes on, less is lost by being killed.
constexpr int kInterruptsWithSpare = 2;
constexpr const char* kGoesOn = "; the context goes on with its variables as they were before this execution";

// Its runner takes ToRunner::interrupt while its code waits. Java's does so always, because a signal cannot
// interrupt a cell there.
bool hears_while_busy(Language language) {
  return interpreter_language(language) == Language::javascript || language == Language::deno ||
         language == Language::java;
}

}  // namespace

GuestInterpreter::GuestInterpreter(boost::asio::any_io_executor executor, InterpreterInfo info, Launch launch,
                                   SpareOptions spare)
    : executor_(executor),
      info_(std::move(info)),
      launch_(std::move(launch)),
      changed_(executor),
      clock_(executor),
      interrupt_timer_(executor),
      spare_(info_.language == Language::python ? spare : SpareOptions{}),
      calm_(executor),
      patience_(executor) {}

GuestInterpreter::~GuestInterpreter() {
  if (process_ && !process_->has_ended()) process_->end_with(Ending::killed, "its interpreter was dropped");
}

Task<void> GuestInterpreter::start() {
  const auto self = shared_from_this();
  if (info_.language == Language::python) {
    const auto forked = co_await start_from(InterpreterOrigin::forked);
    // One that could not be forked into this sandbox (its user or directory do not exist, say) is started as
    // any program would be. If that fails, too, its error is the clearer one.
    if (forked || info_.origin != InterpreterOrigin::forked) co_return forked;
  }
  lacks_interpreter_ = false;
  auto started = co_await start_from(InterpreterOrigin::started);
  if (!started && lacks_interpreter_)
    co_return fail(Code::unsupported, lacks_interpreter(info_.language, death_));
  co_return started;
}

Task<void> GuestInterpreter::start_from(InterpreterOrigin origin) {
  enter(State::starting);
  // Nothing of an earlier process may be taken for this one's.
  reader_.clear(), death_.clear();
  death_of_interpreter_.reset();
  spare_.reset();
  strips_types_ = has_module_ = false;
  ProcessSpec spec = runner_process(info_);
  // Weak: the process must not keep its interpreter, which owns it.
  std::weak_ptr<ProcessTap> tap = weak_from_this();
  auto launched = co_await launch_(std::move(spec), tap, origin);
  if (!launched) {
    info_.origin = InterpreterOrigin::started;
    enter(State::dead), death_ = launched.error().message();
    if (launched.error().code() == Code::not_found)
      co_return fail(Code::unsupported, lacks_interpreter(info_.language, death_));
    co_return fail(launched.error());
  }
  process_ = *launched;
  info_.origin = process_->is_direct() ? InterpreterOrigin::forked : InterpreterOrigin::started;
  if (info_.cwd.empty()) info_.cwd = process_->info().cwd;
  const auto process = process_;
  // A fork of a zygote has its runner already and gets variables only; a fresh process is sent its runner
  // first.
  if (process->is_direct()) {
    set_variables(process->info().env);
  } else {
    std::string words;
    for (const auto& [letter, payload] : first_messages(info_)) words += encode_message(letter, payload);
    CO_CHECK(co_await process->write_control(std::move(words)));
  }
  co_return co_await become_ready(process);
}

Task<void> GuestInterpreter::become_ready(std::shared_ptr<GuestProcess> process) {
  clock_.expires_after(kReadyPatience);
  clock_.async_wait([weak = weak_from_this(), process](boost::system::error_code error) {
    const auto interpreter = weak.lock();
    if (!error && interpreter && interpreter->process_ == process && interpreter->state_ == State::starting)
      process->end_with(Ending::timed_out, "the interpreter did not become ready");
  });
  // The clock above, an exit or the runner's own word ends this wait.
  while (state_ == State::starting) CO_CHECK(co_await changed_.wait());
  clock_.cancel();
  if (state_ == State::dead)
    co_return fail(Code::provider_failed, fmt::format("the interpreter did not start: {}", death_));
  begin_next();
  wait_for_calm();
  co_return Result<void>();
}

Task<void> GuestInterpreter::continue_as(std::shared_ptr<GuestProcess> process) {
  const auto self = shared_from_this();
  enter(State::starting);
  process_ = process;
  info_.origin = InterpreterOrigin::forked;
  spare_.inherit();
  CO_CHECK(co_await process->start());
  co_return co_await become_ready(process);
}

void GuestInterpreter::go_on_with(std::shared_ptr<GuestProcess> process) {
  enter(State::starting);
  process_ = std::move(process);
  process_->set_since(std::nullopt);
  info_.origin = InterpreterOrigin::started;
  if (info_.cwd.empty()) info_.cwd = process_->info().cwd;
  spare_.inherit();
  enter(State::idle);
  // Others go on from the same memory and must not draw the same numbers.
  if (info_.language == Language::python)
    say(encode_message(ToRunner::reseed, guest::runner("python_chance.py")));
}

Task<std::string> GuestInterpreter::park() {
  const auto self = shared_from_this();
  if (state_ != State::idle || !process_) co_return fail(Code::conflict, "it is at work");
  if (info_.origin != InterpreterOrigin::forked)
    co_return fail(Code::conflict, "it was not forked from a zygote");
  parked_without_.reset();
  enter(State::parked);
  const auto process = process_;
  clock_.expires_after(kReadyPatience);
  clock_.async_wait([weak = weak_from_this(), process](boost::system::error_code error) {
    const auto interpreter = weak.lock();
    if (!error && interpreter && interpreter->process_ == process && interpreter->state_ == State::parked &&
        !interpreter->parked_without_)
      process->end_with(Ending::timed_out, "the interpreter did not come to rest");
  });
  std::string words = encode_message(ToRunner::park, {});
  CO_CHECK(co_await process->write_control(std::move(words)));
  while (!parked_without_ && state_ == State::parked) CO_CHECK(co_await changed_.wait());
  clock_.cancel();
  if (!parked_without_) co_return fail(Code::conflict, fmt::format("it died: {}", death_));
  co_return *parked_without_;
}

void GuestInterpreter::unpark() {
  if (state_ != State::parked || !process_) return;
  enter(State::idle);
  say(encode_message(ToRunner::unpark, {}) + std::exchange(deferred_, {}));
  begin_next();
  wait_for_calm();
}

Task<void> GuestInterpreter::change_directory(std::string path) {
  const auto self = shared_from_this();
  if (state_ != State::idle || !process_) co_return fail(Code::conflict, "the interpreter is busy or dead");
  moved_.reset();
  const auto process = process_;
  std::string words = encode_message(ToRunner::change_directory, path);
  CO_CHECK(co_await process->write_control(std::move(words)));
  while (!moved_ && state_ != State::dead) CO_CHECK(co_await changed_.wait());
  if (!moved_) co_return fail(Code::provider_failed, fmt::format("the interpreter died: {}", death_));
  if (!moved_->empty()) co_return fail(Code::invalid_argument, fmt::format("cwd '{}': {}", path, *moved_));
  info_.cwd = std::move(path);
  co_return Result<void>();
}

void GuestInterpreter::set_variables(const Variables& env) {
  if (!process_ || state_ == State::dead || env.empty()) return;
  std::string words;
  for (const auto& [name, value] : env) words += encode_message(ToRunner::variable, name + "=" + value);
  // A parked interpreter reads nothing until it is unparked.
  if (state_ == State::parked) {
    deferred_ += words;
    return;
  }
  spare_.note_variables(words);
  say(std::move(words));
}

void GuestInterpreter::enter(State next) {
  assert(can_follow(state_, next));
  state_ = next;
}

void GuestInterpreter::shut_down(const std::string& reason) {
  enter(State::dead), death_ = reason;
  Outcome outcome;
  outcome.ending = Ending::killed, outcome.reason = reason;
  fail_all(outcome);
  death_of_interpreter_.reset();
  if (process_ && !process_->has_ended()) process_->end_with(Ending::killed, reason);
  process_.reset();
  changed_.notify();
}

Task<std::unique_ptr<ExecutionStream>> GuestInterpreter::execute(ExecutionSpec spec) {
  const auto self = shared_from_this();
  if (state_ == State::dead)
    co_return fail(
        Error(Code::conflict, fmt::format("interpreter {} is dead ({}): restart it", info_.id, death_))
            .with_field(std::string(kDeadInterpreter)));
  if (waiting_.size() >= kWaitingExecutionsMax)
    co_return fail(Code::resource_exhausted, "too many executions wait for this interpreter");
  if (spec.language && interpreter_language(*spec.language) != interpreter_language(info_.language))
    co_return fail(Code::invalid_argument,
                   fmt::format("interpreter {} cannot execute {}", info_.id, to_string(*spec.language)));
  if ((info_.language == Language::shell || info_.language == Language::r) && spec.code.contains('\0'))
    co_return fail(Code::invalid_argument,
                   fmt::format("code for {} cannot contain a NUL byte", to_string(info_.language)));
  for (const auto& [name, value] : spec.env)
    if (name.empty() || name.find('=') != std::string::npos || (name + value).find('\0') != std::string::npos)
      co_return fail(Code::invalid_argument, fmt::format("'{}' is not a variable", name));
  const auto execution = std::make_shared<GuestExecution>(executor_, std::move(spec));
  // Executions of one interpreter run one after the other, in the order in which they came.
  waiting_.push_back(execution);
  begin_next();
  // Three ways in which the stream talks back: it took output, it was dropped, its execution is to end.
  auto heard = [weak = weak_from_this()] {
    const auto interpreter = weak.lock();
    if (interpreter && interpreter->process_) interpreter->process_->grant();
  };
  auto gone = [weak = weak_from_this(), execution] {
    if (const auto interpreter = weak.lock()) interpreter->drop(execution);
  };
  auto ended = [weak = weak_from_this(), execution](std::string reason) {
    if (const auto interpreter = weak.lock()) interpreter->end(execution, std::move(reason));
  };
  co_return stream_of(execution, {std::move(heard), std::move(gone), std::move(ended)});
}

void GuestInterpreter::drop(const std::shared_ptr<GuestExecution>& execution) {
  std::erase(waiting_, execution);
  execution->drop_unheard();
  if (process_) process_->grant();
  if (current_ == execution && !execution->is_done()) stop_current(Ending::killed, "nobody listens any more");
}

void GuestInterpreter::begin_next() {
  if (state_ != State::idle || waiting_.empty() || !process_ || spare_.is_asked()) return;
  enter(State::busy);
  process_->set_since(boot_micros());
  if (begun_) begun_();
  spare_.begin();
  current_ = waiting_.front();
  waiting_.pop_front();
  stopping_.reset();
  was_signaled_ = false;
  began_ = std::chrono::steady_clock::now();
  const ExecutionSpec& spec = current_->spec();
  // Messages about an execution carry this word, so that late ones of an earlier execution's threads and
  // children are told apart.
  mark_ = random_hex(8);
  std::string words = encode_message(ToRunner::mark, mark_);
  for (const auto& [name, value] : spec.env)
    words += encode_message(ToRunner::variable_once, name + "=" + value);
  const bool typed = spec.language.value_or(info_.language) == Language::typescript;
  // Sent once, with the first TypeScript: it is large.
  if (typed && !std::exchange(strips_types_, true))
    words += encode_message(ToRunner::type_stripper, guest::type_stripper());
  words += encode_message(typed ? ToRunner::execute_types : ToRunner::execute, spec.code);
  say(std::move(words));
  if (!spec.wall_time) return;
  clock_.expires_after(*spec.wall_time);
  clock_.async_wait([weak = weak_from_this(), execution = current_](boost::system::error_code error) {
    const auto interpreter = weak.lock();
    if (error || !interpreter || interpreter->current_ != execution) return;
    interpreter->stop_current(Ending::timed_out,
                              fmt::format("wall time limit of {}", seconds_of(*execution->spec().wall_time)));
  });
}

void GuestInterpreter::stop_current(Ending ending, std::string reason) {
  if (!current_ || stopping_) return;
  // Kept until the runner says that it is done: the reason of the first stop is the one that is told.
  stopping_.emplace(ending, std::move(reason));
  interrupt_current();
}

// Holds the process until everything is written: the interpreter may drop it before.
static Task<void> write_all(std::shared_ptr<GuestProcess> process, std::string words) {
  co_return co_await process->write_control(std::move(words));
}

void GuestInterpreter::say(std::string words) {
  if (!process_->write_control_now(words))
    boost::asio::co_spawn(executor_, write_all(process_, std::move(words)), boost::asio::detached);
}

// A signal does not say which execution it is for and reaches whatever runs when it arrives; a message on the
// control stream names its execution. Code that only waits gets a message, so that most signals meet code
// that is at work.
void GuestInterpreter::interrupt_current() {
  if (!current_ || !process_ || state_ != State::busy || mark_.empty()) return;
  if (!hears_while_busy(info_.language)) return interrupt_again(0);
  say(encode_message(ToRunner::interrupt, mark_));
  interrupt_later(kHearing, 0);
}

// Again and again, and finally kills.
void GuestInterpreter::interrupt_again(int attempt) {
  if (!current_ || !process_ || state_ != State::busy || mark_.empty()) return;
  const bool spared = spare_.is_fresh(true);
  const int patience = info_.language == Language::java ? kInterruptsOfCompilers : kInterrupts;
  if (attempt >= (spared ? kInterruptsWithSpare : patience)) {
    std::string reason = stopping_ ? stopping_->second : "it did not react to an interrupt";
    reason += "; the interpreter was killed";
    if (const std::string lack = spare_.lack(); !spared && !lack.empty())
      reason += fmt::format(", and no copy of it was kept: {}", lack);
    return end_current(stopping_ ? stopping_->first : Ending::killed, std::move(reason));
  }
  was_signaled_ = true;
  process_->send_signal(SIGINT, SignalScope::group);
  interrupt_later(kInterruptAgain, attempt + 1);
}

void GuestInterpreter::interrupt_later(std::chrono::milliseconds wait, int attempt) {
  interrupt_timer_.expires_after(wait);
  interrupt_timer_.async_wait(
      [weak = weak_from_this(), execution = current_, attempt](boost::system::error_code error) {
        const auto interpreter = weak.lock();
        if (!error && interpreter && interpreter->current_ == execution)
          interpreter->interrupt_again(attempt);
      });
}

void GuestInterpreter::end_current(Ending ending, std::string reason) {
  if (!current_ || !process_ || process_->has_ended()) return;
  if (spare_.is_fresh(true)) return process_->end_but_spare(ending, std::move(reason));
  process_->end_with(ending, std::move(reason));
}

Task<void> GuestInterpreter::interrupt() {
  if (state_ == State::dead)
    co_return fail(Code::conflict, fmt::format("interpreter {} is dead ({})", info_.id, death_));
  interrupt_current();
  co_return Result<void>();
}

void GuestInterpreter::end(const std::shared_ptr<GuestExecution>& execution, std::string reason) {
  if (execution == current_) return end_current(Ending::killed, std::move(reason));
  if (std::erase(waiting_, execution) == 0) return;
  Outcome outcome;
  outcome.ending = Ending::killed, outcome.signal = SIGKILL;
  outcome.reason = std::move(reason);
  execution->finish(std::move(outcome), 0);
}

Task<void> GuestInterpreter::restart() {
  const auto self = shared_from_this();
  const auto old = process_;
  shut_down("the interpreter was restarted");
  if (old) CO_CHECK(co_await old->wait());
  co_return co_await start();
}

void GuestInterpreter::output(Stream stream, std::string_view bytes) {
  if (!current_) return;  // of a thread or child that outlived its execution
  const auto execution = current_;
  if (execution->add_output(stream, bytes).is_over_limit)
    stop_current(Ending::output_limit,
                 fmt::format("output limit of {} bytes", *execution->spec().output_bytes));
}

std::size_t GuestInterpreter::held() const {
  // While a spare takes over, listeners that are slow to read the dead interpreter's output must not hold it
  // up.
  return current_ && state_ != State::continuing ? current_->held() : 0;
}

// A result of an execution that is over, or of a child or thread that does not know which one runs, says so
// by its mark. It is ignored.
bool GuestInterpreter::is_stale(const RunnerReader::Message& message) const {
  const guest::RunnerMessage* const row = guest::find_message(guest::Direction::from_runner, message.letter);
  return row != nullptr && row->has_mark && (mark_.empty() || message.mark != mark_);
}

bool GuestInterpreter::control(std::string_view bytes) {
  reader_.add(bytes);
  while (const auto message = reader_.next())
    if (!is_stale(*message) && !take(message->letter, message->payload)) return false;
  return !reader_.is_broken();
}

bool GuestInterpreter::take(char letter, std::string_view payload) {
  const guest::RunnerMessage* const row = guest::find_message(guest::Direction::from_runner, letter);
  // A message that does not fit the state breaks the protocol, and the interpreter is killed for it.
  if (row == nullptr || !guest::is_in(state_, row->in)) return may_be_late();
  switch (static_cast<FromRunner>(letter)) {
    case FromRunner::ready: return take_ready(payload);
    case FromRunner::lacking:
      lacks_interpreter_ = true;
      death_ = to_valid_utf8(payload);
      return true;
    case FromRunner::start_error: death_ = to_valid_utf8(payload); return true;
    case FromRunner::spare: return take_spare(payload);
    case FromRunner::parked:
      if (parked_without_) return true;
      parked_without_ = to_valid_utf8(payload);
      spare_.forget();
      changed_.notify();
      return true;
    case FromRunner::directory:
      if (moved_) return true;
      moved_ = to_valid_utf8(payload);
      changed_.notify();
      return true;
    case FromRunner::result: return current_ && take_result(payload);
    case FromRunner::failure: {
      auto failure = decode_failure(payload);
      if (!current_ || !failure) return false;
      current_->add(std::move(*failure), 0);
      return true;
    }
    case FromRunner::done: return current_ && take_done(payload);
  }
  return false;
}

// A thread that its execution left behind may say anything between two executions.
bool GuestInterpreter::may_be_late() const {
  return !current_ && (state_ == State::idle || state_ == State::parked);
}

bool GuestInterpreter::take_ready(std::string_view payload) {
  if (state_ == State::continuing) {
    go_on();
    return true;
  }
  if (info_.cwd.empty()) info_.cwd = to_valid_utf8(payload);
  enter(State::idle);
  changed_.notify();
  return true;
}

bool GuestInterpreter::take_spare(std::string_view payload) {
  if (!spare_.is_owed()) return may_be_late();
  if (!process_) return true;  // output of a process that is no longer ours
  if (const auto pid = spare_.take_answer(payload))
    process_->set_spare(*pid);
  else
    begin_next();
  return true;
}

bool GuestInterpreter::take_result(std::string_view payload) {
  if (payload.empty()) return false;
  if (!current_->count_result(payload.size())) {
    stop_current(Ending::output_limit, fmt::format("results of more than {} bytes", kResultsMax));
    return true;
  }
  auto bundle = decode_result(payload);
  if (!bundle) return false;
  current_->add(std::move(*bundle), payload.size());
  return true;
}

bool GuestInterpreter::take_done(std::string_view payload) {
  const auto done = decode_done(payload);
  if (!done) return false;
  Outcome outcome;
  outcome.exit_code = done->exit_code;
  if (stopping_)
    outcome.ending = stopping_->first, outcome.reason = stopping_->second, outcome.signal = SIGINT;
  const auto ran = std::chrono::steady_clock::now() - began_;
  finish_execution(std::move(outcome), done->count,
                   spare_.is_due_after(ran) ? Spare::at_once : Spare::when_calm);
  return true;
}

// The interpreter is ready for the next execution. Before the end of one that was cut short is reported,
// everything that it started has ended; and a signal that was meant for it arrives before the next one
// begins.
void GuestInterpreter::finish_execution(Outcome outcome, std::uint64_t count, Spare spare) {
  if (current_ && process_ && (was_cut_short(outcome.ending) || was_signaled_)) {
    clock_.cancel(), interrupt_timer_.cancel();
    enter(State::busy);
    mark_.clear();
    boost::asio::co_spawn(executor_,
                          finish_swept(shared_from_this(), current_, std::move(outcome), count, spare),
                          boost::asio::detached);
    return;
  }
  be_ready(std::move(outcome), count, spare);
}

void GuestInterpreter::be_ready(Outcome outcome, std::uint64_t count, Spare spare) {
  enter(State::idle);
  finish_current(std::move(outcome), count);
  if (spare == Spare::at_once) ask_for_spare();
  begin_next();
  wait_for_calm();
  changed_.notify();
}

Task<void> GuestInterpreter::finish_swept(std::shared_ptr<GuestInterpreter> self,
                                          std::shared_ptr<GuestExecution> execution, Outcome outcome,
                                          std::uint64_t count, Spare spare) {
  if (const auto process = self->process_; process && !was_cut_short(outcome.ending)) {
    // The guest handles messages in order: when it answers this ping, every signal that it was asked to send
    // before has been sent.
    std::string nothing;
    (void)co_await process->frames()->call(guest::Type::ping, std::move(nothing));
  } else if (process && process->since()) {
    Sweep sweep{.since_us = *process->since()};
    sweep.interpreters.push_back({.channel = process->channel()});
    (void)co_await sweep_background(process->frames(), std::move(sweep));
  }
  // Unless it ended meanwhile, or was shut down.
  if (self->current_ == execution && self->state_ == State::busy)
    self->be_ready(std::move(outcome), count, spare);
  co_return Result<void>();
}

void GuestInterpreter::finish_current(Outcome outcome, std::uint64_t count) {
  clock_.cancel(), interrupt_timer_.cancel();
  const auto finished = std::exchange(current_, nullptr);
  mark_.clear();
  stopping_.reset();
  if (process_) process_->set_since(std::nullopt);
  if (!finished) return;
  outcome.usage.wall_time =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began_);
  finished->finish(std::move(outcome), count);
  if (process_) process_->grant();
}

void GuestInterpreter::fail_all(const Outcome& outcome) {
  finish_current(outcome, 0);
  for (const auto& execution : std::exchange(waiting_, {})) execution->finish(outcome, 0);
}

namespace {

Outcome with_reason(Outcome outcome) {
  if (outcome.reason.empty()) {
    outcome.reason = outcome.ending == Ending::exited
                         ? fmt::format("the interpreter's process exited with code {}", outcome.exit_code)
                         : fmt::format("the interpreter's process was ended by signal {}", outcome.signal);
  }
  return outcome;
}

}  // namespace

void GuestInterpreter::ended(const Outcome& outcome) {
  Outcome told = with_reason(outcome);
  // Its spare did not last: what matters is how the interpreter ended.
  if (death_of_interpreter_ && told.ending != Ending::lost) told = *death_of_interpreter_;
  death_of_interpreter_.reset();
  if (state_ == State::starting && !death_.empty())
    enter(State::dead);  // it said why itself
  else if (state_ != State::dead)
    enter(State::dead), death_ = told.reason;
  spare_.forget();
  fail_all(told);
  changed_.notify();
}

// One timer serves all executions that follow each other closely.
void GuestInterpreter::wait_for_calm() {
  if (state_ != State::idle || !spare_.is_wanted()) return;
  if (const auto look_at = spare_.begin_calm(std::chrono::steady_clock::now())) look_for_calm(*look_at);
}

void GuestInterpreter::look_for_calm(std::chrono::steady_clock::time_point at) {
  calm_.expires_at(at);
  calm_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto interpreter = weak.lock();
    if (error || !interpreter) return;
    const auto again = interpreter->state_ == State::idle
                           ? interpreter->spare_.look_again(std::chrono::steady_clock::now())
                           : std::nullopt;
    if (again) return interpreter->look_for_calm(*again);
    interpreter->spare_.end_calm();
    interpreter->ask_for_spare();
  });
}

void GuestInterpreter::ask_for_spare() {
  if (state_ != State::idle || !process_ || !spare_.is_wanted()) return;
  std::string words;
  if (info_.origin == InterpreterOrigin::started && !std::exchange(has_module_, true))
    words += encode_message(ToRunner::spare_module, guest::started_module());
  words += encode_message(ToRunner::make_spare, spare_.request());
  say(std::move(words));
  patience_.expires_after(kSparePatience);
  patience_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto interpreter = weak.lock();
    if (error || !interpreter || !interpreter->spare_.is_asked()) return;
    interpreter->spare_.give_up();
    interpreter->begin_next();
  });
}

void GuestInterpreter::spare_known(std::uint32_t pid) {
  spare_.confirm(pid);
  begin_next();
}

void GuestInterpreter::continued(const Outcome& outcome) {
  if (state_ == State::dead || !process_) return;  // it is being ended with everything of it
  const bool executing = state_ == State::busy;
  if (!death_of_interpreter_) death_of_interpreter_ = with_reason(outcome);
  if ((!executing && state_ != State::idle) || !spare_.is_fresh(executing))
    return process_->end_with(outcome.ending, "a copy that nobody waits for");
  enter(State::continuing);
  const std::string word = spare_.use();
  reader_.skip_to(word);
  say(word + spare_.take_variables());
  process_->grant();
  interrupt_timer_.cancel();
  clock_.expires_after(kReadyPatience);
  clock_.async_wait([weak = weak_from_this(), process = process_](boost::system::error_code error) {
    const auto interpreter = weak.lock();
    if (!error && interpreter && interpreter->process_ == process && interpreter->state_ == State::continuing)
      process->end_with(Ending::killed, "the copy of the interpreter did not go on");
  });
}

void GuestInterpreter::go_on() {
  Outcome told = std::exchange(death_of_interpreter_, std::nullopt).value_or(Outcome{});
  told.reason += kGoesOn;
  // An interpreter that dies while it executes nothing may do so again and again: its next copy is made only
  // when it is calm, which bounds the pace.
  const Spare spare = current_ != nullptr ? Spare::at_once : Spare::when_calm;
  finish_execution(std::move(told), 0, spare);
}

}  // namespace atl::sandbox
