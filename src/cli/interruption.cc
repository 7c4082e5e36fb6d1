#include "cli/interruption.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include "os/fd.h"

namespace atl::cli {
namespace {

// A handler may do little more than write to a pipe.
int told = -1;

void tell(int) {
  const int before = errno;
  (void)!::write(told, "x", 1);
  errno = before;
}

constexpr std::array kSignals{SIGINT, SIGTERM};

}  // namespace

struct Interruption::State {
  os::Fd read, write;
  std::array<struct sigaction, kSignals.size()> before{};
  std::stop_source stop;
  std::jthread waiter;  // last: it is joined before the rest goes
};

Interruption::Interruption(bool wanted) {
  int ends[2] = {-1, -1};
  if (!wanted || ::pipe2(ends, O_CLOEXEC) != 0) return;
  state_ = std::make_unique<State>();
  state_->read = os::Fd(ends[0]);
  state_->write = os::Fd(ends[1]);
  told = state_->write.get();
  struct sigaction action {};
  action.sa_handler = tell;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (std::size_t at = 0; at < kSignals.size(); ++at)
    ::sigaction(kSignals[at], &action, &state_->before[at]);
  state_->waiter = std::jthread([state = state_.get()] {
    char byte = 0;
    while (::read(state->read.get(), &byte, 1) < 0 && errno == EINTR) continue;
    if (byte == 'x') state->stop.request_stop();
  });
}

Interruption::~Interruption() {
  if (!state_) return;
  for (std::size_t at = 0; at < kSignals.size(); ++at)
    ::sigaction(kSignals[at], &state_->before[at], nullptr);
  state_->write = os::Fd();
  told = -1;
}

std::stop_token Interruption::token() const {
  return state_ ? state_->stop.get_token() : std::stop_token();
}

}  // namespace atl::cli
