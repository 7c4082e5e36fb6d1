#include "sandbox/link_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <charconv>
#include <csignal>

#include "base/bytes.h"
#include "base/ids.h"
#include "guest/runners.h"
#include "sandbox/kernel_boot.h"

namespace atl::sandbox {
using guest::SignalScope;

namespace {

// One message of a runner: an image may be large, a flood may not.
constexpr std::size_t kMessageMax = 64U << 20;
constexpr std::size_t kResultsMax = 128U << 20;
constexpr std::size_t kWaitingMax = 256;
constexpr std::chrono::seconds kReadyPatience{30};
// Executions wait for an answer about a spare; it takes a millisecond.
constexpr std::chrono::seconds kSparePatience{5};
// An interrupt that is not heard is repeated, then the kernel is killed.
constexpr std::chrono::milliseconds kPressAgain{1000};
constexpr int kPresses = 4;
// Where a spare goes on, less is lost by being killed.
constexpr int kPressesWithSpare = 2;
constexpr const char* kGoesOn = "; the context goes on with its variables as they were before this execution";

std::string message(char kind, std::string_view payload) {
  return fmt::format("{} {}\n{}", kind, payload.size(), payload);
}

std::string seconds_of(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                  : fmt::format("{:.3f} s", static_cast<double>(time.count()) / 1000);
}

// "<size>\n<bytes>"; false if there is none.
bool take_field(std::string_view& from, std::string_view& field) {
  const std::size_t line = from.find('\n');
  std::size_t size = 0;
  if (line == std::string_view::npos) return false;
  const char* const begin = from.data();
  const auto [end, error] = std::from_chars(begin, begin + line, size);
  if (error != std::errc() || end != begin + line || size > from.size() - line - 1) return false;
  field = from.substr(line + 1, size);
  from.remove_prefix(line + 1 + size);
  return true;
}

}  // namespace

// One execution: what it said and was not yet heard. Shared by its kernel and its stream.
class LinkExecution {
 public:
  LinkExecution(const boost::asio::any_io_executor& executor, ExecutionSpec spec)
      : spec_(std::move(spec)), changed_(executor) {}

  void add(ExecutionEvent event, std::size_t bytes) {
    if (done_) return;
    queued_ += bytes;
    events_.emplace_back(std::move(event), bytes);
    changed_.notify();
  }
  void finish(Outcome outcome, std::uint64_t count) {
    if (done_) return;
    outcome.usage.output_bytes = output_bytes_;
    add(ExecutionDone{std::move(outcome), count}, 0);
    done_ = true;
  }

  ExecutionSpec spec_;
  os::Event changed_;
  std::deque<std::pair<ExecutionEvent, std::size_t>> events_;
  std::size_t queued_ = 0;
  std::uint64_t output_bytes_ = 0;
  std::size_t result_bytes_ = 0;
  bool done_ = false;
};

namespace {

class LinkExecutionStream final : public ExecutionStream {
 public:
  LinkExecutionStream(std::shared_ptr<LinkExecution> execution, std::function<void()> heard,
                      std::function<void()> gone)
      : execution_(std::move(execution)), heard_(std::move(heard)), gone_(std::move(gone)) {}
  ~LinkExecutionStream() override { gone_(); }

  Task<ExecutionEvent> next() override {
    LinkExecution& from = *execution_;
    while (from.events_.empty() && !from.done_) CO_CHECK(co_await from.changed_.wait());
    if (from.events_.empty()) co_return fail(Code::conflict, "the execution has ended and its end was told");
    ExecutionEvent event = std::move(from.events_.front().first);
    from.queued_ -= from.events_.front().second;
    from.events_.pop_front();
    heard_();
    co_return event;
  }

