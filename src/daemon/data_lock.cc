#include "daemon/data_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "os/file.h"

namespace atl::daemon {
namespace {

// The holder writes its number only once it has the lock, so a file that was left behind may name a process
// of long ago: the number is read only if the lock is taken.
std::string holder_of(int file) {
  char text[32] = {};
  const ssize_t size = ::pread(file, text, sizeof text - 1, 0);
  const std::string_view digits(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t end = digits.find_first_not_of("0123456789");
  return std::string(digits.substr(0, end));
}

}  // namespace

Result<DataLock> DataLock::take(const std::string& directory) {
  const std::string path = directory + "/lock";
  os::Fd file = TRY(os::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK) return fail(errno_error(errno, "lock the data directory"));
    const std::string pid = holder_of(file.get());
    return fail(Error(Code::conflict,
                      fmt::format("another atoll serves from {} already ({}): stop it, or give this one a "
                                  "data directory of its own",
                                  directory, pid.empty() ? "it is just starting" : "process " + pid))
                    .with_field("data"));
  }
  // A full disk does not keep the service from starting: the lock holds without the number.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file.get(), 0) == 0) (void)!::pwrite(file.get(), pid.data(), pid.size(), 0);
  return DataLock(std::move(file));
}

}  // namespace atl::daemon
