#pragma once

#include <memory>
#include <utility>

namespace atl::shell {

// A value that copies share until one of them changes it. For one thread.
template <class T>
class Cow {
 public:
  // Holds nothing: reads as a default-constructed T, and the first edit() makes one.
  Cow() = default;
  explicit Cow(T value) : value_(std::make_shared<T>(std::move(value))) {}
  const T& operator*() const { return get(); }
  const T* operator->() const { return &get(); }
  const T& get() const {
    static const T empty{};
    return value_ ? *value_ : empty;
  }
  // The value for changing. Copies it first if others share it, so that they keep what they have; references
  // from an earlier get() may then be to a value that is no longer this one's.
  T& edit() {
    if (!value_)
      value_ = std::make_shared<T>();
    else if (value_.use_count() > 1)
      value_ = std::make_shared<T>(*value_);
    return *value_;
  }
  // False while it holds nothing.
  explicit operator bool() const { return value_ != nullptr; }
  // Holds nothing again; other copies keep the value.
  void reset() { value_.reset(); }

 private:
  std::shared_ptr<T> value_;
};

}  // namespace atl::shell
