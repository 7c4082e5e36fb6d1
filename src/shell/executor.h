#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/args.h"
#include "shell/ast.h"
#include "shell/builtin.h"
#include "shell/names.h"
#include "shell/parser.h"

namespace atl::shell {

class ShellRunner;

// Ends the current complete command (discard) or the shell (exit) after an error that was already reported.
// Thrown by expansion; caught where commands are run one by one.
struct Abandoned {
  bool exit = false;
  int status = 1;
};

// What break, continue, return and exit ask of the commands around them.
enum class Flow : unsigned char { none, break_, continue_, return_, exit };

// Which kinds of command a name may mean.
struct Lookup {
  bool functions = true;
  bool builtins = true;
  bool default_path = false;  // command -p
};

// Runs parsed commands on one shell. Every function that runs something returns the exit status, leaves it in
// ShellRunner::last(), and may throw Abandoned (after a message) and Stopped; a caller that gets flow() other
// than none must return at once.
class Executor {
 public:
  explicit Executor(ShellRunner& shell) : shell_(shell) {}
  // For a subshell of `parent`'s shell: the same command is the current one, and failures are looked at as
  // there.
  Executor(ShellRunner& shell, const Executor& parent);

  // ---- scripts ----
  // Runs a text, complete command by complete command. `name` is for messages: "-c", "eval", a file.
  int run_script(std::string text, std::string_view name, int first_line = 1);
  // A script from standard input, a line at a time, so that its commands can read what follows them.
  int run_input();
  int eval(std::string text);
  // `args` (null: none given) replace the positional parameters while it runs.
  int source(const std::string& path, std::string text, const Args* args);

  // ---- commands ----
  int execute(const Node& command);
  // A pipeline without its `!` and `time`.
  int run_stages(const Pipeline& command);
  int call_function(const Function& function, const Args& args);
  // Looks the name up as a simple command would and runs it with these arguments.
  int run_arguments(const Args& args, Lookup lookup);
  int run_builtin(const Builtin& builtin, const Args& args);
  // A program by name or path; 127 and 126 after a message if it cannot be found or started.
  int run_program(const Args& args, bool default_path = false);
  int run_path(const Args& args);
  int run_file(const vfs::Path& path, const Args& args);
  // A command of ours or of the embedder; args[0] is what it takes for its name.
  int run_command(const Command& command, const Args& args);

  // Runs `body` as the process of this shell, which must be a subshell, on the current fiber: traps, EXIT and
  // the process's end included. A signal to this process ends it alone.
  int finish_subshell(const std::function<int()>& body);
  // The output of a command substitution. Its status goes to last().substitution.
  std::string capture(const Node& command);

  // ---- control ----
  Flow flow() const { return flow_; }
  int flow_count() const { return flow_count_; }
  // `count` loops are left by break or continue.
  void set_flow(Flow flow, int count = 0) { flow_ = flow, flow_count_ = count; }
  // Loops that run now, in this function.
  int loop_depth() const { return loop_depth_; }
  // Forgets that commands around this shell look at its failures (if, while, &&, !): errexit and ERR heed
  // them again.
  void heed_failures() { no_errexit_ = 0; }
  // BASH_COMMAND.
  std::string current_command() const;
  // The next simple command is not run: a DEBUG trap said so.
  void skip_next() { skip_command_ = true; }
  // The assignments among the arguments of the declaration command that runs, by position; null for plain
  // words. Taken by that command. Valid while it runs.
  std::vector<const Assign*> take_argument_assigns() { return std::exchange(argument_assigns_, {}); }
  // The command that runs passes its arguments on without the first `count`.
  void drop_argument_assigns(std::size_t count);

  // ---- tracing ----
  // PS4, expanded, with its first character repeated for each subshell.
  std::string trace_prefix();
  // Runs the DEBUG trap.
  void debug_trap(const Node& command);

 private:
  int execute_inner(const Node& command);
  int compound(const Node& command);
  int simple(const SimpleCommand& command);
  int simple_words(const SimpleCommand& command, Args& args);
  int simple_dispatch(const SimpleCommand& command, Args& args);
  // The assignments before a command: into a frame of their own, or for good (`keep`). In posix mode a
  // read-only variable ends the shell if the command is a special builtin.
  void assign_before(const SimpleCommand& command, bool keep, bool special);
  void expand_declaration(const Assign& assign, Args& args, std::vector<const Assign*>& assigns);
  int assignments_only(const SimpleCommand& command);
  int pipeline(const Pipeline& command);
  int timed(const Pipeline& command);
  int and_or(const AndOr& command);
  int list(const List& command);
  int start_background(const NodePtr& command);
  int subshell(const Grouped& command);
  int if_(const If& command);
  int for_(const For& command);
  int select(const For& command);
  int arith_for(const ArithFor& command);
  int while_(const While& command);
  int case_(const Case& command);
  int define(const FunctionDef& command);
  int arith_command(const ArithCommand& command);
  int coproc(const Coproc& command);
  // errexit and ERR, after a command that failed.
  void after(int status);
  // After a pass of a loop's body: true if the loop is over. Takes break and continue.
  bool loop_should_end();
  bool assign_loop_variable(const std::string& name, std::string& word);
  void trace(const Args& words, const std::vector<std::string>& assigns);
  // Ends the script if one call more would be too deep.
  void check_depth(std::size_t stack);

  ShellRunner& shell_;
  Flow flow_ = Flow::none;
  int flow_count_ = 0;
  int loop_depth_ = 0;
  int no_errexit_ = 0;  // > 0: a failure here is being looked at
  bool skip_command_ = false;
  std::string current_command_;  // empty: current_node_, if that is set
  const Node* current_node_ = nullptr;
  std::vector<const Assign*> argument_assigns_;
};

// [[ ... ]]: 0 true, 1 false, 2 for a malformed regular expression.
int evaluate_condition(ShellRunner& shell, const Cond& command);

}  // namespace atl::shell
