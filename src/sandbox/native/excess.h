#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sandbox/native/process_tree.h"

// Which of a sandbox's processes are too many, and whose they are.
namespace atl::sandbox::native {

// A command, or an interpreter.
struct Runner {
  enum class Kind : std::uint8_t { command, busy_interpreter, idle_interpreter };
  Kind kind = Kind::command;
  pid_t inside = 0;
  // When the command began, or what the interpreter executes; boot time.
  std::uint64_t since_us = 0;
};

struct Excess {
  // Indices of runners whose executions are to be ended, with everything that belongs to them.
  std::vector<std::size_t> runners;
  // Background processes that began at this boot time or later are to be ended.
  std::optional<std::uint64_t> background_since_us;
  // Every one of them was started by a runner, directly or through others of them: no older background
  // process made them, so that ending older ones too would not help.
  bool runners_started_them = false;
};

// `held` of the `allowed` processes exist; which ones, `processes` tells, the guest included. The largest
// executions are ended first, until what is left is allowed; one that alone is within its rights is not ended
// for another's processes. What runs in the background is ended when it is too much by itself: what is
// younger than one of the executions that `began` (in order, those that have ended included), latest first,
// if that is enough; else all of it.
//
// A process belongs to a runner that is its ancestor or leads its session. One that lost both belongs to the
// latest execution that had begun when it was forked, and to the background if that one has ended.
Excess find_excess(std::span<const TreeProcess> processes, std::span<const Runner> runners,
                   std::span<const std::uint64_t> began, std::uint32_t held, std::uint32_t allowed);

}  // namespace atl::sandbox::native
