#include "sandbox/guest_process.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/bytes.h"

namespace atl::sandbox {
using guest::SignalScope;
using guest::Type;

namespace {

// What a listener that attaches late is shown of the past.
constexpr std::size_t kReplayBytes = 64U << 10;
// How long output is held for the first listener, which attaches after start() has returned.
constexpr std::chrono::milliseconds kFirstListenerPatience{500};

// The kernel's monotonic clock is the same in every program until the machine is started again, and then no
// process is left.
std::uint64_t monotonic_us(std::chrono::steady_clock::time_point at) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count());
}

}  // namespace

std::uint64_t boot_micros() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

Task<std::uint32_t> sweep_background(std::shared_ptr<FrameStream> frames, Sweep sweep) {
  std::string request;
  FramePayload out(request);
  out.u64(sweep.since_us), out.u64(sweep.until_us),
      out.u32(static_cast<std::uint32_t>(sweep.interpreters.size()));
  for (const Sweep::Interpreter& one : sweep.interpreters) out.u32(one.channel), out.u64(one.until_us);
  CO_TRY(const std::string reply, co_await frames->call(Type::sweep, std::move(request)));
  guest::Reader in(reply.data(), reply.size());
  const std::uint32_t count = in.u32();
  if (!in.done()) co_return fail(Code::provider_failed, "the guest's answer makes no sense");
  co_return count;
}

bool was_cut_short(Ending ending) {
  switch (ending) {
    case Ending::timed_out:
    case Ending::out_of_memory:
    case Ending::too_many_processes:
    case Ending::output_limit:
    case Ending::killed: return true;
    case Ending::exited:
    case Ending::signaled:
    case Ending::lost: return false;
  }
  return false;
}

// Where a ProcessStream and its process meet. Either may go first.
class GuestProcess::Listener final : public ProcessStream {
 public:
  explicit Listener(std::shared_ptr<GuestProcess> process)
      : process_(std::move(process)), changed_(process_->frames_->executor()) {}
  ~Listener() override {
    std::erase(process_->listeners_, this);
    process_->grant();
  }

  Task<ProcessEvent> next() override {
    while (queue_.empty() && !process_->outcome_) CO_CHECK(co_await changed_.wait());
    if (!queue_.empty()) {
      Output output = std::move(queue_.front());
      queue_.pop_front();
      queued_ -= std::min(queued_, output.bytes.size());
      process_->grant();
      co_return ProcessEvent(std::move(output));
    }
    if (told_) co_return fail(Code::conflict, "the process has ended and its outcome was told");
    told_ = true;
    co_return ProcessEvent(*process_->outcome_);
  }

  void add(Stream stream, std::string_view bytes) {
    queue_.push_back(Output{stream, std::string(bytes)});
    queued_ += bytes.size();
    changed_.notify();
  }
  // Already acknowledged to the guest: does not count against its window.
  void add_replay(const Output& output) { queue_.push_back(output); }
  std::size_t queued() const { return queued_; }
  void wake() { changed_.notify(); }

 private:
  std::shared_ptr<GuestProcess> process_;
  os::Event changed_;
  std::deque<Output> queue_;
  std::size_t queued_ = 0;
  bool told_ = false;
};

GuestProcess::GuestProcess(std::shared_ptr<FrameStream> frames, ProcessSpec spec,
                           OutcomeFilter outcome_filter)
    : frames_(std::move(frames)),
      spec_(std::move(spec)),
      outcome_filter_(std::move(outcome_filter)),
      changed_(frames_->executor()),
      clock_(frames_->executor()),
      grace_(frames_->executor()) {
  info_.tag = spec_.tag;
  info_.argv = spec_.argv;
  info_.env = spec_.env;
  info_.cwd = spec_.cwd;
  info_.user = spec_.user;
  info_.pty = spec_.pty.has_value();
  info_.label = spec_.label;
  stdin_open_ = info_.pty || spec_.stdin_mode == Stdin::pipe;
}

GuestProcess::~GuestProcess() = default;

