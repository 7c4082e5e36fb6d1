#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "layer/build_position.h"

namespace atl::cli {

// What is counted: bytes are written short ("12M"), things as they are.
enum class Counting : std::uint8_t { bytes, things };

// "notes.tar  [=====>    ]  42 %  12M of 29M  8.1M/s  2s left". Width of the bar is fixed; `all` 0: nobody
// knows.
std::string progress_line(const std::string& what, std::uint64_t so_far, std::uint64_t all, double seconds,
                          Counting counting = Counting::bytes);

// "python  [=====>    ]  42 %  layer 1 of 4  35 of 120 packages  3.1/s  2m left". The rate is that of
// packages since `part_seconds`, the time left that of the build since `seconds`, when it was at `begun` of
// its way.
std::string build_line(const std::string& what, const layer::BuildPosition& at, double begun, double seconds,
                       double part_seconds);
// From 0 to 1.
double share_of(const layer::BuildPosition& at);

// Tells on standard error how far something is, if that is a terminal and it takes longer than a second. The
// line is wiped when the object goes.
class Progress {
 public:
  explicit Progress(std::string what, Counting counting = Counting::bytes);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void moved(std::uint64_t so_far, std::uint64_t all);

 private:
  std::string what_;
  Counting counting_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point began_, last_;
};

// The same for a build, in which programs write lines of their own: these scroll above a bar that stays at
// the foot of the terminal. Elsewhere there are only the lines. From any thread.
class BuildProgress {
 public:
  explicit BuildProgress(std::string what);
  BuildProgress(const BuildProgress&) = delete;
  BuildProgress& operator=(const BuildProgress&) = delete;
  ~BuildProgress();

  void say(const std::string& line);
  // What a program wrote, as it is: half lines, too.
  void pass(std::string_view bytes);
  void moved(const layer::BuildPosition& at);

 private:
  void draw();
  void wipe();

  std::mutex mutex_;
  std::string what_;
  bool terminal_;
  bool drawn_ = false;
  bool at_line_start_ = true;
  layer::BuildPosition at_;
  double begun_ = -1;
  std::chrono::steady_clock::time_point began_, part_began_;
  std::jthread clock_;  // last: it is joined before the rest goes
};

}  // namespace atl::cli
