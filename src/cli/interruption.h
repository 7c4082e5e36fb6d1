#pragma once

#include <memory>
#include <stop_token>

namespace atl::cli {

// While it lives, SIGINT and SIGTERM ask for a stop instead of ending the process, so that whoever works can
// clear up; the second one ends it. One at a time.
class Interruption {
 public:
  // Does nothing unless `wanted`.
  explicit Interruption(bool wanted);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const;

 private:
  struct State;
  std::unique_ptr<State> state_;  // null: not wanted
};

}  // namespace atl::cli
