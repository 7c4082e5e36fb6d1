#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "shell/limits.h"
#include "shell/stopped.h"
#include "shell/stream.h"
#include "vfs/file_system.h"
#include "vfs/path.h"

namespace atl::shell {

class ShellRunner;

// What a command is given. Valid until the command returns.
class Invocation {
 public:
  virtual ~Invocation() = default;

  // args()[0] is the name it was called by.
  virtual std::span<const std::string> args() const = 0;
  // Standard streams. Two readers in one command share in(); open_input gives one of its own.
  virtual Input& in() = 0;
  virtual Output& out() = 0;
  virtual Output& err() = 0;

  // The filesystem, and the shell's place in it.
  virtual vfs::FileSystem& fs() = 0;
  virtual const vfs::Path& cwd() const = 0;
  // A path as the user typed it: absolute, or relative to cwd; "-" and "/dev/stdin" are not special here.
  virtual Result<vfs::Path> resolve(std::string_view text) const = 0;
  // Opens for reading as the shell would: knows "-" (standard input), /dev/stdin, /dev/null, /dev/zero,
  // /dev/fd/N, FIFOs and process substitutions.
  virtual Result<std::unique_ptr<Input>> open_input(std::string_view text) = 0;
  // Creates the file if it is missing; truncates it unless `append`. Errors are the filesystem's.
  virtual Result<std::unique_ptr<Output>> open_output(std::string_view text, bool append) = 0;

  // Exported variables only; nothing if there is none of that name.
  virtual std::optional<std::string> variable(std::string_view name) const = 0;
  virtual std::vector<std::pair<std::string, std::string>> environment() const = 0;
  virtual std::uint32_t umask() const = 0;
  virtual WallTime now() const = 0;

  // Accounts for `work` units (about a byte looked at or an iteration); throws Stopped at a limit or on
  // cancellation. Call it in every loop whose length the input decides.
  virtual void charge(std::uint64_t work = 1) = 0;
  // The limits in force, for what a command bounds itself; and the end of the script at one of them.
  virtual const Limits& limits() const = 0;
  [[noreturn]] virtual void stop(Limit limit) = 0;
  // Accounts for memory held beyond the streams' own; throws Stopped at the limit. Negative gives back.
  virtual void charge_memory(std::int64_t bytes) = 0;

  // Runs another command by name (xargs, find -exec, env, timeout, time, nice, ...) with these streams and,
  // when given, this environment. 127 with the usual message if there is none.
  struct Redirects {
    Input* in = nullptr;
    Output* out = nullptr;
    Output* err = nullptr;
    const std::vector<std::pair<std::string, std::string>>* environment = nullptr;
    const vfs::Path* cwd = nullptr;
    std::optional<Duration> timeout;     // then the command and what it started get timeout_signal
    int timeout_signal = 15;             // SIGTERM
    std::optional<Duration> kill_after;  // and SIGKILL this much later
    bool* timed_out = nullptr;           // told; without it a command that was late gives status 124
  };
  virtual int run(std::vector<std::string> argv, const Redirects& redirects) = 0;
  // Runs a script text in a subshell (awk's system() and pipes, sed's e, sh -c).
  virtual int run_script(std::string_view script, const Redirects& redirects) = 0;
  // Waits without holding the thread's other work longer than needed; ends early with Stopped.
  virtual void sleep(Duration how_long) = 0;

  // The shell that runs the command, for the few commands that start others or look at processes.
  virtual ShellRunner& runner() = 0;

  // "name: message\n" on err.
  void complain(std::string_view message);
  // complain(message) and returns status.
  int fail(std::string_view message, int status = 1);
  // GNU's words for a bad option: "name: invalid option -- 'x'" and the line about --help; returns status.
  int bad_option(std::string_view option, int status = 1);
};

// A command: one file in commands/, one row in command_table.cc. Rows are constant.
struct Command {
  std::string_view name;
  int (*run)(Invocation&);
  std::string_view summary;  // one line for `help`
};

}  // namespace atl::shell