std::string GuestProcess::request() const {
  std::string bytes;
  FramePayload out(bytes);
  if (direct_) out.u32(adopted_pid_);
  // The layout is that of guest/protocol.h; revive() reads the same fields back from a guest of an earlier
  // service.
  out.u32((spec_.pty ? guest::kStartPty : 0U) | (spec_.stdin_mode == Stdin::pipe ? guest::kStartStdin : 0U) |
          (has_tap_ ? guest::kStartControl : 0U) | (has_notes() ? guest::kStartNotes : 0U) |
          (spec_.ends_with == EndsWith::process ? guest::kStartEndsAlone : 0U));
  out.u16(spec_.pty ? spec_.pty->columns : 0), out.u16(spec_.pty ? spec_.pty->rows : 0);
  out.u64(spec_.cpu_time ? static_cast<std::uint64_t>(spec_.cpu_time->count()) * 1000 : 0);
  out.u32(guest::kOutputWindow);
  for (const std::string* word : {&spec_.user, &spec_.cwd, &spec_.tag}) out.text(word->data(), word->size());
  out.u32(static_cast<std::uint32_t>(spec_.argv.size()));
  for (const std::string& word : spec_.argv) out.text(word.data(), word.size());
  out.u32(static_cast<std::uint32_t>(spec_.env.size()));
  for (const auto& [name, value] : spec_.env) {
    const std::string both = name + "=" + value;
    out.text(both.data(), both.size());
  }
  if (has_notes()) {
    out.text(spec_.label.data(), spec_.label.size());
    out.u64(spec_.wall_time ? monotonic_us(std::chrono::steady_clock::now() + *spec_.wall_time) : 0);
  }
  return bytes;
}

bool GuestProcess::has_notes() const {
  return !direct_ && !has_tap_ && (!spec_.label.empty() || spec_.wall_time);
}

Task<void> GuestProcess::start() {
  const auto self = shared_from_this();
  const std::string bytes = request();
  if (bytes.size() > guest::kRequestMax)
    co_return fail(Code::too_large, "arguments and environment are over 8 MiB");
  // By this time the guest finds what the process left behind when it ends (sweep_background).
  if (!has_tap_) since_us_ = boot_micros();
  channel_ = frames_->open(self, direct_ ? Type::adopt : Type::start, bytes);
  Result<void> waited;
  // A paused guest does not answer: the caller is told at once instead of waiting for the resume.
  while (!started_ && !frozen_ && waited) waited = co_await changed_.wait();
  if (!started_ && frozen_) {
    abandoned_ = true;
    co_return fail(*frozen_);
  }
  if (!waited) {
    abandoned_ = true;
    if (started_ && *started_) send_signal(SIGKILL, SignalScope::tree);
    co_return fail(waited.error());
  }
  co_return *started_;
}

bool GuestProcess::revive(std::uint32_t channel, std::string_view payload) {
  guest::Reader in(payload.data(), payload.size());
  std::uint64_t deadline_us = 0;
  if (!payload.empty()) {
    const std::uint32_t flags = in.u32();
    // Size of the terminal, processor time and window: nothing that is needed again.
    in.u16(), in.u16(), in.u64(), in.u32();
    info_.user = view(in.text()), info_.cwd = view(in.text()), info_.tag = view(in.text());
    for (std::uint32_t n = in.u32(); n > 0 && in.ok(); --n) info_.argv.emplace_back(view(in.text()));
    for (std::uint32_t n = in.u32(); n > 0 && in.ok(); --n) {
      const std::string_view both = view(in.text());
      const std::size_t split = both.find('=');
      if (split != std::string_view::npos) info_.env.emplace(both.substr(0, split), both.substr(split + 1));
    }
    info_.pty = (flags & guest::kStartPty) != 0;
    stdin_open_ = info_.pty || (flags & guest::kStartStdin) != 0;
    has_tap_ = (flags & guest::kStartControl) != 0;
    if ((flags & guest::kStartNotes) != 0)
      info_.label = to_valid_utf8(view(in.text())), deadline_us = in.u64();
    info_.pid = in.u32();
    info_.started_at = time_of(in.i64());
    if (!in.done()) return false;
  }
  channel_ = channel;
  since_us_ = boot_micros();
  awaits_listener_ = false;
  started_ = Result<void>();
  began_ = std::chrono::steady_clock::now();
  if (deadline_us > 0) {
    const std::uint64_t now = monotonic_us(began_);
    end_at(began_ + std::chrono::microseconds(deadline_us > now ? deadline_us - now : 0),
           "wall time limit that was set before the service was started again");
  }
  // What an earlier service wrote to this interpreter and it had not read yet was lost with the old stream,
  // so its state is unknown: it cannot be used again.
  if (has_tap_ && tap_.expired()) end_with(Ending::killed, "an interpreter of an earlier daemon");
  return true;
}

