#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <system_error>

#include "cli/command.h"

namespace atl::cli {
namespace {

// In the order of `atoll --help`.
constexpr Define kCommands[] = {
    define_serve, define_audit,    define_check,  define_config, define_env,
    define_keys,  define_registry, define_skills, define_tools,  define_plugin_host,
    define_run,   define_doctor,   define_shell,  define_usage,  define_version,
};

// If a standard descriptor is closed when we start, the first file that we open would get its number, and our
// messages would be written into that file. So closed ones are opened on /dev/null, the wrong way round:
// reading standard input and writing standard output still fail. Only messages to standard error are lost.
void occupy_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == 1 ? O_RDONLY : O_WRONLY);
}

int run(int argc, char** argv) {
  occupy_standard_descriptors();
  CommandLine line("atoll", "Atoll: stateful sandboxes for AI agents", "atoll " ATOLL_VERSION);
  for (const Define define : kCommands) line.add(define);
  try {
    return line.run(argc, argv);
  } catch (const std::system_error& error) {
    // fmt throws if output cannot be written. Standard error may be what failed, so it is written to
    // directly.
    const std::string message = fmt::format("atoll: output cannot be written: {}\n", error.what());
    (void)!::write(STDERR_FILENO, message.data(), message.size());
    return 1;
  }
}

}  // namespace

int report(const Error& error) {
  fmt::print(stderr, "atoll: {}\n", error.message());
  if (!error.detail().empty()) fmt::print(stderr, "atoll: ({})\n", error.detail());
  return row(error.code()).exit_status;
}

bool flush_output() {
  // An earlier write may have failed; then the stream remembers that, but not why.
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed_before && std::cout) return true;
  fmt::print(stderr, "atoll: standard output cannot be written{}{}\n", errno != 0 ? ": " : "",
             errno != 0 ? std::strerror(errno) : "");
  std::clearerr(stdout);
  return false;
}

}  // namespace atl::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return atl::cli::run(argc, argv);
}
