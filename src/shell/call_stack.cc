#include "shell/call_stack.h"

namespace atl::shell {

std::size_t CallStack::function_frame() const {
  for (std::size_t i = frames.size(); i-- > 0;)
    if (frames[i]->function) return i;
  return frames.size();
}

void CallStack::leave_script() {
  frames.clear();
  line = depth = source_depth = 0;
}

bool CallStack::in_function() const {
  return function_frame() < frames.size();
}

const std::string* CallStack::source() const {
  for (std::size_t i = frames.size(); i-- > 0;)
    if (!frames[i]->source.empty()) return &frames[i]->source;
  return nullptr;
}

}  // namespace atl::shell
