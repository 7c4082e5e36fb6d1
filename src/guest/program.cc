#include "guest/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "embedded/guest_program.h"

namespace atl::guest {

std::string_view program() {
  return embedded::guest_program().front().bytes;
}

Result<os::Fd> program_file() {
  os::Fd file(::memfd_create("atoll-guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open()) return fail(errno_error(errno, "memory file for the guest"));
  for (std::string_view left = program(); !left.empty();) {
    const ssize_t wrote = ::write(file.get(), left.data(), left.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return fail(errno_error(errno, "memory file for the guest"));
    left.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
    return fail(errno_error(errno, "seal the memory file for the guest"));
  // A descriptor that is open for writing would make execve fail with ETXTBSY.
  os::Fd reading(::open(fmt::format("/proc/self/fd/{}", file.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!reading.is_open()) return fail(errno_error(errno, "reopen the memory file for the guest"));
  return reading;
}

}  // namespace atl::guest
