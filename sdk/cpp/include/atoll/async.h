#pragma once

#include <condition_variable>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>

/// @file
/// Async<T>: one operation under way, to be awaited by a coroutine or waited for by a thread.
namespace atl::client {

namespace detail {

/// True on a client's own thread, which must not wait for itself.
bool on_client_thread();
[[noreturn]] void throw_would_deadlock();

template <class T>
using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// What an operation and those who wait for it share. Any thread.
template <class T>
class Shared {
 public:
  void succeed(Stored<T> value) {
    finish([&] { value_.emplace(std::move(value)); });
  }
  void fail(std::exception_ptr problem) {
    finish([&] { problem_ = std::move(problem); });
  }
  /// False: it is over already, and `next` is not kept.
  bool then(std::function<void()> next) {
    std::scoped_lock lock(mutex_);
    if (over_) return false;
    next_ = std::move(next);
    return true;
  }
  bool over() const {
    std::scoped_lock lock(mutex_);
    return over_;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return over_; });
  }
  Stored<T> take() {
    if (problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
    return std::move(*value_);
  }
  std::stop_source& stop() { return stop_; }
  /// How waiting coroutines are resumed; unset: at once, on the thread that finished the operation.
  std::function<void(std::function<void()>)> resume;

 private:
  template <class Change>
  void finish(Change change) {
    std::function<void()> next;
    {
      std::scoped_lock lock(mutex_);
      if (over_) return;
      change();
      over_ = true;
      next = std::exchange(next_, nullptr);
      changed_.notify_all();
    }
    if (!next) return;
    if (resume) {
      resume(std::move(next));
    } else {
      next();
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::optional<Stored<T>> value_;
  std::exception_ptr problem_;
  std::function<void()> next_;
  std::stop_source stop_;
};

/// Where a coroutine keeps its result until everything in it is destroyed.
template <class T>
struct PromiseResult {
  std::shared_ptr<Shared<T>> shared = std::make_shared<Shared<T>>();
  std::optional<Stored<T>> result;
  std::exception_ptr problem;
  void return_value(T value) { result.emplace(std::move(value)); }
};
template <>
struct PromiseResult<void> {
  std::shared_ptr<Shared<void>> shared = std::make_shared<Shared<void>>();
  std::optional<Stored<void>> result;
  std::exception_ptr problem;
  void return_void() { result.emplace(); }
};

/// The end of a coroutine: first it is destroyed, with all that it holds, then those who wait are told.
struct Publish {
  bool await_ready() noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> over) noexcept {
    auto shared = std::move(over.promise().shared);
    auto result = std::move(over.promise().result);
    auto problem = std::move(over.promise().problem);
    over.destroy();
    if (problem) {
      shared->fail(std::move(problem));
    } else {
      shared->succeed(std::move(*result));
    }
  }
  void await_resume() noexcept {}
};

/// What a coroutine awaits: an operation that is given up together with the coroutine.
template <class T>
class Linked {
 public:
  Linked(std::shared_ptr<Shared<T>> child, std::stop_token parent)
      : child_(std::move(child)), parent_(std::move(parent)) {}
  Linked(const Linked&) = delete;
  Linked& operator=(const Linked&) = delete;

  bool await_ready() const { return child_->over(); }
  bool await_suspend(std::coroutine_handle<> waiting) {
    link_.emplace(parent_, [child = child_] { child->stop().request_stop(); });
    auto keep = child_;  // resuming may destroy this object
    return keep->then([waiting] { waiting.resume(); });
  }
  T await_resume() {
    link_.reset();
    if constexpr (std::is_void_v<T>) {
      child_->take();
    } else {
      return child_->take();
    }
  }

 private:
  std::shared_ptr<Shared<T>> child_;
  std::stop_token parent_;
  std::optional<std::stop_callback<std::function<void()>>> link_;
};

}  // namespace detail

/// An operation that has begun. Take its result once: with get() in a thread, or with co_await in a
/// coroutine.
///
/// A coroutine goes on on the client's own thread, or where ClientOptions::resume puts it; what it does there
/// until the next co_await must not block. Dropping an Async does not end the operation: call cancel().
///
/// Async is also a coroutine's type, so that programs need no other:
///
///     Async<int> answer(Session& session) {
///       Execution done = co_await session.execute_async("print(6 * 7)");
///       co_return std::stoi(done.stdout_text);
///     }
///
/// Such a coroutine begins at once. Whatever it refers to must live until it is over.
template <class T>
class [[nodiscard]] Async {
 public:
  struct promise_type : detail::PromiseResult<T> {
    Async get_return_object() { return Async(this->shared); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    detail::Publish final_suspend() noexcept { return {}; }
    void unhandled_exception() { this->problem = std::current_exception(); }
    template <class Other>
    detail::Linked<Other> await_transform(Async<Other>&& child) {
      return {std::move(child.shared_), this->shared->stop().get_token()};
    }
    template <class Other>
    detail::Linked<Other> await_transform(Async<Other>& child) {
      return {child.shared_, this->shared->stop().get_token()};
    }
    template <class Awaitable>
    Awaitable&& await_transform(Awaitable&& other) {
      return std::forward<Awaitable>(other);
    }
  };

  explicit Async(std::shared_ptr<detail::Shared<T>> shared) : shared_(std::move(shared)) {}
  Async(Async&&) noexcept = default;
  Async& operator=(Async&&) noexcept = default;

  /// Waits, and gives the result or throws the error. Not on the client's own thread (ConfigurationError).
  T get() {
    if (!shared_->over() && detail::on_client_thread()) detail::throw_would_deadlock();
    shared_->wait();
    return await_resume();
  }
  /// Whether get() would return at once.
  bool ready() const { return shared_->over(); }
  /// Gives the operation up: it ends with CallCanceledError unless it is over. A coroutine of this type gets
  /// that error from the call that it awaits, or from its next one.
  void cancel() { shared_->stop().request_stop(); }

  bool await_ready() const { return shared_->over(); }
  bool await_suspend(std::coroutine_handle<> waiting) {
    auto keep = shared_;  // resuming may destroy this object
    return keep->then([waiting] { waiting.resume(); });
  }
  T await_resume() {
    if constexpr (std::is_void_v<T>) {
      shared_->take();
    } else {
      return shared_->take();
    }
  }

 private:
  template <class Other>
  friend class Async;
  std::shared_ptr<detail::Shared<T>> shared_;
};

}  // namespace atl::client