bool GuestProcess::frame(Type type, std::uint16_t flags, std::string_view payload) {
  guest::Reader in(payload.data(), payload.size());
  switch (type) {
    case Type::reply: return started(payload);
    case Type::failed:
      if (started_) return false;
      started_ = Result<void>(fail(failure_of(payload)));
      frames_->forget(channel_);
      changed_.notify();
      return true;
    case Type::data: return output(flags, payload);
    case Type::exited: return exited(payload);
    case Type::continued: return continued(payload);
    case Type::spare: {
      const std::uint32_t pid = in.u32();
      if (!in.done() || !started_ || !has_tap_) return false;
      if (const auto tap = tap_.lock()) tap->spare_known(pid);
      return true;
    }
    case Type::end:
      stdin_open_ = false;
      changed_.notify();
      return true;
    case Type::credit: {
      const std::uint32_t bytes = in.u32();
      if (!in.done() || bytes > guest::kInputWindow - input_credit_) return false;
      input_credit_ += bytes;
      changed_.notify();
      return true;
    }
    default: return false;
  }
}

void GuestProcess::frozen(const Error& why) {
  if (started_) return;
  frozen_ = why;
  changed_.notify();
}

bool GuestProcess::started(std::string_view payload) {
  if (started_) return false;
  guest::Reader in(payload.data(), payload.size());
  info_.pid = in.u32();
  info_.started_at = time_of(in.i64());
  info_.user = to_valid_utf8(view(in.text()));
  info_.cwd = to_valid_utf8(view(in.text()));
  if (!in.done()) return false;
  started_ = Result<void>();
  began_ = std::chrono::steady_clock::now();
  start_clock();
  if (direct_)
    direct_->start(tap_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->end_with(Ending::killed, "the interpreter broke its protocol");
    });
  if (abandoned_) send_signal(SIGKILL, SignalScope::tree);
  changed_.notify();
  return true;
}

void GuestProcess::start_clock() {
  grace_.expires_after(kFirstListenerPatience);
  grace_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (error || !self) return;
    self->awaits_listener_ = false;
    while (self->recent_bytes_ > kReplayBytes && self->recent_.size() > 1) {
      self->recent_bytes_ -= self->recent_.front().bytes.size();
      self->recent_.pop_front();
    }
    self->grant();
  });
  if (!spec_.wall_time) return;
  end_at(began_ + *spec_.wall_time, fmt::format("wall time limit of {}", seconds_of(*spec_.wall_time)));
}

void GuestProcess::end_at(std::chrono::steady_clock::time_point deadline, std::string reason) {
  clock_.expires_at(deadline);
  clock_.async_wait([weak = weak_from_this(), reason = std::move(reason)](boost::system::error_code error) {
    if (const auto self = weak.lock(); !error && self) self->end_with(Ending::timed_out, reason);
  });
}

void GuestProcess::remember(Stream stream, std::string_view bytes) {
  if (!recent_.empty() && recent_.back().stream == stream &&
      recent_.back().bytes.size() + bytes.size() <= 4096) {
    recent_.back().bytes.append(bytes);
  } else {
    recent_.push_back(Output{stream, std::string(bytes)});
  }
  recent_bytes_ += bytes.size();
  while (!awaits_listener_ && recent_bytes_ > kReplayBytes && recent_.size() > 1) {
    recent_bytes_ -= recent_.front().bytes.size();
    recent_.pop_front();
  }
}

