#include "shell/text/sink.h"

#include <fmt/format.h>

#include "shell/command.h"

namespace atl::shell {

bool Sink::flush() {
  if (!buffer_.empty() && !failed_) {
    // Taken out first: a write may end the command, and must not be repeated then.
    if (!out_.write(buffer_)) failed_ = true;
  }
  buffer_.clear();
  return !failed_;
}

int Sink::finish(Invocation& call, int status) {
  if (flush()) return status;
  call.complain(fmt::format("write error: {}", out_.error()));
  return status ? status : 1;
}

}  // namespace atl::shell
