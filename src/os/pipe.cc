#include "os/pipe.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace atl::os {

Result<Pipe> pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return fail(errno_error(errno, "make a pipe"));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<Terminal> open_terminal(WindowSize size) {
  Terminal terminal{Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), {}};
  if (!terminal.master.is_open()) return fail(errno_error(errno, "open a terminal"));
  if (::unlockpt(terminal.master.get()) < 0) return fail(errno_error(errno, "unlock a terminal"));
  std::array<char, 64> name{};
  if (const int error = ::ptsname_r(terminal.master.get(), name.data(), name.size()); error != 0)
    return fail(errno_error(error, "name a terminal"));
  terminal.path = name.data();
  TRY(resize_terminal(terminal.master.get(), size));
  return terminal;
}

Result<void> resize_terminal(int master, WindowSize size) {
  const winsize window{.ws_row = size.rows, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (::ioctl(master, TIOCSWINSZ, &window) < 0) return fail(errno_error(errno, "resize a terminal"));
  return {};
}

}  // namespace atl::os
