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
#include "cli/version.h"

namespace atl::cli {
namespace {

// In the order of `atoll --help`.
constexpr Define kCommands[] = {
    define_serve,       define_quickstart,   define_session, define_top,   define_events,
    define_run,         define_shell,        define_mcp,     define_check, define_env,
    define_keys,        define_registry,     define_skills,  define_tools, define_search,
    define_index,       define_model,        define_audit,   define_usage, define_config,
    define_doctor,      define_completion,   define_man,     define_help,  define_version,
    define_plugin_host, define_embed_worker,
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
  CommandLine line("atoll", "Atoll: stateful sandboxes for AI agents", fmt::format("atoll {}", version()));
  for (const Define define : kCommands) line.add(define);
  line.top().notes(
      "Without a service:  atoll run -- python3 -c 'print(6 * 7)'\n"
      "With one:           atoll serve, and in another terminal: atoll quickstart\n"
      "`atoll help COMMAND` or `man atoll-COMMAND` says more; `man atoll` has exit statuses and variables.");
  try {
    // What the scripts of `atoll completion` call.
    if (argc > 2 && std::string_view(argv[1]) == "__complete")
      return complete_words(line.facts(), std::vector<std::string>(argv + 2, argv + argc));
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
