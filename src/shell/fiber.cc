#include "shell/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "shell/stack.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATOLL_FIBERS_WITH_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ATOLL_FIBERS_WITH_ASAN 1
#endif
#if defined(ATOLL_FIBERS_WITH_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

namespace atl::shell {

namespace ctx = boost::context;

constinit thread_local const char* stack_lowest = nullptr;

namespace {

// A page below each stack that faults, should a recursion miss its check of stack_left().
constexpr std::size_t guard_bytes = 4096;

// The address sanitizer must know which stack is in use. `low` null: the stack that run() was called on.
struct Switch {
#if defined(ATOLL_FIBERS_WITH_ASAN)
  static void leave(void** kept, const char* low, std::size_t size) {
    __sanitizer_start_switch_fiber(kept, low ? low : outer_low, low ? size : outer_size);
  }
  static void arrive(void* kept, bool from_outer) {
    __sanitizer_finish_switch_fiber(kept, from_outer ? &outer_low : nullptr,
                                    from_outer ? &outer_size : nullptr);
  }
  static inline thread_local const void* outer_low = nullptr;
  static inline thread_local std::size_t outer_size = 0;

  // Making a context already enters its first frame. The sanitizer must record that frame for the new stack:
  // recorded for the maker's stack it would be forgotten when the maker returns.
  class Making {
   public:
    Making(const char* low, std::size_t size) { __sanitizer_start_switch_fiber(&kept_, low, size); }
    ~Making() {
      const void* low = nullptr;
      std::size_t size = 0;
      __sanitizer_finish_switch_fiber(kept_, &low, &size);
      __sanitizer_start_switch_fiber(&kept_, low, size);
      __sanitizer_finish_switch_fiber(kept_, nullptr, nullptr);
    }
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

   private:
    void* kept_ = nullptr;
  };
#else
  static void leave(void**, const char*, std::size_t) {}
  static void arrive(void*, bool) {}
  struct Making {
    Making(const char*, std::size_t) {}
  };
#endif
};

// Thrown where a fiber waits when it is not to go on. Nobody but its first frame catches it.
struct Ended {};

// False if it was unwound; nobody waits for what it would have given.
bool runs_to_its_end(const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const Ended&) {
    return false;
  }
}

// Stacks with a guard page below, kept for reuse: mapping one costs more than a short command.
class StackPool {
 public:
  explicit StackPool(std::size_t bytes, std::size_t keep) : bytes_(bytes), keep_(keep) {}
  ctx::stack_context take() {
    {
      std::lock_guard hold(lock_);
      if (!free_.empty()) {
        ctx::stack_context out = free_.back();
        free_.pop_back();
        return out;
      }
    }
    // MAP_NORESERVE: address space is taken, memory only for the pages that are used.
    void* low = mmap(nullptr, bytes_ + guard_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (low == MAP_FAILED) throw std::bad_alloc();
    mprotect(low, guard_bytes, PROT_NONE);
    ctx::stack_context out;
    out.size = bytes_ + guard_bytes;
    out.sp = static_cast<char*>(low) + out.size;
    return out;
  }
  void give(ctx::stack_context stack) {
    char* low = static_cast<char*>(stack.sp) - stack.size;
    {
      std::lock_guard hold(lock_);
      if (free_.size() < keep_) {
        free_.push_back(stack);
        return;
      }
    }
    munmap(low, stack.size);
  }

 private:
  std::size_t bytes_;
  std::size_t keep_;
  std::mutex lock_;
  std::vector<ctx::stack_context> free_;
};

// Frames that the sanitizer fences in are several times as large; how deep a script may nest must not depend
// on that.
#if defined(ATOLL_FIBERS_WITH_ASAN)
constexpr std::size_t frame_factor = 8;
#else
constexpr std::size_t frame_factor = 1;
#endif

StackPool& pool(bool root) {
  static StackPool small(frame_factor * Scheduler::stack_bytes, 64);
  static StackPool large(frame_factor * Scheduler::root_stack_bytes, 8);
  return root ? large : small;
}

struct PooledStack {
  bool root;
  ctx::stack_context allocate() { return pool(root).take(); }
  void deallocate(ctx::stack_context& stack) { pool(root).give(stack); }
};

// While a fiber runs the thread's account of exceptions is the fiber's own. Without it a fiber that waits
// while it handles an exception would end the handling of another's.
class OwnExceptions {
 public:
  template <class Kept>
  explicit OwnExceptions(Kept& kept) : kept_(&kept) {
    static_assert(sizeof(Kept) == size);
    swap();
  }
  ~OwnExceptions() { swap(); }
  OwnExceptions(const OwnExceptions&) = delete;
  OwnExceptions& operator=(const OwnExceptions&) = delete;

