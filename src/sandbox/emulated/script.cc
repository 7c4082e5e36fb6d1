#include "sandbox/emulated/script.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <boost/asio/post.hpp>

namespace atl::sandbox::emulated {
namespace {

// Zero for a clock that is gone.
std::chrono::microseconds cpu_time_by(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return std::chrono::microseconds(0);
  return std::chrono::microseconds(now.tv_sec * 1'000'000 + now.tv_nsec / 1000);
}

}  // namespace

std::chrono::microseconds CpuMeter::total() const {
  std::chrono::microseconds sum = ended_;
  for (const Script* script : running_) sum += script->cpu_time();
  return sum;
}

void CpuMeter::ended(const Script* script, std::chrono::microseconds used) {
  ended_ += used;
  std::erase(running_, script);
}

Script::~Script() {
  if (thread_.joinable()) thread_.join();
  if (running_) meter_->ended(this, std::chrono::microseconds(0));
}

void Script::start(std::string text, const ScriptLimits& limits,
                   std::function<void(Outcome&, const shell::Executed&)> on_end) {
  limits_ = limits;
  on_end_ = std::move(on_end);
  started_ = std::chrono::steady_clock::now();
  running_ = true;
  if (limits.wall_time) {
    timer_.expires_after(*limits.wall_time);
    timer_.async_wait([weak = weak_from_this(), limit = *limits.wall_time](boost::system::error_code error) {
      if (auto self = weak.lock(); self && !error)
        self->end(Ending::timed_out, SIGKILL, fmt::format("wall time: {} ms", limit.count()));
    });
  }
  thread_ = std::thread([self = shared_from_this(), text = std::move(text)]() mutable {
    self->run(text);
    // The last reference must not go on this thread, which the destructor joins.
    auto executor = self->executor_;
    boost::asio::post(executor, [self = std::move(self)] {});
  });
  meter_->began(this);
}

std::chrono::microseconds Script::cpu_time() const {
  clockid_t clock{};
  if (!running_ || pthread_getcpuclockid(thread_.native_handle(), &clock) != 0)
    return std::chrono::microseconds(0);
  return cpu_time_by(clock);
}

void Script::run(const std::string& text) {
  auto console = console_;
  std::uint64_t allowed = limits_.output_bytes.value_or(UINT64_MAX);
  auto forward = [&](Stream stream, std::string_view bytes) {
    std::uint64_t before = console->bytes_written();
    if (before + bytes.size() > allowed) {
      bytes = bytes.substr(0, static_cast<std::size_t>(allowed - before));
      boost::asio::post(executor_, [self = shared_from_this(), allowed] {
        self->end(Ending::output_limit, SIGKILL, fmt::format("output: {} bytes", allowed));
      });
      console->write(stream, bytes);
      return;
    }
    console->write(stream, bytes);
  };
  shell::ExecuteOptions options;
  options.read = [console] { return console->read(); };
  options.stop = stop_.get_token();
  options.on_stdout = [&](std::string_view bytes) { forward(Stream::out, bytes); };
  options.on_stderr = [&](std::string_view bytes) { forward(Stream::err, bytes); };
  auto executed = shell_->execute(text, std::move(options));
  auto cpu_time = cpu_time_by(CLOCK_THREAD_CPUTIME_ID);
  boost::asio::post(executor_, [self = shared_from_this(), executed = std::move(executed), cpu_time] {
    self->ended(executed, cpu_time);
  });
}

void Script::end(Ending ending, int signal, std::string reason) {
  if (!running_ || forced_) return;
  forced_.emplace();
  forced_->ending = ending;
  forced_->signal = signal;
  forced_->reason = std::move(reason);
  console_->abandon();
  stop_.request_stop();
}

Outcome Script::outcome_of(const shell::Executed& executed) const {
  if (forced_) return *forced_;
  Outcome outcome;
  outcome.exit_code = executed.status;
  if (executed.signal != 0) {
    outcome.ending = Ending::signaled;
    outcome.signal = executed.signal;
  }
  if (!executed.limited) return outcome;
  outcome.reason = executed.reason;
  switch (executed.limit) {
    case shell::Limit::wall_time:
    case shell::Limit::cpu_time: outcome.ending = Ending::timed_out; break;
    case shell::Limit::memory_bytes: outcome.ending = Ending::out_of_memory; break;
    case shell::Limit::output_bytes: outcome.ending = Ending::output_limit; break;
    default: break;
  }
  if (outcome.ending != Ending::exited) outcome.signal = SIGKILL;
  return outcome;
}

void Script::ended(const shell::Executed& executed, std::chrono::microseconds cpu_time) {
  running_ = false;
  timer_.cancel();
  thread_.join();
  meter_->ended(this, cpu_time);
  Outcome outcome = outcome_of(executed);
  outcome.usage.cpu_time = cpu_time;
  outcome.usage.wall_time =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started_);
  outcome.usage.output_bytes = console_->bytes_written();
  auto on_end = std::exchange(on_end_, nullptr);
  if (on_end) on_end(outcome, executed);
  console_->finish(std::move(outcome));
}

}  // namespace atl::sandbox::emulated
