#pragma once

#include <memory>
#include <utility>

namespace atl::shell {

// A value that copies share until one of them changes it. For one thread.
template <class T>
class Cow {
 public:
  Cow() = default;
  explicit Cow(T value) : value_(std::make_shared<T>(std::move(value))) {}
  const T& operator*() const { return get(); }
  const T* operator->() const { return &get(); }
  const T& get() const {
    static const T empty{};
    return value_ ? *value_ : empty;
  }
  // The value, nobody else's.
  T& edit() {
    if (!value_)
      value_ = std::make_shared<T>();
    else if (value_.use_count() > 1)
      value_ = std::make_shared<T>(*value_);
    return *value_;
  }
  explicit operator bool() const { return value_ != nullptr; }
  void reset() { value_.reset(); }

 private:
  std::shared_ptr<T> value_;
};

}  // namespace atl::shell