 private:
  // As the ABI lays it out: the stack of exceptions being handled, the number of those in flight.
  static constexpr std::size_t size = 2 * sizeof(void*);
  void swap() {
    char now[size];
    void* globals = abi::__cxa_get_globals();
    std::memcpy(now, globals, size);
    std::memcpy(globals, kept_, size);
    std::memcpy(kept_, now, size);
  }
  void* kept_;
};

}  // namespace

WaitQueue::~WaitQueue() = default;

void WaitQueue::remove(Fiber* fiber) {
  std::erase(fibers_, fiber);
}

Scheduler::Scheduler() = default;
Scheduler::~Scheduler() {
  end_all();
}

Fiber* Scheduler::spawn(std::function<void()> body, bool root) {
  auto owned = std::make_unique<Fiber>();
  Fiber* fiber = owned.get();
  fiber->body_ = std::move(body);
  ctx::stack_context stack = PooledStack{root}.allocate();
  fiber->stack_low_ = static_cast<char*>(stack.sp) - stack.size + guard_bytes;
  fiber->stack_size_ = stack.size - guard_bytes;
  {
    [[maybe_unused]] Switch::Making making(fiber->stack_low_, fiber->stack_size_);
    // Passed as a temporary: of a named callable the fiber would keep a reference to this function's frame,
    // which is gone when the fiber ends.
    fiber->context_ = ctx::fiber(std::allocator_arg, ctx::preallocated(stack.sp, stack.size, stack),
                                 PooledStack{root}, [this, fiber](ctx::fiber&& out) {
                                   Switch::arrive(nullptr, true);
                                   // `out` is whoever resumed this fiber; it is replaced at every switch, and
                                   // suspend() goes back through it.
                                   out_ = &out;
                                   if (!ending_) (void)runs_to_its_end(fiber->body_);
                                   fiber->body_ = nullptr;
                                   fiber->done_ = true;
                                   Switch::leave(nullptr, nullptr, 0);
                                   return std::move(*out_);
                                 });
  }
  fibers_.push_back(std::move(owned));
  fiber->queued_ = true;
  ready_.push_back(fiber);
  return fiber;
}

void Scheduler::resume(Fiber* fiber) {
  // Scripts run inside scripts (a command that starts a shell): the outer fiber's bound comes back.
  const char* outer_lowest = std::exchange(stack_lowest, fiber->stack_low_);
  current_ = fiber;
  fiber->queued_ = false;
  fiber->waiting_ = false;
  void* outer = nullptr;
  Switch::leave(&outer, fiber->stack_low_, fiber->stack_size_);
  {
    OwnExceptions own(fiber->exceptions_);
    fiber->context_ = std::move(fiber->context_).resume();
  }
  Switch::arrive(outer, false);
  current_ = nullptr;
  stack_lowest = outer_lowest;
  // Here, on another stack: a fiber cannot free the stack that it runs on.
  if (fiber->done_) reap(fiber);
}

void Scheduler::suspend() {
  Fiber* self = current_;
  ctx::fiber* mine = out_;
  Switch::leave(&self->sanitizer_stack_, nullptr, 0);
  // The context that comes back is the resumer's, which may differ each time.
  *mine = std::move(*mine).resume();
  Switch::arrive(self->sanitizer_stack_, true);
  out_ = mine;
  current_ = self;
  // Unwinding runs the destructors on the fiber's stack; without it they would never run.
  if (ending_) throw Ended{};
}

void Scheduler::reap(Fiber* fiber) {
  std::erase_if(fibers_, [&](const auto& owned) { return owned.get() == fiber; });
}

void Scheduler::run(Fiber* root, const std::function<bool(SteadyTime)>& idle) {
  auto alive = [&] { return has(root); };
  while (alive()) {
    if (!timed_.empty()) {
      SteadyTime now = std::chrono::steady_clock::now();
      auto earlier = [](const Fiber* a, const Fiber* b) { return a->wake_at_ < b->wake_at_; };
      while (!timed_.empty()) {
        Fiber* next = *std::min_element(timed_.begin(), timed_.end(), earlier);
        if (next->wake_at_ > now) break;
        wake(next);
      }
    }
    if (ready_.empty()) {
      SteadyTime next = SteadyTime::max();
      for (Fiber* fiber : timed_) next = std::min(next, fiber->wake_at_);
      // Nothing can run: the machine sleeps, or finds that nothing ever will.
      if (!idle(next)) return;
      continue;
    }
    Fiber* fiber = ready_.front();
    ready_.pop_front();
    resume(fiber);
  }
}

void Scheduler::end_all() {
  ending_ = true;
  ready_.clear();
  timed_.clear();
  // The newest first: it may use what an older one owns.
  while (!fibers_.empty()) resume(fibers_.back().get());
  ready_.clear();
  timed_.clear();
  ending_ = false;
}

bool Scheduler::has(const Fiber* fiber) const {
  return std::any_of(fibers_.begin(), fibers_.end(), [&](const auto& owned) { return owned.get() == fiber; });
}

void Scheduler::wait(WaitQueue& queue) {
  // The queue may be woken and dropped before this fiber runs again; remove() then finds nothing.
  queue.add(current_);
  current_->waiting_ = true;
  Fiber* self = current_;
  suspend();
  queue.remove(self);
}

void Scheduler::wait_until(WaitQueue& queue, SteadyTime when) {
  Fiber* self = current_;
  self->wake_at_ = when;
  timed_.push_back(self);
  wait(queue);
  std::erase(timed_, self);
  self->wake_at_ = SteadyTime::max();
}

void Scheduler::yield() {
  if (ready_.empty() && timed_.empty()) return;
  current_->queued_ = true;
  ready_.push_back(current_);
  suspend();
}

void Scheduler::wake(Fiber* fiber) {
  std::erase(timed_, fiber);
  // A fiber is queued at most once, and one that runs is not woken.
  if (fiber->queued_ || !fiber->waiting_) return;
  fiber->queued_ = true;
  ready_.push_back(fiber);
}

void Scheduler::wake(WaitQueue& queue) {
  for (Fiber* fiber : queue.take()) wake(fiber);
}

std::size_t Scheduler::stack_left() const {
  return current_ ? stack_left_here() : SIZE_MAX;
}

}  // namespace atl::shell
