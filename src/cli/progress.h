#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace atl::cli {

// "notes.tar  [=====>    ]  42 %  12M of 29M  8.1M/s  2s left". Width of the bar is fixed; `all` 0: nobody
// knows.
std::string progress_line(const std::string& what, std::uint64_t so_far, std::uint64_t all, double seconds);

// Tells on standard error how far a transfer is, if that is a terminal and it takes longer than a second. The
// line is wiped when the object goes.
class Progress {
 public:
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void moved(std::uint64_t so_far, std::uint64_t all);

 private:
  std::string what_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point began_, last_;
};

}  // namespace atl::cli