bool GuestProcess::output(std::uint16_t flags, std::string_view bytes) {
  // A guest is not trusted: one that sends more than it was granted has broken the protocol.
  if (!started_ || bytes.size() > guest::kDataMax || unacknowledged_ + bytes.size() > guest::kOutputWindow)
    return false;
  unacknowledged_ += bytes.size();
  const std::uint16_t from = guest::stream_of(flags);
  if (from == guest::kStreamControl) {
    if (!has_tap_) return false;
    const auto tap = tap_.lock();
    if (tap && !tap->control(bytes)) end_with(Ending::killed, "the interpreter broke its protocol");
    grant();
    return true;
  }
  if (from < guest::kStreamOut || from > guest::kStreamPty || (from == guest::kStreamPty) != info_.pty)
    return false;
  const Stream stream = from == guest::kStreamErr ? Stream::err : info_.pty ? Stream::pty : Stream::out;
  if (spec_.output_bytes) {
    // What fits is still passed on, so that the limit cuts at its byte.
    const std::uint64_t left = *spec_.output_bytes - std::min(*spec_.output_bytes, output_bytes_);
    output_bytes_ += bytes.size();
    if (bytes.size() > left) {
      end_with(Ending::output_limit, fmt::format("output limit of {} bytes", *spec_.output_bytes));
      bytes = bytes.substr(0, left);
    }
  } else {
    output_bytes_ += bytes.size();
  }
  if (const auto tap = tap_.lock(); tap && !bytes.empty()) {
    tap->output(stream, bytes);
  } else if (!bytes.empty()) {
    remember(stream, bytes);
    for (Listener* listener : listeners_) listener->add(stream, bytes);
  }
  grant();
  return true;
}

void GuestProcess::grant() {
  if (direct_) return direct_->resume();
  if (outcome_ || channel_ == 0) return;
  // The window opens by what everybody has taken: the slowest listener holds the process up. In steps of a
  // quarter, so that not every line costs a message.
  std::size_t held = awaits_listener_ ? recent_bytes_ : 0;
  if (const auto tap = tap_.lock()) held = tap->held();
  for (const Listener* listener : listeners_) held = std::max(held, listener->queued());
  if (unacknowledged_ < held + guest::kOutputWindow / 4) return;
  const std::uint64_t bytes = unacknowledged_ - held;
  unacknowledged_ -= bytes;
  frames_->send_credit(channel_, static_cast<std::uint32_t>(bytes));
}

Outcome GuestProcess::outcome_of(int status, std::uint64_t cpu_us) {
  Outcome outcome;
  if (WIFEXITED(status)) {
    outcome.exit_code = WEXITSTATUS(status);
  } else {
    outcome.ending = Ending::signaled;
    outcome.signal = WTERMSIG(status);
  }
  // The kernel enforces the limit by counting ticks, which may run well ahead of the exact time told here.
  const bool over_cpu = spec_.cpu_time && (outcome.signal == SIGKILL || outcome.signal == SIGXCPU) &&
                        cpu_us / 500 >= static_cast<std::uint64_t>(spec_.cpu_time->count());
  if (forced_) {
    outcome.ending = forced_->first, outcome.reason = forced_->second;
  } else if (outcome.ending == Ending::signaled && over_cpu) {
    outcome.ending = Ending::timed_out;
    outcome.reason = fmt::format("CPU time limit of {}", seconds_of(*spec_.cpu_time));
  } else if (outcome.ending == Ending::signaled &&
             std::ranges::find(signals_sent_, outcome.signal) != signals_sent_.end()) {
    outcome.ending = Ending::killed;
    outcome.reason = fmt::format("signal {} by request", outcome.signal);
  }
  if (outcome_filter_) outcome_filter_(info_, outcome);
  return outcome;
}

