#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace atl::sandbox::native {

class NativeState;

// How often to look at one sandbox: at once after something began there, every 50 ms while something is
// executed or the number of its tasks changes, and twice as seldom each time otherwise, to every 0.8 s;
// sooner if the number of tasks in all sandboxes together changes, at which the census looks every 100 ms.
class Rhythm {
 public:
  static constexpr std::chrono::milliseconds kOften{50};
  static constexpr std::chrono::milliseconds kSeldom{800};

  Rhythm() = default;
  explicit Rhythm(std::chrono::milliseconds pause) : pause_(pause) {}

  void quicken() { pause_ = kOften; }
  // After a look that saw `tasks`.
  void seen(std::uint64_t tasks, bool executing) {
    pause_ = executing || tasks != tasks_ ? kOften : std::min(pause_ * 2, kSeldom);
    tasks_ = tasks;
  }
  // Looks fall on common multiples, so that many sandboxes that rest cost as many wake-ups as one.
  std::chrono::steady_clock::time_point next(std::chrono::steady_clock::time_point now) const;

 private:
  std::chrono::milliseconds pause_ = kOften;
  std::uint64_t tasks_ = 0;
};

// Counts the processes of sandboxes, between executions as during them. The kernel sends no event when a
// process is added to a group, so this looks at intervals; it sleeps while no sandbox has anything that could
// add one. Belongs to the loop thread.
class Census {
 public:
  explicit Census(const boost::asio::any_io_executor& executor) : timer_(executor) {}
  Census(const Census&) = delete;
  Census& operator=(const Census&) = delete;

  // A process or an execution begins there. The first call for a sandbox adds it.
  void note_activity(const std::shared_ptr<NativeState>& state);
  // No more looks.
  void close();

 private:
  struct Entry {
    std::weak_ptr<NativeState> state;
    Rhythm rhythm;
    std::chrono::steady_clock::time_point due;
  };
  void schedule();
  void look();
  // The number of tasks in all sandboxes together differs from the last time.
  bool has_changed();

  static constexpr std::chrono::milliseconds kTogether{100};

  boost::asio::steady_timer timer_;
  std::optional<std::uint64_t> tasks_together_;
  std::map<const NativeState*, Entry> entries_;
  bool closed_ = false;
  // Gone with this object: a timer that has run out may not have been heard yet.
  std::shared_ptr<Census*> self_ = std::make_shared<Census*>(this);
};

}  // namespace atl::sandbox::native
