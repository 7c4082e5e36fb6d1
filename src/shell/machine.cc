#include "shell/machine.h"

#include <fmt/format.h>
#include <time.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <thread>

namespace atl::shell {

namespace {

constexpr std::uint64_t check_every = 1 << 16;

std::int64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace

Machine::Machine(vfs::FileSystem& filesystem, const Limits& l, const Clock& c)
    : fs(filesystem), clock(c), limits(l) {
  process = std::make_shared<Process>();
  process->pid = 1000;
  process->parent = 1;
  processes[process->pid] = process;
}

void Machine::begin() {
  meter_ = 0;
  next_check_ = check_every;
  commands_ = 0;
  output_ = 0;
  memory_ = 0;
  standstill_ = false;
  started_ = std::chrono::steady_clock::now();
  cpu_started_ns_ = -1;
  stop_message.clear();
}

void Machine::stop_limit(std::string_view what) {
  if (stop_message.empty()) stop_message = fmt::format("limit reached: {}", what);
  next_check_ = 0;
  StoppedBy stop;
  stop.status = limit_status;
  stop.reason = StopReason::limit;
  stop.signal = 0;
  stop.process = nullptr;
  throw stop;
}

void Machine::check() {
  next_check_ = meter_ + check_every;
  if (canceled.load(std::memory_order_relaxed)) {
    StoppedBy stop;
    stop.status = canceled_status;
    stop.reason = StopReason::canceled;
    stop.signal = 0;
    stop.process = nullptr;
    stop_message = "canceled";
    throw stop;
  }
  if (!stop_message.empty()) stop_limit("");
  if (meter_ > limits.work) stop_limit("work");
  if (std::chrono::steady_clock::now() - started_ > limits.wall_time) stop_limit("wall time");
  std::int64_t cpu = thread_cpu_ns();
  if (cpu_started_ns_ < 0) cpu_started_ns_ = cpu;
  if (cpu - cpu_started_ns_ > limits.cpu_time.count()) stop_limit("cpu time");
  if (!alarms.empty()) {
    ring_alarms();
    if (process && process->pending.any()) notice_signals();
  }
}

void Machine::charge_memory(std::int64_t bytes) {
  memory_ += bytes;
  if (memory_ < 0) memory_ = 0;
  if (memory_ > static_cast<std::int64_t>(limits.memory_bytes)) stop_limit("memory");
}

void Machine::charge_output(std::size_t bytes) {
  output_ += bytes;
  if (output_ > limits.output_bytes) stop_limit("output");
  charge(bytes);
}

void Machine::notice_signals() {
  Process& self = *process;
  for (int signal = 1; signal <= signal_max && self.pending.any(); ++signal) {
    if (!self.pending[static_cast<std::size_t>(signal)]) continue;
    auto at = static_cast<std::size_t>(signal);
    if (signal != SIGKILL && self.handled[at]) continue;  // the interpreter runs the trap between commands
    self.pending[at] = false;
    if (signal != SIGKILL && (self.ignored[at] || signal_ignored_by_default(signal))) continue;
    self.killed_by = signal;
    StoppedBy stop;
    stop.status = 128 + signal;
    stop.reason = StopReason::signal;
    stop.signal = signal;
    stop.process = &self;
    throw stop;
  }
}

void Machine::wait(WaitQueue& queue) {
  auto mine = process;
  scheduler.wait(queue);
  process = mine;
  if (canceled.load(std::memory_order_relaxed) || !stop_message.empty()) check();
  if (process->pending.any()) notice_signals();
}

bool Machine::wait_until(WaitQueue& queue, SteadyTime when) {
  auto mine = process;
  scheduler.wait_until(queue, when);
  process = mine;
  if (canceled.load(std::memory_order_relaxed) || !stop_message.empty()) check();
  if (process->pending.any()) notice_signals();
  return std::chrono::steady_clock::now() < when;
}

void Machine::yield() {
  auto mine = process;
  scheduler.yield();
  process = mine;
  if (canceled.load(std::memory_order_relaxed) || !stop_message.empty()) check();
  if (process->pending.any()) notice_signals();
}

void Machine::sleep(Duration how_long) {
  SteadyTime until = std::chrono::steady_clock::now() + how_long;
  WaitQueue nothing;
  while (std::chrono::steady_clock::now() < until) {
    wait_until(nothing, until);
    bool handled = false;
    for (std::size_t i = 1; i <= signal_max; ++i) handled |= process->pending[i] && process->handled[i];
    if (handled) return;
  }
}

// Every fiber waits. Sleeps until the next timer in slices, so that a cancellation is noticed; without a
// timer nothing can ever happen any more, and the wait that the script is in ends as if it had been
// interrupted.
bool Machine::idle(SteadyTime next) {
  SteadyTime now = std::chrono::steady_clock::now();
  if (canceled.load(std::memory_order_relaxed) || now - started_ > limits.wall_time) {
    if (canceled)
      stop_message = "canceled";
    else if (stop_message.empty())
      stop_message = "limit reached: wall time";
    for (auto& [pid, weak] : processes)
      if (auto p = weak.lock(); p && p->fiber) scheduler.wake(p->fiber);
    return true;
  }
  if (next == SteadyTime::max()) {
    if (stop_message.empty()) stop_message = "deadlock: every process waits for another";
    for (auto& [pid, weak] : processes)
      if (auto p = weak.lock(); p && p->fiber) scheduler.wake(p->fiber);
    if (standstill_) return false;
    standstill_ = true;
    return true;
  }
  if (next > now) std::this_thread::sleep_for(std::min<Duration>(next - now, std::chrono::milliseconds(2)));
  return true;
}

std::shared_ptr<Process> Machine::new_process() {
  auto out = std::make_shared<Process>();
  out->pid = next_pid++;
  out->parent = process ? process->pid : 1;
  if (process) {
    out->fiber = process->fiber;
    out->ignored = process->ignored;
  }
  if (processes.size() > 64)
    std::erase_if(processes, [](const auto& entry) { return entry.second.expired(); });
  processes[out->pid] = out;
  return out;
}

Process* Machine::find_process(int pid) {
  auto it = processes.find(pid);
  if (it == processes.end()) return nullptr;
  auto p = it->second.lock();
  return p ? p.get() : nullptr;
}

int Machine::kill(int pid, int signal) {
  if (signal < 0 || signal > signal_max) return EINVAL;
  Process* target = find_process(pid);
  if (!target || target->done) return ESRCH;
  if (signal == 0) return 0;
  target->pending[static_cast<std::size_t>(signal)] = true;
  if (target == process.get())
    notice_signals();
  else if (target->fiber && target->fiber != scheduler.current())
    scheduler.wake(target->fiber);
  return 0;
}

void Machine::kill_tree(int pid, int signal) {
  auto below = [&](int one) {
    for (std::size_t steps = 0; one > 1 && steps <= processes.size(); ++steps) {
      if (one == pid) return true;
      Process* found = find_process(one);
      one = found ? found->parent : 0;
    }
    return false;
  };
  std::vector<Process*> targets;
  for (auto& [one, weak] : processes)
    if (auto held = weak.lock(); held && !held->done && below(one)) targets.push_back(held.get());
  for (Process* target : targets) {
    target->pending[static_cast<std::size_t>(signal)] = true;
    if (target->fiber && target->fiber != scheduler.current()) scheduler.wake(target->fiber);
  }
}

void Machine::ring_alarms() {
  SteadyTime now = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < alarms.size();) {
    if (alarms[i].when > now) {
      ++i;
      continue;
    }
    Alarm due = alarms[i];
    alarms.erase(alarms.begin() + static_cast<std::ptrdiff_t>(i));
    kill_tree(due.pid, due.signal);
  }
}

void Machine::finished(Process& done, int status) {
  done.done = true;
  done.status = status;
  done.fiber = nullptr;
  scheduler.wake(done.waiters);
}

void Machine::spawn(std::shared_ptr<Process> child, std::function<void()> body) {
  if (scheduler.live() >= limits.fibers) stop_limit("processes");
  child->fiber = scheduler.spawn([this, child, body = std::move(body)] {
    process = child;
    body();
  });
}

void Machine::run(std::function<void()> body) {
  auto root = process;
  Fiber* fiber = scheduler.spawn(
      [this, root, body = std::move(body)] {
        process = root;
        body();
      },
      true);
  root->fiber = fiber;
  scheduler.run(fiber, [this](SteadyTime next) { return idle(next); });
  root->fiber = nullptr;
}

void Machine::drain(Duration patience) {
  auto mine = process;
  SteadyTime until = std::chrono::steady_clock::now() + patience;
  WaitQueue nothing;
  yield();
  while (others_alive() && std::chrono::steady_clock::now() < until) {
    if (!scheduler.can_run()) break;  // what is left waits for what will never come
    scheduler.wait_until(nothing, std::min<SteadyTime>(until, std::chrono::steady_clock::now() +
                                                                  std::chrono::milliseconds(1)));
    process = mine;
    if (canceled.load(std::memory_order_relaxed)) break;
  }
}

void Machine::kill_others() {
  auto mine = process;
  for (int round = 0; round < 100 && others_alive(); ++round) {
    for (auto& [pid, weak] : processes) {
      auto p = weak.lock();
      if (!p || !p->fiber || p->fiber == scheduler.current()) continue;
      p->handled.reset();
      p->pending[SIGKILL] = true;
      scheduler.wake(p->fiber);
    }
    scheduler.yield();
    process = mine;
  }
}

// ---- Pipe ----

std::string_view Pipe::fill() {
  while (head_ == data_.size()) {
    if (writers_ == 0) return {};
    machine_.wait(queue_);
  }
  return std::string_view(data_).substr(head_);
}

void Pipe::consume(std::size_t count) {
  head_ += count;
  if (head_ == data_.size()) {
    data_.clear();
    head_ = 0;
    machine_.scheduler.wake(queue_);
  }
}

bool Pipe::write(std::string_view bytes, std::string_view& error) {
  while (!bytes.empty()) {
    if (readers_ == 0) {
      error = "Broken pipe";
      Process& self = *machine_.process;
      if (self.ignored[SIGPIPE] || self.handled[SIGPIPE]) {
        self.pending[SIGPIPE] = self.handled[SIGPIPE];
        return false;
      }
      StoppedBy stop;
      stop.status = 128 + SIGPIPE;
      stop.reason = StopReason::signal;
      stop.signal = SIGPIPE;
      stop.process = &self;
      throw stop;
    }
    std::size_t room = capacity > data_.size() - head_ ? capacity - (data_.size() - head_) : 0;
    if (room == 0) {
      machine_.wait(queue_);
      continue;
    }
    bool was_empty = head_ == data_.size();
    std::string_view now = bytes.substr(0, room);
    data_.append(now);
    bytes.remove_prefix(now.size());
    machine_.charge(now.size() / 8 + 1);
    if (was_empty) machine_.scheduler.wake(queue_);
  }
  return true;
}

// A FIFO's open waits until the other side is there.
void Pipe::wait_for_peer(bool writer) {
  while (writer ? !had_reader_ : !had_writer_) machine_.wait(queue_);
}

}  // namespace atl::shell
