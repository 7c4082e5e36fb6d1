#include "shell/machine.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <thread>

#include "shell/heap.h"
#include "shell/pattern.h"
#include "shell/pipe.h"
#include "shell/regex/regex.h"
#include "shell/scoped.h"

namespace atl::shell {

namespace {

// Steps between two looks at the clocks, the heap and cancellation: rare enough to cost nothing, often enough
// for answers within milliseconds.
constexpr std::uint64_t check_every = 1 << 16;

std::int64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// Files lie on the heap too, but have a quota of their own.
bool too_much(const Machine& machine, std::uint64_t held) {
  auto stats = machine.fs.stats();
  return held > machine.limits.memory_bytes + (stats ? stats->bytes : 0);
}

}  // namespace

Machine::Machine(vfs::FileSystem& filesystem, const Limits& l, const Clock& c)
    : fs(filesystem), clock(c), limits(l) {
  process = std::make_shared<Process>();
  // Numbers are the machine's own: a script sees none of the service's processes.
  process->pid = 1000;
  process->parent = 1;
  processes[process->pid] = process;
}

Machine::~Machine() = default;

const Regex* Machine::regex(const std::string& pattern, bool ignore_case) {
  auto key = std::make_pair(pattern, ignore_case);
  if (auto it = regexes_.find(key); it != regexes_.end()) return it->second.get();
  RegexOptions options;
  options.ignore_case = ignore_case;
  auto compiled = Regex::compile(pattern, Syntax::extended, options);
  if (!compiled) return nullptr;
  charge(pattern.size() * 16 + 256);
  // A loop uses few expressions; who uses many gains nothing from a larger cache.
  if (regexes_.size() >= 16) regexes_.clear();
  return regexes_.emplace(std::move(key), std::make_unique<Regex>(std::move(*compiled))).first->second.get();
}

void Machine::begin() {
  meter_ = 0;
  next_check_ = check_every;
  commands_ = 0;
  iterations_ = 0;
  tokens_ = 0;
  output_ = 0;
  memory_ = 0;
  standstill_ = false;
  slice_over_ = false;
  started_ = std::chrono::steady_clock::now();
  cpu_started_ns_ = -1;
  stopped_by_ = Limit::none;
  canceled_ = false;
}

std::string Machine::stop_message() const {
  if (canceled_) return "canceled";
  if (stopped_by_ == Limit::defect) return fmt::format("{}: {}", message_of(stopped_by_, limits), defect_);
  return stopped_by_ == Limit::none ? std::string() : message_of(stopped_by_, limits);
}

void Machine::stop_limit(Limit which) {
  if (stopped_by_ == Limit::none) stopped_by_ = which;
  // Whatever runs next comes to check() with its first step and ends, too.
  next_check_ = 0;
  StoppedBy stop;
  stop.status = status_of(stopped_by_);
  stop.reason = StopReason::limit;
  stop.signal = 0;
  stop.process = nullptr;
  throw stop;
}

int Machine::stop_defect(std::string_view what) {
  if (stopped_by_ == Limit::none) {
    stopped_by_ = Limit::defect;
    defect_ = what;
  }
  next_check_ = 0;
  return status_of(stopped_by_);
}

void Machine::stop_canceled() {
  canceled_ = true;
  next_check_ = 0;
  StoppedBy stop;
  stop.status = canceled_status;
  stop.reason = StopReason::canceled;
  stop.signal = 0;
  stop.process = nullptr;
  throw stop;
}

void Machine::check() {
  next_check_ = meter_ + check_every;
  if (canceled_ || (canceled && canceled())) stop_canceled();
  if (stopped_by_ != Limit::none) stop_limit(stopped_by_);
  if (meter_ > limits.work) stop_limit(Limit::work);
  if (HeapMeter::used() > limits.memory_bytes && too_much(*this, HeapMeter::used()))
    stop_limit(Limit::memory_bytes);
  SteadyTime now = std::chrono::steady_clock::now();
  if (now - started_ > limits.wall_time) stop_limit(Limit::wall_time);
  std::int64_t cpu = thread_cpu_ns();
  if (cpu_started_ns_ < 0) cpu_started_ns_ = cpu;
  if (cpu - cpu_started_ns_ > limits.cpu_time.count()) stop_limit(Limit::cpu_time);
  if (!alarms_.empty()) ring_alarms(now);
  if (attention_) notice_signals();
  // Others wait for their turn: the interpreter yields at the next command boundary, where no half-done state
  // is on the stack.
  slice_over_ = scheduler.can_run();
}

// Long computations in one process leave the others their turns, between commands.
void Machine::end_slice() {
  slice_over_ = false;
  yield();
}

void Machine::charge_memory(std::int64_t bytes) {
  memory_ += bytes;
  if (memory_ < 0) memory_ = 0;
  if (bytes <= 0) return;  // giving back never throws: destructors do it
  if (memory_ > static_cast<std::int64_t>(limits.memory_bytes)) stop_limit(Limit::memory_bytes);
}

void Machine::check_held(std::size_t bytes) {
  if (bytes > limits.memory_bytes) stop_limit(Limit::memory_bytes);
}

void Machine::charge_output(std::size_t bytes) {
  output_ += bytes;
  if (output_ > limits.output_bytes) stop_limit(Limit::output_bytes);
  charge(bytes);
}

// Ends the process that runs now if a signal for it, or for one that waits for it, asks for that.
void Machine::notice_signals() {
  // A subshell in the foreground runs on its caller's fiber: a signal for the caller ends both, if somebody
  // else sent it.
  for (Process* each = process.get(); each; each = each->caller)
    if ((each == process.get() || each->struck) && each->pending.any()) strike(*each);
  attention_ = std::any_of(processes.begin(), processes.end(), [](const auto& entry) {
    auto one = entry.second.lock();
    return one && !one->done && one->pending.any();
  });
}

// What has a trap is left to the interpreter, which runs it between commands.
void Machine::strike(Process& target) {
  for (int signal = 1; signal <= signal_max && target.pending.any(); ++signal) {
    auto at = static_cast<std::size_t>(signal);
    if (!target.pending[at]) continue;
    if (signal != SIGKILL && target.handled[at]) continue;
    target.pending[at] = false;
    if (signal != SIGKILL && (target.ignored[at] || signal_ignored_by_default(signal))) continue;
    target.killed_by = signal;
    StoppedBy stop;
    stop.status = 128 + signal;
    stop.reason = StopReason::signal;
    stop.signal = signal;
    stop.process = &target;
    throw stop;
  }
}

void Machine::wait(WaitQueue& queue) {
  wait_until(queue, SteadyTime::max());
}

bool Machine::wait_until(WaitQueue& queue, SteadyTime when) {
  // Other fibers run meanwhile and set `process` to theirs.
  auto mine = process;
  if (when == SteadyTime::max())
    scheduler.wait(queue);
  else
    scheduler.wait_until(queue, when);
  process = mine;
  if (stopping() || (canceled && canceled())) check();
  if (attention_) notice_signals();
  return when == SteadyTime::max() || std::chrono::steady_clock::now() < when;
}

void Machine::yield() {
  auto mine = process;
  scheduler.yield();
  process = mine;
  if (stopping() || (canceled && canceled())) check();
  if (attention_) notice_signals();
}

void Machine::sleep(Duration how_long) {
  SteadyTime until = std::chrono::steady_clock::now() + how_long;
  WaitQueue nothing;
  while (std::chrono::steady_clock::now() < until) {
    wait_until(nothing, until);
    bool handled = false;
    // A signal with a trap ends the sleep, so that the trap runs; signals without one have thrown already.
    for (std::size_t i = 1; i <= signal_max; ++i) handled |= process->pending[i] && process->handled[i];
    if (handled) return;
  }
}

// Every fiber waits. Sleeps until the next timer in slices, so that a cancellation is noticed; without a
// timer nothing can ever happen any more, and the wait that the script is in ends as if it had been
// interrupted.
bool Machine::idle(SteadyTime next) {
  SteadyTime now = std::chrono::steady_clock::now();
  if (canceled && canceled()) {
    canceled_ = true;
    wake_everybody();
    return true;
  }
  if (now - started_ > limits.wall_time) {
    if (stopped_by_ == Limit::none) stopped_by_ = Limit::wall_time;
    wake_everybody();
    return true;
  }
  ring_alarms(now);
  for (const Alarm* alarm : alarms_)
    if (!alarm->rang_) next = std::min(next, alarm->when_);
  if (next == SteadyTime::max() && !scheduler.any_ready()) {
    if (stopped_by_ == Limit::none) stopped_by_ = Limit::deadlock;
    wake_everybody();
    // Every wait was ended once by the deadlock. If all fibers wait again none of them can be helped.
    if (standstill_) return false;
    standstill_ = true;
    return true;
  }
  if (next > now && !scheduler.any_ready())
    // At most two milliseconds at a time: nobody wakes this thread when the script is canceled.
    std::this_thread::sleep_for(std::min<Duration>(next - now, std::chrono::milliseconds(2)));
  return true;
}

void Machine::wake_everybody() {
  for (auto& [pid, weak] : processes)
    if (auto p = weak.lock(); p && p->fiber) scheduler.wake(p->fiber);
}

Machine::Alarm::Alarm(Machine& machine, int pid, int signal, SteadyTime when)
    : machine_(machine), pid_(pid), signal_(signal), when_(when) {
  machine_.alarms_.push_back(this);
}

Machine::Alarm::~Alarm() {
  std::erase(machine_.alarms_, this);
}

void Machine::ring_alarms(SteadyTime now) {
  for (std::size_t i = 0; i < alarms_.size(); ++i) {
    Alarm& alarm = *alarms_[i];
    if (alarm.rang_ || alarm.when_ > now) continue;
    alarm.rang_ = true;
    kill_group(alarm.pid_, alarm.signal_);
  }
}

std::shared_ptr<Process> Machine::new_process() {
  auto out = std::make_shared<Process>();
  out->pid = next_pid++;
  out->parent = process ? process->pid : 1;
  if (process) {
    // Until it gets a fiber of its own it runs on its parent's.
    out->fiber = process->fiber;
    out->ignored = process->ignored;
  }
  // The table holds weak references; those of ended processes are swept now and then.
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
  attention_ = true;
  if (target == process.get()) {
    notice_signals();
  } else if (target->fiber && target->fiber != scheduler.current()) {
    target->struck = true;
    scheduler.wake(target->fiber);
  }
  return 0;
}

void Machine::kill_group(int pid, int signal) {
  auto belongs = [&](const Process* one) {
    for (int hops = 0; one && hops < 1000; ++hops) {
      if (one->pid == pid) return true;
      one = one->parent > 1 ? find_process(one->parent) : nullptr;
    }
    return false;
  };
  for (auto& [id, weak] : processes) {
    auto one = weak.lock();
    if (!one || one->done || !belongs(one.get())) continue;
    one->pending[static_cast<std::size_t>(signal)] = true;
    one->struck = true;
    if (one->fiber && one->fiber != scheduler.current()) scheduler.wake(one->fiber);
  }
  attention_ = true;
}

void Machine::finished(Process& done, int status) {
  done.done = true;
  done.status = status;
  done.fiber = nullptr;
  scheduler.wake(done.waiters);
}

void Machine::spawn(std::shared_ptr<Process> child, std::function<void()> body) {
  // This is where a fork bomb ends.
  if (scheduler.live() >= limits.processes) stop_limit(Limit::processes);
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
  // Regular expressions and patterns are used by code that knows no machine; what they cost is charged to the
  // one that runs on this thread.
  RegexScope regex({.memory_bytes = limits.regex_bytes,
                    .steps = limits.regex_steps,
                    .exceeded = [this] { stop_limit(Limit::regex_steps); },
                    .too_big = [this] { stop_limit(Limit::regex_bytes); },
                    .charge = [this](std::uint64_t work) { charge(work); }});
  std::function<void(std::uint64_t)> patterns = [this](std::uint64_t work) { charge(work); };
  Restored<const std::function<void(std::uint64_t)>*> outer(Pattern::meter);
  Pattern::meter = &patterns;
  HeapMeter heap(
      limits.memory_bytes,
      [](void* self, std::uint64_t held) {
        auto& machine = *static_cast<Machine*>(self);
        if (!machine.stopping() && too_much(machine, held)) machine.stop_limit(Limit::memory_bytes);
      },
      this);
  scheduler.run(fiber, [this](SteadyTime next) { return idle(next); });
  // What did not end when told to must not outlive the streams and limits that it uses.
  scheduler.end_all();
  process = root;
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
    if (stopping() || (canceled && canceled())) break;
  }
}

void Machine::kill_others() {
  auto mine = process;
  // In rounds: one that ends wakes those that waited for it.
  for (int round = 0; round < 100 && others_alive(); ++round) {
    for (auto& [pid, weak] : processes) {
      auto p = weak.lock();
      if (!p || !p->fiber || p->fiber == scheduler.current()) continue;
      p->handled.reset();
      p->pending[SIGKILL] = true;
      p->struck = true;
      scheduler.wake(p->fiber);
    }
    attention_ = true;
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

// The two strings change places, so that neither is allocated anew.
std::string_view Pipe::take(Claim& claim) {
  std::size_t from = fill().empty() ? data_.size() : head_;
  claim.bytes.clear();
  claim.bytes.swap(data_);
  head_ = 0;
  machine_.scheduler.wake(queue_);
  return std::string_view(claim.bytes).substr(from);
}

void Pipe::give_back(Claim& claim, std::string_view rest) {
  if (data_.empty()) {
    head_ = static_cast<std::size_t>(rest.data() - claim.bytes.data());
    data_.swap(claim.bytes);
  } else {
    data_.replace(0, head_, rest);
    head_ = 0;
  }
  machine_.scheduler.wake(queue_);
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
