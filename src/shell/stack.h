#pragma once

#include <cstddef>
#include <cstdint>

namespace atl::shell {

// Lowest address of the stack that this thread runs on; null outside of a script. The scheduler alone sets
// it.
extern constinit thread_local const char* stack_lowest;

// Bytes left of the stack that this code runs on; as good as endless outside of a script. Asks for the
// address of the frame, not of a variable: the address sanitizer keeps variables elsewhere.
inline std::size_t stack_left_here() {
  return stack_lowest
             ? static_cast<std::size_t>(static_cast<const char*>(__builtin_frame_address(0)) - stack_lowest)
             : SIZE_MAX;
}

// What a function leaves to those that it calls and that do not ask.
constexpr std::size_t stack_reserve = 96 * 1024;
// The same where between two questions lies a tree that the parser bounded (an expression of awk or jq).
constexpr std::size_t stack_reserve_for_tree = 256 * 1024;

// Thrown where data are nested deeper than the stack allows; ends the command with a message.
struct NestedTooDeeply {};

// To be called by functions that call themselves as deep as their input says.
inline void need_stack() {
  if (stack_left_here() < stack_reserve) throw NestedTooDeeply{};
}

}  // namespace atl::shell