 private:
  std::shared_ptr<LinkExecution> execution_;
  std::function<void()> heard_, gone_;
};

}  // namespace

LinkKernel::LinkKernel(boost::asio::any_io_executor executor, KernelInfo info, Launch launch,
                       SpareOptions spare)
    : executor_(executor),
      info_(std::move(info)),
      launch_(std::move(launch)),
      changed_(executor),
      clock_(executor),
      pressure_(executor),
      spare_(info_.language == Language::python ? spare : SpareOptions{}),
      calm_(executor),
      patience_(executor) {}

LinkKernel::~LinkKernel() {
  if (process_ && !process_->has_ended()) process_->end_with(Ending::killed, "its kernel was dropped");
}

Task<void> LinkKernel::start() {
  const auto self = shared_from_this();
  if (info_.language == Language::python) {
    const auto born = co_await start_from(KernelOrigin::born);
    // One that could not be born into this sandbox (its user or directory are not there, say) is started as any
    // program would be, and if that fails too, its words are the clearer ones.
    if (born || info_.origin != KernelOrigin::born) co_return born;
  }
  lacks_interpreter_ = false;
  auto started = co_await start_from(KernelOrigin::started);
  if (!started && lacks_interpreter_) co_return fail(Code::unsupported, lacks_interpreter(info_.language, death_));
  co_return started;
}

Task<void> LinkKernel::start_from(KernelOrigin origin) {
  state_ = State::starting;
  pending_.clear(), death_.clear(), sought_.clear(), since_spare_.clear();
  death_of_interpreter_.reset();
  spare_.reset();
  strips_types_ = has_module_ = false;
  ProcessSpec spec = runner_process(info_);
  std::weak_ptr<ProcessTap> tap = weak_from_this();
  auto launched = co_await launch_(std::move(spec), tap, origin);
  if (!launched) {
    info_.origin = KernelOrigin::started;
    state_ = State::dead, death_ = launched.error().message();
    if (launched.error().code() == Code::not_found)
      co_return fail(Code::unsupported, lacks_interpreter(info_.language, death_));
    co_return fail(launched.error());
  }
  process_ = *launched;
  info_.origin = process_->is_direct() ? KernelOrigin::born : KernelOrigin::started;
  if (info_.cwd.empty()) info_.cwd = process_->info().cwd;
  const auto process = process_;
  if (process->is_direct()) {
    set_variables(process->info().env);
  } else {
    std::string words;
    for (const auto& [kind, payload] : first_messages(info_)) words += message(kind, payload);
    CO_CHECK(co_await process->write_control(std::move(words)));
  }
  co_return co_await become_ready(process);
}

Task<void> LinkKernel::become_ready(std::shared_ptr<LinkProcess> process) {
  clock_.expires_after(kReadyPatience);
  clock_.async_wait([weak = weak_from_this(), process](boost::system::error_code error) {
    const auto kernel = weak.lock();
    if (!error && kernel && kernel->process_ == process && kernel->state_ == State::starting)
      process->end_with(Ending::timed_out, "the interpreter did not become ready");
  });
  while (state_ == State::starting) CO_CHECK(co_await changed_.wait());
  clock_.cancel();
  if (state_ == State::dead)
    co_return fail(Code::provider_failed, fmt::format("the interpreter did not start: {}", death_));
  begin_next();
  wait_for_calm();
  co_return Result<void>();
}

Task<void> LinkKernel::continue_as(std::shared_ptr<LinkProcess> process) {
  const auto self = shared_from_this();
  state_ = State::starting;
  process_ = process;
  info_.origin = KernelOrigin::born;
  spare_.inherit();
  CO_CHECK(co_await process->start());
  co_return co_await become_ready(process);
}

Task<std::string> LinkKernel::park() {
  const auto self = shared_from_this();
  if (state_ != State::idle || !process_) co_return fail(Code::conflict, "it is at work");
  if (info_.origin != KernelOrigin::born) co_return fail(Code::conflict, "it was not born from a zygote");
  parked_without_.reset();
  state_ = State::parked;
  const auto process = process_;
  clock_.expires_after(kReadyPatience);
  clock_.async_wait([weak = weak_from_this(), process](boost::system::error_code error) {
    const auto kernel = weak.lock();
    if (!error && kernel && kernel->process_ == process && kernel->state_ == State::parked && !kernel->parked_without_)
      process->end_with(Ending::timed_out, "the interpreter did not come to rest");
  });
  std::string words = message('B', {});
  CO_CHECK(co_await process->write_control(std::move(words)));
  while (!parked_without_ && state_ == State::parked) CO_CHECK(co_await changed_.wait());
  clock_.cancel();
  if (!parked_without_) co_return fail(Code::conflict, fmt::format("it died: {}", death_));
  co_return *parked_without_;
}

void LinkKernel::unpark() {
  if (state_ != State::parked || !process_) return;
  state_ = State::idle;
  say(message('U', {}) + std::exchange(deferred_, {}));
  begin_next();
  wait_for_calm();
}

Task<void> LinkKernel::change_directory(std::string path) {
  const auto self = shared_from_this();
  if (state_ != State::idle || !process_) co_return fail(Code::conflict, "the kernel is busy or dead");
  moved_.reset();
  const auto process = process_;
  std::string words = message('W', path);
  CO_CHECK(co_await process->write_control(std::move(words)));
  while (!moved_ && state_ != State::dead) CO_CHECK(co_await changed_.wait());
  if (!moved_) co_return fail(Code::provider_failed, fmt::format("the kernel died: {}", death_));
  if (!moved_->empty()) co_return fail(Code::invalid_argument, fmt::format("cwd '{}': {}", path, *moved_));
  info_.cwd = std::move(path);
  co_return Result<void>();
}

void LinkKernel::set_variables(const Variables& env) {
  if (!process_ || state_ == State::dead || env.empty()) return;
  std::string words;
  for (const auto& [name, value] : env) words += message('P', name + "=" + value);
  if (state_ == State::parked) {
    deferred_ += words;
    return;
  }
  if (has_spare()) since_spare_ += words;
  say(std::move(words));
}

void LinkKernel::shut_down(const std::string& reason) {
  state_ = State::dead, death_ = reason;
  Outcome outcome;
  outcome.ending = Ending::killed, outcome.reason = reason;
  fail_all(outcome);
  death_of_interpreter_.reset();
  if (process_ && !process_->has_ended()) process_->end_with(Ending::killed, reason);
  process_.reset();
  changed_.notify();
}

Task<std::unique_ptr<ExecutionStream>> LinkKernel::execute(ExecutionSpec spec) {
  const auto self = shared_from_this();
  if (state_ == State::dead)
    co_return fail(Error(Code::conflict, fmt::format("kernel {} is dead ({}): restart it", info_.id, death_))
                       .with_field(std::string(kDeadKernel)));
  if (waiting_.size() >= kWaitingMax)
    co_return fail(Code::resource_exhausted, "too many executions wait for this kernel");
  if (spec.language && kernel_language(*spec.language) != kernel_language(info_.language))
    co_return fail(Code::invalid_argument, fmt::format("kernel {} cannot execute {}", info_.id, to_string(*spec.language)));
  if ((info_.language == Language::shell || info_.language == Language::r) && spec.code.contains('\0'))
    co_return fail(Code::invalid_argument,
                   fmt::format("code for {} cannot contain a NUL byte", to_string(info_.language)));
  for (const auto& [name, value] : spec.env)
    if (name.empty() || name.find('=') != std::string::npos || (name + value).find('\0') != std::string::npos)
      co_return fail(Code::invalid_argument, fmt::format("'{}' is not a variable", name));
  const auto execution = std::make_shared<LinkExecution>(executor_, std::move(spec));
  waiting_.push_back(execution);
  begin_next();
  auto heard = [weak = weak_from_this()] {
    const auto kernel = weak.lock();
    if (kernel && kernel->process_) kernel->process_->grant();
  };
  auto gone = [weak = weak_from_this(), execution] {
    if (const auto kernel = weak.lock()) kernel->drop(execution);
  };
  co_return std::unique_ptr<ExecutionStream>(
      std::make_unique<LinkExecutionStream>(execution, std::move(heard), std::move(gone)));
}

void LinkKernel::drop(const std::shared_ptr<LinkExecution>& execution) {
  std::erase(waiting_, execution);
  execution->events_.clear(), execution->queued_ = 0;
  if (process_) process_->grant();
  if (current_ == execution && !execution->done_) stop_current(Ending::killed, "nobody listens any more");
}

void LinkKernel::begin_next() {
  if (state_ != State::idle || waiting_.empty() || !process_ || spare_.is_asked()) return;
  state_ = State::busy;
  process_->set_since(boot_micros());
  if (begun_) begun_();
  spare_.begin();
  current_ = waiting_.front();
  waiting_.pop_front();
  stopping_.reset();
  began_ = std::chrono::steady_clock::now();
  const ExecutionSpec& spec = current_->spec_;
  mark_ = random_hex(8);
  std::string words = message('A', mark_);
  for (const auto& [name, value] : spec.env) words += message('V', name + "=" + value);
  const bool typed = spec.language.value_or(info_.language) == Language::typescript;
  if (typed && !std::exchange(strips_types_, true)) words += message('T', guest::type_stripper());
  words += message(typed ? 'Y' : 'X', spec.code);
  say(std::move(words));
  if (!spec.wall_time) return;
  clock_.expires_after(*spec.wall_time);
  clock_.async_wait([weak = weak_from_this(), execution = current_](boost::system::error_code error) {
    const auto kernel = weak.lock();
    if (error || !kernel || kernel->current_ != execution) return;
    kernel->stop_current(Ending::timed_out,
                         fmt::format("wall time limit of {}", seconds_of(*execution->spec_.wall_time)));
  });
}

void LinkKernel::stop_current(Ending ending, std::string reason) {
  if (!current_ || stopping_) return;
  stopping_.emplace(ending, std::move(reason));
  press(0);
}

// To the interpreter. More than the window goes out as the guest takes it.
// The kernel may let its process go before all is written.
static Task<void> write_all(std::shared_ptr<LinkProcess> process, std::string words) {
  co_return co_await process->write_control(std::move(words));
}

void LinkKernel::say(std::string words) {
  if (!process_->write_control_now(words))
    boost::asio::co_spawn(executor_, write_all(process_, std::move(words)), boost::asio::detached);
}

// Interrupts, again and again, and finally kills.
void LinkKernel::press(int attempt) {
  if (!current_ || !process_ || state_ != State::busy) return;
  const bool spared = spare_.is_fresh(true);
  if (attempt >= (spared ? kPressesWithSpare : kPresses)) {
    std::string reason = stopping_ ? stopping_->second : "it did not react to an interrupt";
    reason += spared ? "; the interpreter was killed" : "; the kernel was killed";
    if (const std::string lack = spare_.lack(); !spared && !lack.empty())
      reason += fmt::format(", and no copy of it was kept: {}", lack);
    return end_current(stopping_ ? stopping_->first : Ending::killed, std::move(reason));
  }
  process_->send_signal(SIGINT, SignalScope::group);
  pressure_.expires_after(kPressAgain);
  pressure_.async_wait(
      [weak = weak_from_this(), execution = current_, attempt](boost::system::error_code error) {
        const auto kernel = weak.lock();
        if (!error && kernel && kernel->current_ == execution) kernel->press(attempt + 1);
      });
}

void LinkKernel::end_current(Ending ending, std::string reason) {
  if (!current_ || !process_ || process_->has_ended()) return;
  if (spare_.is_fresh(true)) return process_->end_but_spare(ending, std::move(reason));
  process_->end_with(ending, std::move(reason));
}

Task<void> LinkKernel::interrupt() {
  if (state_ == State::dead)
    co_return fail(Code::conflict, fmt::format("kernel {} is dead ({})", info_.id, death_));
  if (current_) press(0);
  co_return Result<void>();
}

Task<void> LinkKernel::restart() {
  const auto self = shared_from_this();
  const auto old = process_;
  shut_down("the kernel was restarted");
  if (old) CO_CHECK(co_await old->wait());
  co_return co_await start();
}

void LinkKernel::output(Stream stream, std::string_view bytes) {
  if (!current_) return;  // of a thread or child that outlived its execution
  LinkExecution& execution = *current_;
  if (execution.spec_.output_bytes) {
    const std::uint64_t most = *execution.spec_.output_bytes;
    const std::uint64_t left = most - std::min(most, execution.output_bytes_);
    if (bytes.size() > left) {
      stop_current(Ending::output_limit, fmt::format("output limit of {} bytes", most));
      bytes = bytes.substr(0, left);
    }
  }
  execution.output_bytes_ += bytes.size();
  if (!bytes.empty()) execution.add(Output{stream, std::string(bytes)}, bytes.size());
}

std::size_t LinkKernel::held() const {
  // Whether a spare goes on does not depend on who listens to the one before it.
  return current_ && state_ != State::continuing ? current_->queued_ : 0;
}

// What the dead one left half said ends where the spare's first word is found. True when it was.
bool LinkKernel::seek() {
  const std::size_t at = pending_.find(sought_);
  if (at == std::string::npos) {
    if (pending_.size() > sought_.size()) pending_.erase(0, pending_.size() - sought_.size());
    return false;
  }
  pending_.erase(0, at + sought_.size());
  sought_.clear();
  return true;
}

// What is said about an execution names it. Words about one that is over, or of a child or thread that does not know the
// one that runs, are nobody's.
bool LinkKernel::is_stale(char kind, std::string_view mark) const {
  return (kind == 'R' || kind == 'F' || kind == 'D') && (mark_.empty() || mark != mark_);
}

bool LinkKernel::control(std::string_view bytes) {
  pending_.append(bytes);
  if (!sought_.empty() && !seek()) return true;
  std::string_view left = pending_;
  for (;;) {
    const std::size_t line = left.find('\n');
    if (line == std::string_view::npos) {
      if (left.size() > 32) return false;
      break;
    }
    std::size_t size = 0;
    if (line < 3 || left[1] != ' ') return false;
    const char* const end_of_line = left.data() + line;
    const auto [end, error] = std::from_chars(left.data() + 2, end_of_line, size);
    if (error != std::errc() || (end != end_of_line && *end != ' ') || size > kMessageMax) return false;
    if (left.size() - line - 1 < size) break;
    const std::string_view mark(std::min(end + 1, end_of_line), end_of_line);
    if (!is_stale(left[0], mark) && !take(left[0], left.substr(line + 1, size))) return false;
    left.remove_prefix(line + 1 + size);
  }
  pending_.erase(0, pending_.size() - left.size());
  if (pending_.empty() && pending_.capacity() > 65536) pending_.shrink_to_fit();
  return true;
}

bool LinkKernel::take(char kind, std::string_view payload) {
  if (kind == 'N' && state_ == State::starting)
    return lacks_interpreter_ = true, death_ = to_valid_utf8(payload), true;
  if (kind == 'K' && state_ == State::starting) {
    if (info_.cwd.empty()) info_.cwd = to_valid_utf8(payload);
    state_ = State::idle;
    changed_.notify();
    return true;
  }
  if (state_ == State::continuing) return kind == 'K' && (go_on(), true);
  if (kind == 'Q' && spare_.is_owed()) {
    if (!process_) return true;  // the last words of one that was let go
    if (const auto pid = spare_.take_answer(payload))
      process_->set_spare(*pid);
    else
      begin_next();
    return true;
  }
  if (kind == 'E' && state_ == State::starting) return death_ = to_valid_utf8(payload), true;
  if (kind == 'B' && state_ == State::parked && !parked_without_) {
    parked_without_ = to_valid_utf8(payload);
    spare_.forget();
    changed_.notify();
    return true;
  }
  if (kind == 'W' && state_ == State::idle && !moved_) {
    moved_ = to_valid_utf8(payload);
    changed_.notify();
    return true;
  }
  if (!current_) return state_ == State::idle || state_ == State::parked;  // a late word of a thread that was left behind
  switch (kind) {
    case 'R': {
      if (payload.empty()) return false;
      current_->result_bytes_ += payload.size();
      if (current_->result_bytes_ > kResultsMax) {
        stop_current(Ending::output_limit, fmt::format("results of more than {} bytes", kResultsMax));
        return true;
      }
      ResultBundle bundle;
      bundle.is_main = payload.front() == '1';
      const std::size_t size = payload.size();
      payload.remove_prefix(1);
      for (std::string_view mime, data; !payload.empty();) {
        if (!take_field(payload, mime) || !take_field(payload, data)) return false;
        bundle.data.insert_or_assign(to_valid_utf8(mime), to_valid_utf8(data));
      }
      current_->add(std::move(bundle), size);
      return true;
    }
    case 'F': {
      std::string_view name, value, traceback;
      if (!take_field(payload, name) || !take_field(payload, value) || !take_field(payload, traceback))
        return false;
      current_->add(ExecutionError{to_valid_utf8(name), to_valid_utf8(value), to_valid_utf8(traceback)}, 0);
      return true;
    }
    case 'D': {
      Outcome outcome;
      std::uint64_t count = 0;
      const char* const begin = payload.data();
      const char* const end = begin + payload.size();
      const auto code = std::from_chars(begin, end, outcome.exit_code);
      if (code.ec != std::errc() || code.ptr == end) return false;
      if (std::from_chars(code.ptr + 1, end, count).ec != std::errc()) return false;
      if (stopping_)
        outcome.ending = stopping_->first, outcome.reason = stopping_->second, outcome.signal = SIGINT;
      const auto ran = std::chrono::steady_clock::now() - began_;
      settle(std::move(outcome), count, ran >= spare_.options().at_once_after ? Spare::at_once : Spare::when_calm);
      return true;
    }
    default:
      return false;
  }
}

// The interpreter is ready for more. Of what was cut short nothing goes on when that is told.
void LinkKernel::settle(Outcome outcome, std::uint64_t count, Spare spare) {
  if (current_ && process_ && was_cut_short(outcome.ending)) {
    clock_.cancel(), pressure_.cancel();
    state_ = State::busy;
    mark_.clear();
    boost::asio::co_spawn(executor_, settle_swept(shared_from_this(), current_, std::move(outcome), count, spare),
                          boost::asio::detached);
    return;
  }
  be_ready(std::move(outcome), count, spare);
}

void LinkKernel::be_ready(Outcome outcome, std::uint64_t count, Spare spare) {
  state_ = State::idle;
  finish_current(std::move(outcome), count);
  if (spare == Spare::at_once) ask_for_spare();
  begin_next();
  wait_for_calm();
  changed_.notify();
}

Task<void> LinkKernel::settle_swept(std::shared_ptr<LinkKernel> self, std::shared_ptr<LinkExecution> execution,
                                    Outcome outcome, std::uint64_t count, Spare spare) {
  if (const auto process = self->process_; process && process->since()) {
    Sweep sweep{.since_us = *process->since()};
    sweep.interpreters.push_back({.channel = process->channel()});
    (void)co_await sweep_background(process->wire(), std::move(sweep));
  }
  // Unless it ended meanwhile, or was shut down.
  if (self->current_ == execution && self->state_ == State::busy) self->be_ready(std::move(outcome), count, spare);
  co_return Result<void>();
}

void LinkKernel::finish_current(Outcome outcome, std::uint64_t count) {
  clock_.cancel(), pressure_.cancel();
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

void LinkKernel::fail_all(const Outcome& outcome) {
  finish_current(outcome, 0);
  for (const auto& execution : std::exchange(waiting_, {})) execution->finish(outcome, 0);
}

namespace {

Outcome with_reason(Outcome outcome) {
  if (outcome.reason.empty()) {
    outcome.reason = outcome.ending == Ending::exited
                         ? fmt::format("the kernel's process exited with code {}", outcome.exit_code)
                         : fmt::format("the kernel's process was ended by signal {}", outcome.signal);
  }
  return outcome;
}

}  // namespace

void LinkKernel::ended(const Outcome& outcome) {
  Outcome told = with_reason(outcome);
  // Its spare did not last: what matters is how the interpreter ended.
  if (death_of_interpreter_ && told.ending != Ending::lost) told = *death_of_interpreter_;
  death_of_interpreter_.reset();
  if (state_ == State::starting && !death_.empty())
    state_ = State::dead;  // it said why itself
  else if (state_ != State::dead)
    state_ = State::dead, death_ = told.reason;
  spare_.forget();
  fail_all(told);
  changed_.notify();
}

// One timer serves all executions that follow each other closely.
void LinkKernel::wait_for_calm() {
  if (state_ != State::idle || !spare_.is_wanted()) return;
  calm_since_ = std::chrono::steady_clock::now();
  if (!std::exchange(waits_for_calm_, true)) look_for_calm(calm_since_ + spare_.options().calm);
}

void LinkKernel::look_for_calm(std::chrono::steady_clock::time_point at) {
  calm_.expires_at(at);
  calm_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto kernel = weak.lock();
    if (error || !kernel) return;
    const SpareOptions& options = kernel->spare_.options();
    const auto now = std::chrono::steady_clock::now(), calm_at = kernel->calm_since_ + options.calm;
    const bool idle = kernel->state_ == State::idle;
    if (idle && now < calm_at) return kernel->look_for_calm(calm_at);
    if (idle && now < calm_at + options.latest && options.others_wait && options.others_wait())
      return kernel->look_for_calm(now + options.calm);
    kernel->waits_for_calm_ = false;
    kernel->ask_for_spare();
  });
}

