#pragma once

#include <cstddef>

namespace atl::shell {

// Bytes left of the stack that this code runs on; as good as endless outside of a script.
std::size_t stack_left_here();

// Thrown where data are nested deeper than the stack allows; ends the command with a message.
struct NestedTooDeeply {};

// To be called by functions that call themselves as deep as their input says.
inline void need_stack() {
  if (stack_left_here() < 96 * 1024) throw NestedTooDeeply{};
}

}  // namespace atl::shell
