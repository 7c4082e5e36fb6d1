#pragma once

#include <boost/context/fiber.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"

namespace atl::shell {

class Scheduler;

// One line of control: the script itself, a pipeline stage, a background list. Owned by its scheduler.
class Fiber {
 public:
  // Its body has returned. The scheduler frees it at its next turn.
  bool done() const { return done_; }
  // A signal to be noticed at the next point where the fiber asks (Scheduler::check). 0: none.
  int signal = 0;

 private:
  friend class Scheduler;
  boost::context::fiber context_;
  std::function<void()> body_;
  // The exceptions it is handling or throwing; the language keeps them by thread, and fibers share theirs.
  struct {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  } exceptions_;
  char* stack_low_ = nullptr;
  std::size_t stack_size_ = 0;
  void* sanitizer_stack_ = nullptr;
  bool done_ = false;
  bool queued_ = false;
  bool waiting_ = false;
  SteadyTime wake_at_ = SteadyTime::max();
};

// A place where fibers wait for something to change. A waiter re-checks its condition after every wake.
class WaitQueue {
 public:
  ~WaitQueue();
  // For the scheduler: who waits here. Fibers are not owned.
  void add(Fiber* fiber) { fibers_.push_back(fiber); }
  void remove(Fiber* fiber);
  std::vector<Fiber*> take() { return std::exchange(fibers_, {}); }
  bool empty() const { return fibers_.empty(); }

 private:
  std::vector<Fiber*> fibers_;
};

// Runs fibers one at a time on the calling thread; they switch only where they wait. Not thread-safe.
class Scheduler {
 public:
  static constexpr std::size_t stack_bytes = 1 << 20;
  static constexpr std::size_t root_stack_bytes = 8 << 20;

  Scheduler();
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // A new fiber, ready to run. The body must not let an exception out, but what end_all() throws.
  Fiber* spawn(std::function<void()> body, bool root = false);
  // Runs fibers until `root` is done. `idle` is called when every fiber waits: with the time of the next
  // timer, or max if there is none; it sleeps, or ends the standstill by making a fiber runnable. False from
  // it: give up.
  void run(Fiber* root, const std::function<bool(SteadyTime)>& idle);

  // Ends the fibers that are left: what each waits for throws, and its stack is unwound while everything it
  // refers to is there. Not from inside a fiber.
  void end_all();

  // The fiber that runs; null outside of run().
  Fiber* current() const { return current_; }
  // From inside a fiber.
  void wait(WaitQueue& queue);
  void wait_until(WaitQueue& queue, SteadyTime when);
  // Lets every other fiber that can run have a turn.
  void yield();
  // Makes waiting fibers runnable; they run when the current one waits. May be called from outside of a
  // fiber.
  void wake(WaitQueue& queue);
  void wake(Fiber* fiber);

  // Bytes of stack left to the current fiber; as good as endless outside of one.
  std::size_t stack_left() const;
  // Fibers that are not done.
  std::size_t live() const { return fibers_.size(); }
  bool has(const Fiber* fiber) const;
  // A fiber other than the current one is ready or has a timer.
  bool can_run() const { return !ready_.empty() || !timed_.empty(); }
  bool any_ready() const { return !ready_.empty(); }

 private:
  void resume(Fiber* fiber);
  void suspend();
  void reap(Fiber* fiber);

  bool ending_ = false;
  boost::context::fiber* out_ = nullptr;  // back to run() while a fiber runs
  Fiber* current_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::deque<Fiber*> ready_;
  std::vector<Fiber*> timed_;
};

}  // namespace atl::shell