bool GuestProcess::exited(std::string_view payload) {
  guest::Reader in(payload.data(), payload.size());
  const auto status = static_cast<int>(in.u32());
  const std::uint64_t cpu_us = in.u64() + in.u64();
  if (!in.done() || !started_ || outcome_) return false;
  frames_->forget(channel_);
  Outcome outcome = outcome_of(status, cpu_us);
  if (was_cut_short(outcome.ending) && since_us_)
    boost::asio::co_spawn(frames_->executor(), finish_swept(shared_from_this(), std::move(outcome)),
                          boost::asio::detached);
  else
    finish(std::move(outcome));
  return true;
}

// Ends the processes that it left behind before its own end is reported.
Task<void> GuestProcess::finish_swept(std::shared_ptr<GuestProcess> self, Outcome outcome) {
  // The result is ignored: if the stream ends, so does everything in the sandbox.
  Sweep sweep{.since_us = *self->since_us_};
  (void)co_await sweep_background(self->frames_, std::move(sweep));
  self->finish(std::move(outcome));
  co_return Result<void>();
}

bool GuestProcess::continued(std::string_view payload) {
  guest::Reader in(payload.data(), payload.size());
  const auto status = static_cast<int>(in.u32());
  const std::uint64_t cpu_us = in.u64() + in.u64();
  const std::uint32_t pid = in.u32();
  if (!in.done() || !started_ || !*started_ || outcome_ || !has_tap_) return false;
  const Outcome outcome = outcome_of(status, cpu_us);
  first_pid_ = first_pid();
  info_.pid = pid;
  // It is being killed with all its processes, the spare included: another end will be reported.
  if (forced_ && !forced_but_spare_) return true;
  forced_.reset(), forced_but_spare_ = false;
  signals_sent_.clear();
  if (direct_ && !direct_->tell_rest()) {
    end_with(Ending::killed, "the interpreter broke its protocol");
    return true;
  }
  if (const auto tap = tap_.lock()) tap->continued(outcome);
  return true;
}

void GuestProcess::finish(Outcome outcome) {
  if (outcome_) return;
  if (direct_) direct_->finish();
  outcome.usage.wall_time =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began_);
  outcome.usage.output_bytes = output_bytes_;
  outcome_ = std::move(outcome);
  stdin_open_ = false;
  clock_.cancel(), grace_.cancel();
  changed_.notify();
  for (Listener* listener : listeners_) listener->wake();
  if (const auto tap = tap_.lock()) tap->ended(*outcome_);
  if (done_) std::exchange(done_, nullptr)();
}

void GuestProcess::lost(const Error& why) {
  if (!started_) {
    started_ = Result<void>(fail(why));
    changed_.notify();
    return;
  }
  if (!*started_) return;
  Outcome outcome;
  outcome.ending = Ending::lost;
  outcome.reason = why.message();
  if (forced_) outcome.ending = forced_->first, outcome.reason = forced_->second;
  if (outcome_filter_) outcome_filter_(info_, outcome);
  finish(std::move(outcome));
}

std::unique_ptr<ProcessStream> GuestProcess::attach(Replay replay) {
  auto listener = std::make_unique<Listener>(shared_from_this());
  if (awaits_listener_) {
    // Nothing was given up yet: the first listener gets it all, and holds it against the window.
    for (const Output& output : recent_) listener->add(output.stream, output.bytes);
    awaits_listener_ = false;
    grace_.cancel();
  } else if (replay == Replay::recent) {
    for (const Output& output : recent_) listener->add_replay(output);
  }
  listeners_.push_back(listener.get());
  return listener;
}

Task<void> GuestProcess::write(guest::StreamId stream, std::string bytes) {
  const auto self = shared_from_this();
  const auto closed = [&] { return outcome_ || (stream == guest::kStreamIn && !stdin_open_); };
  // Writers take turns: what one writes is not cut up by another.
  while (writing_) CO_CHECK(co_await changed_.wait());
  writing_ = true;
  Result<void> result;
  for (std::string_view left = bytes; !left.empty();) {
    while (!closed() && input_credit_ == 0 && result) result = co_await changed_.wait();
    if (result && closed()) result = fail(Code::conflict, "standard input is closed");
    if (!result) break;
    const std::string_view piece = left.substr(0, std::min(input_credit_, guest::kDataMax));
    frames_->send(channel_, Type::data, guest::stream_flags(stream), piece);
    input_credit_ -= static_cast<std::uint32_t>(piece.size());
    left.remove_prefix(piece.size());
  }
  writing_ = false;
  changed_.notify();
  co_return result;
}

