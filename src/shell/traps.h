#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shell/cow.h"

namespace atl::shell {

class ShellRunner;

// Conditions of `trap` that are no signals; they follow the last signal. 0 is EXIT.
inline constexpr int trap_debug = 65, trap_err = 66, trap_return = 67;

// What `trap` has set, by signal or condition. An empty action ignores the signal.
using TrapTable = std::map<int, std::string>;

// The traps of one shell: which are set, and running them. A subshell shows its parent's traps but does not
// run them until it changes one; ignored signals stay ignored.
class Traps {
 public:
  Traps(ShellRunner& shell, Cow<TrapTable> table) : shell_(shell), table_(std::move(table)) {}
  // The traps of a subshell of `parent`'s shell.
  Traps(ShellRunner& shell, const Traps& parent)
      : shell_(shell), table_(parent.table_), inherited_(true), in_condition_(parent.in_condition_) {}

  const Cow<TrapTable>& table() const { return table_; }
  // Changes the table only; the caller tells the process whether it handles the signal.
  void set(int signal, std::string action) { table_.edit()[signal] = std::move(action); }
  void remove(int signal) { table_.edit().erase(signal); }

  // Whether this shell runs (or ignores by) the trap, as opposed to only showing an inherited one.
  bool active(int signal) const;
  bool any() const { return !table_->empty(); }
  // Forgets what was only inherited. Called before a subshell changes a trap.
  void reset_inherited();

  // Runs the trap's action if there is one. Afterwards the exit status is `status_before` again, unless the
  // action left the shell, function or loop.
  void run(int signal, int status_before);
  // Runs the traps of signals that have arrived, then lets signals without a trap end the process (throws
  // Stopped).
  void run_pending();
  // Runs and removes the EXIT trap.
  void run_exit();

  // The signal or condition whose action runs now; 0 if none does.
  int running() const { return running_; }
  // How many actions run now, one inside the other.
  int depth() const { return depth_; }
  // Whether the action of DEBUG, ERR, RETURN or EXIT runs: these do not nest.
  bool in_condition() const { return in_condition_; }

 private:
  ShellRunner& shell_;
  Cow<TrapTable> table_;
  bool inherited_ = false;
  bool in_condition_ = false;
  int running_ = 0;
  int depth_ = 0;
};

// DEBUG, RETURN and ERR reach into a function only where options say so: hides the others for a call.
class HiddenTraps {
 public:
  HiddenTraps(Traps& traps, bool debug_and_return, bool err);
  ~HiddenTraps();
  HiddenTraps(const HiddenTraps&) = delete;
  HiddenTraps& operator=(const HiddenTraps&) = delete;

 private:
  void hide(int signal);
  Traps& traps_;
  std::vector<std::pair<int, std::string>> hidden_;
};

}  // namespace atl::shell
