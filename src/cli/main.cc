#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <system_error>

#include "cli/command.h"
#include "cli/version.h"
#include "config/checked.h"

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

// Whoever read our output is gone. The end is then the signal that this would have sent.
bool reader_left = false;

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
    // fmt throws if output cannot be written.
    if (error.code().value() == EPIPE && reader_is_gone()) return 1;
    // Standard error may be what failed, so it is written to directly.
    const std::string message = fmt::format("atoll: output cannot be written: {}\n", error.what());
    (void)!::write(STDERR_FILENO, message.data(), message.size());
    return 1;
  }
}

}  // namespace

// Messages have lines, and what they quote may be a service's own words: nothing in them reaches a terminal
// as a command.
static std::string lines_shown(std::string_view text) {
  constexpr std::size_t kLineMax = 4000;
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    out += config::shown(text.substr(0, end), kLineMax);
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

bool reader_is_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  if (::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0) reader_left = true;
  return reader_left;
}

int report(const Error& error) {
  if (error.message().ends_with(std::strerror(EPIPE)) && reader_is_gone()) return 1;
  fmt::print(stderr, "atoll: {}\n", lines_shown(error.message()));
  if (!error.detail().empty()) fmt::print(stderr, "atoll: ({})\n", lines_shown(error.detail()));
  return row(error.code()).exit_status;
}

bool flush_output() {
  // An earlier write may have failed; then the stream remembers that, but not why.
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed_before && std::cout) return true;
  if (reader_is_gone()) {
    std::clearerr(stdout);
    return false;
  }
  fmt::print(stderr, "atoll: standard output cannot be written{}{}\n", errno != 0 ? ": " : "",
             errno != 0 ? std::strerror(errno) : "");
  std::clearerr(stdout);
  return false;
}

int end_by(int signal) {
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
  return 128 + signal;
}

}  // namespace atl::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const int status = atl::cli::run(argc, argv);
  return atl::cli::reader_left ? atl::cli::end_by(SIGPIPE) : status;
}