Task<void> GuestProcess::write_stdin(std::string bytes) {
  if (!stdin_open_) co_return fail(Code::conflict, "standard input is closed or not a pipe");
  co_return co_await write(guest::kStreamIn, std::move(bytes));
}

Task<void> GuestProcess::write_control(std::string bytes) {
  if (direct_) {
    direct_->write(bytes);
    co_return Result<void>();
  }
  co_return co_await write(guest::kStreamControl, std::move(bytes));
}

bool GuestProcess::write_control_now(std::string_view bytes) {
  if (direct_) return direct_->write(bytes), true;
  if (writing_ || outcome_ || bytes.size() > input_credit_) return false;
  input_credit_ -= static_cast<std::uint32_t>(bytes.size());
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), guest::kDataMax)))
    frames_->send(channel_, Type::data, guest::stream_flags(guest::kStreamControl),
                  bytes.substr(0, guest::kDataMax));
  return true;
}

Task<void> GuestProcess::close_stdin() {
  if (!stdin_open_) co_return fail(Code::conflict, "standard input is closed or not a pipe");
  while (writing_) CO_CHECK(co_await changed_.wait());
  // A terminal knows no closed input; its line discipline turns this character into one.
  if (info_.pty) co_return co_await write(guest::kStreamIn, std::string(1, '\x04'));
  stdin_open_ = false;
  frames_->send(channel_, Type::end, 0, {});
  co_return Result<void>();
}

Task<void> GuestProcess::resize(PtySize size) {
  if (!info_.pty) co_return fail(Code::conflict, "the process has no terminal");
  if (outcome_) co_return fail(Code::conflict, "the process has ended");
  std::string bytes;
  FramePayload out(bytes);
  out.u16(size.columns), out.u16(size.rows);
  frames_->send(channel_, Type::resize, 0, bytes);
  co_return Result<void>();
}

void GuestProcess::send_signal(int number, SignalScope scope) {
  std::string bytes;
  FramePayload out(bytes);
  out.u32(static_cast<std::uint32_t>(number)), out.u8(static_cast<std::uint8_t>(scope));
  frames_->send(channel_, Type::signal, 0, bytes);
}

void GuestProcess::end_with(Ending ending, std::string reason) {
  if (outcome_ || (forced_ && !forced_but_spare_)) return;
  // The first reason stays: the signal below is its effect, not a reason of its own.
  forced_.emplace(ending, std::move(reason)), forced_but_spare_ = false;
  send_signal(SIGKILL, SignalScope::tree);
}

void GuestProcess::end_but_spare(Ending ending, std::string reason) {
  if (outcome_ || forced_) return;
  forced_.emplace(ending, std::move(reason)), forced_but_spare_ = true;
  send_signal(SIGKILL, SignalScope::tree_but_spare);
}

void GuestProcess::set_spare(std::uint32_t pid) {
  if (outcome_) return;
  std::string bytes;
  FramePayload out(bytes);
  out.u32(pid);
  frames_->send(channel_, Type::spare, 0, bytes);
}

Task<void> GuestProcess::signal(int number) {
  if (number < 1 || number > 64)
    co_return fail(Code::invalid_argument, fmt::format("there is no signal {}", number));
  if (outcome_) co_return fail(Code::not_found, fmt::format("process {} has ended", info_.pid));
  if (std::ranges::find(signals_sent_, number) == signals_sent_.end()) signals_sent_.push_back(number);
  send_signal(number, number == SIGKILL ? SignalScope::tree : SignalScope::group);
  co_return Result<void>();
}

Task<Outcome> GuestProcess::wait() {
  const auto self = shared_from_this();
  while (!outcome_) CO_CHECK(co_await changed_.wait());
  co_return *outcome_;
}

}  // namespace atl::sandbox
