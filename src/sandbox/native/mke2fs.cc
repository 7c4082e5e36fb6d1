#include "sandbox/native/mke2fs.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "os/fork.h"
#include "os/process.h"

namespace atl::sandbox::native {

Result<pid_t> start_mke2fs(int file, std::uint64_t inodes, Journal journal,
                           const std::function<bool()>& prepare) {
  const bool journaled = journal == Journal::yes;
  const std::string count = std::to_string(inodes);
  const char* const features = journaled ? "^resize_inode" : "^has_journal,^resize_inode";
  const char* const options = journaled ? "lazy_itable_init=1,lazy_journal_init=1,nodiscard,root_owner=0:0"
                                        : "lazy_itable_init=1,nodiscard,root_owner=0:0";
  const char* const arguments[] = {
      "mke2fs", "-q",     "-F", "-t",    "ext4", "-m",          "0",
      "-O",     features, "-E", options, "-N",   count.c_str(), "/proc/self/fd/0",
      nullptr};
  const char* const environment[] = {"PATH=/usr/sbin:/sbin:/usr/bin:/bin", nullptr};
  const pid_t child = os::fork_alone();
  if (child < 0) return fail(errno_error(errno, "fork mke2fs"));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!prepare()) ::_exit(1);
    ::dup2(file, 0);
    (void)os::close_range(3, ~0U, os::UnshareTable::no);
    // JUSTIFICATION: execve takes char* and writes nothing.
    for (const char* path : {"/usr/sbin/mke2fs", "/sbin/mke2fs"})
      ::execve(path, const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
    ::_exit(kNoMke2fs);
  }
  return child;
}

}  // namespace atl::sandbox::native
