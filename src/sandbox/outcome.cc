#include "sandbox/outcome.h"

#include <fmt/format.h>

#include <utility>

namespace atl::sandbox {

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::exited: return "exited";
    case Ending::signaled: return "signaled";
    case Ending::timed_out: return "timed_out";
    case Ending::out_of_memory: return "out_of_memory";
    case Ending::too_many_processes: return "too_many_processes";
    case Ending::output_limit: return "output_limit";
    case Ending::killed: return "killed";
    case Ending::lost: return "lost";
  }
  std::unreachable();
}

int exit_status(const Outcome& outcome) {
  switch (outcome.ending) {
    case Ending::exited: return outcome.exit_code;
    case Ending::signaled: return 128 + outcome.signal;
    case Ending::timed_out: return 124;
    case Ending::out_of_memory:
    case Ending::too_many_processes:
    case Ending::output_limit:
    case Ending::lost: return 137;
    case Ending::killed: return outcome.signal > 0 ? 128 + outcome.signal : 137;
  }
  std::unreachable();
}

std::string seconds_of(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                  : fmt::format("{:.3f} s", static_cast<double>(time.count()) / 1000);
}

}  // namespace atl::sandbox
