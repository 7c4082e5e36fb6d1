#pragma once

#include <utility>

namespace atl::shell {

// Raises a counter for a scope.
struct Raised {
  explicit Raised(int& c) : counter(c) { ++counter; }
  ~Raised() { --counter; }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;
  int& counter;
};

// Puts the old value back at the end of a scope.
template <class T>
struct Restored {
  explicit Restored(T& where) : slot(where), before(where) {}
  ~Restored() { slot = std::move(before); }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  // Not for values whose assignment can throw: it happens in a destructor.
  T& slot;
  T before;
};

// Runs at the end of a scope, however it is left.
template <class F>
class Finally {
 public:
  // `f` must not throw.
  explicit Finally(F f) : f_(std::move(f)) {}
  ~Finally() { f_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  F f_;
};

}  // namespace atl::shell
