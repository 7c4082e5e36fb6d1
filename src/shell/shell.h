#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "shell/command.h"
#include "shell/limits.h"
#include "shell/network.h"
#include "vfs/virtual_file_system.h"

namespace atl::shell {

struct ShellState;
class Machine;
class OpenFile;

// How a shell begins. Copied; only `clock` and `commands` are borrowed and must outlive the shell.
struct ShellOptions {
  // Exported variables. Nothing of the host's environment is taken.
  std::vector<std::pair<std::string, std::string>> environment;
  bool default_environment = true;  // PATH, HOME, LANG, ... where `environment` does not name them
  std::string cwd = "/home/user";
  std::string name = "bash";           // $0
  std::vector<std::string> arguments;  // $1 ...
  Limits limits;
  const Clock* clock = nullptr;  // null: the machine's
  bool interactive = false;
  // Commands of the embedder; they come before our own of the same name and must outlive the shell.
  std::vector<const Command*> commands;
  // What curl may reach. Empty: nothing, and it says so.
  std::vector<NetworkGrant> network;
};

// One execute(). Callbacks run on the thread that called it, while it runs.
struct ExecuteOptions {
  std::string input;                                // standard input, unless `read` is given
  std::function<std::string()> read;                // more standard input; empty at its end. May block.
  std::function<void(std::string_view)> on_stdout;  // instead of Executed::out
  std::function<void(std::string_view)> on_stderr;
  std::string script_name;         // a file's name for messages; empty: as `bash -c`
  bool script_from_input = false;  // the script is what standard input holds, read line by line
  std::stop_token stop;            // ends this execution, as cancel() does
};

// How a script ended. A script that fails is no error of ours: its status says so.
struct Executed {
  std::string out;
  std::string err;
  int status = 0;
  int signal = 0;        // the script ended by this signal
  bool limited = false;  // a limit or a cancellation ended it; `err` says which
  bool canceled = false;
  Limit limit = Limit::none;
  std::string reason;   // limited: "commands (50000000)", "canceled"
  bool exited = false;  // it called exit (or set -e did)
};

// A bash-compatible shell on a virtual filesystem: no process, nothing of the host. Variables, functions, the
// working directory and options persist from one execute() to the next. One thread at a time; cancel() from
// any.
class SandboxShell {
 public:
  // Makes /home/user, /tmp and the working directory if they are missing. `fs` must outlive the shell.
  explicit SandboxShell(vfs::FileSystem& fs, ShellOptions options = {});
  ~SandboxShell();
  SandboxShell(SandboxShell&&) noexcept;
  SandboxShell& operator=(SandboxShell&&) noexcept;

  // Runs a script to its end, background processes included, and never throws what the script can cause. Not
  // to be called again from its own callbacks.
  Executed execute(std::string_view script, std::string_view input = {});
  Executed execute(std::string_view script, ExecuteOptions options);
  // Ends a running execute() within milliseconds, or the next one if none runs yet. The shell stays usable.
  void cancel();

  // The same shell (variables, functions, directory, options) on another filesystem, usually a fork of this
  // one's. O(1): both share what neither changes. Not while a script runs.
  std::unique_ptr<SandboxShell> fork(vfs::FileSystem& fs) const;

  std::string variable(std::string_view name) const;  // empty if unset
  void set_variable(const std::string& name, std::string value, bool exported = true);
  std::vector<std::pair<std::string, std::string>> environment() const;
  std::string cwd() const;
  int last_status() const;
  // Runs the EXIT trap as the end of a session would.
  Executed finish(ExecuteOptions options = {});

  // ---- for a prompt (interactive.h) ----
  // PS1 or PS2, expanded. Changes nothing of the shell.
  std::string prompt(const std::string& name) const;
  // What `history` lists.
  void remember(std::string_view text);
  std::vector<std::string> command_names() const;
  // The entries of a directory as a user would type it; true: a directory itself.
  std::vector<std::pair<std::string, bool>> names_in(std::string_view directory) const;

 private:
  SandboxShell(vfs::FileSystem& fs, ShellOptions options, std::unique_ptr<ShellState> state);
  Machine& machine();

  vfs::FileSystem* fs_;
  std::unique_ptr<ShellOptions> options_;
  std::unique_ptr<ShellState> state_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<std::atomic<bool>> canceled_;
};

// An empty filesystem as a shell expects it: /home/user, /tmp, /dev, owned by the user.
vfs::Snapshot base_snapshot();

}  // namespace atl::shell