void LinkKernel::ask_for_spare() {
  if (state_ != State::idle || !process_ || !spare_.is_wanted()) return;
  std::string words;
  if (info_.origin == KernelOrigin::started && !std::exchange(has_module_, true))
    words += message('L', guest::started_module());
  since_spare_.clear();
  words += message('Q', spare_.request());
  say(std::move(words));
  patience_.expires_after(kSparePatience);
  patience_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto kernel = weak.lock();
    if (error || !kernel || !kernel->spare_.is_asked()) return;
    kernel->spare_.give_up();
    kernel->begin_next();
  });
}

void LinkKernel::spare_known(std::uint32_t pid) {
  spare_.confirm(pid);
  begin_next();
}

void LinkKernel::continued(const Outcome& outcome) {
  if (state_ == State::dead || !process_) return;  // it is being ended with everything of it
  const bool executing = state_ == State::busy;
  if (!death_of_interpreter_) death_of_interpreter_ = with_reason(outcome);
  if ((!executing && state_ != State::idle) || !spare_.is_fresh(executing))
    return process_->end_with(outcome.ending, "a copy that nobody waits for");
  state_ = State::continuing;
  pending_.clear();
  sought_ = spare_.use();
  say(sought_ + since_spare_);
  process_->grant();
  pressure_.cancel();
  clock_.expires_after(kReadyPatience);
  clock_.async_wait([weak = weak_from_this(), process = process_](boost::system::error_code error) {
    const auto kernel = weak.lock();
    if (!error && kernel && kernel->process_ == process && kernel->state_ == State::continuing)
      process->end_with(Ending::killed, "the copy of the interpreter did not go on");
  });
}

void LinkKernel::go_on() {
  Outcome told = std::exchange(death_of_interpreter_, std::nullopt).value_or(Outcome{});
  told.reason += kGoesOn;
  // Who dies while nothing is executed may do so again and again: not faster than this.
  const Spare spare = current_ != nullptr ? Spare::at_once : Spare::when_calm;
  settle(std::move(told), 0, spare);
}

}  // namespace atl::sandbox
