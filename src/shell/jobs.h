#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shell/cow.h"
#include "shell/process.h"

namespace atl::shell {

class ShellRunner;

// What `command &` or coproc started.
struct Job {
  int id = 0;
  std::vector<std::shared_ptr<Process>> processes;
  std::string text;
  bool disowned = false;
  bool reported = false;
};

// The processes that one shell started: jobs, process substitutions, and those that ended but may still be
// waited for.
class Jobs {
 public:
  // What a subshell inherits: it lists its parent's jobs but did not start them.
  struct State {
    Cow<std::vector<Job>> table;
    int last_pid = 0;  // $!; 0: nothing was started yet
  };

  Jobs(ShellRunner& shell, State state) : shell_(shell), state_(std::move(state)) {}
  const State& state() const { return state_; }
  const Cow<std::vector<Job>>& table() const { return state_.table; }
  std::vector<Job>& edit_table() { return state_.table.edit(); }

  // Runs `body` in a subshell that is a process of its own, on a fiber of its own, and returns at once. The
  // subshell lives until `body` returns. An asynchronous one ignores SIGINT and SIGQUIT, as POSIX asks. The
  // process is not in the table of jobs yet: see add().
  std::shared_ptr<Process> background(std::function<int(ShellRunner&)> body, bool asynchronous);
  // Enters the process under `id` and makes it $!.
  void add(int id, std::shared_ptr<Process> process, std::string text);
  // One more than the greatest id in use.
  int next_id() const;
  int last_pid() const { return state_.last_pid; }

  // Waits for the process and returns its status; a trapped signal ends the wait with 128 plus its number.
  int wait_for(const std::shared_ptr<Process>& process);

  // Processes that ended and are no jobs any more, for `wait PID`. At most 64; older ones are forgotten.
  const std::vector<std::shared_ptr<Process>>& known() const { return known_; }
  void remember(std::shared_ptr<Process> ended);

  // Process substitutions of the commands that run now: how many are open, one more, and the end of the
  // newest ones until `keep` are left (closes their descriptors; does not wait for them).
  std::size_t substitutions() const { return substitutions_.size(); }
  void add_substitution(int fd, std::shared_ptr<Process> process);
  void finish_substitutions(std::size_t keep);

 private:
  ShellRunner& shell_;
  State state_;
  std::vector<std::pair<int, std::shared_ptr<Process>>> substitutions_;
  std::vector<std::shared_ptr<Process>> known_;
};

}  // namespace atl::shell
