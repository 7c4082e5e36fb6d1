#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shell/args.h"
#include "shell/call_stack.h"
#include "shell/descriptors.h"
#include "shell/executor.h"
#include "shell/expander.h"
#include "shell/jobs.h"
#include "shell/machine.h"
#include "shell/names.h"
#include "shell/options.h"
#include "shell/parser.h"
#include "shell/redirections.h"
#include "shell/traps.h"
#include "shell/variables.h"

namespace atl::shell {

// What the last command left behind.
struct LastCommand {
  int status = 0;                // $?
  std::vector<int> pipe_status;  // PIPESTATUS
  std::string argument;          // $_
  int substitution = -1;         // status of the last command substitution of the current command; -1: none
};

// What the prompt's user has made: `complete` and `history`.
struct PromptState {
  Cow<std::map<std::string, std::vector<std::string>>> completions;
  Cow<std::vector<std::string>> history;
};

// How a shell was started.
struct ShellOrigin {
  bool interactive = false;
  bool from_command_line = false;   // -c
  std::string execution_string;     // -c's text
  std::string script_name;          // a file; "environment" for -c
  int pid = 0;                      // $$: the same in subshells
  int nesting = 0;                  // shells started by shells
  bool stands_for_program = false;  // its process is that of the one program it runs, as after exec
};

// Everything about a shell that a subshell inherits and that one execute() leaves to the next. Copying
// shares; changing copies.
struct ShellState {
  Variables::State variables;
  CallStack calls;
  Descriptors::State descriptors;
  CommandNames::Tables names;
  Cow<TrapTable> traps;
  Jobs::State jobs;
  PromptState prompt;
  Options options = Options::initial();
  LastCommand last;
  int subshell = 0;  // BASH_SUBSHELL
};

// One shell: owns its parts and connects them. Each part has its own state and header; this class has what
// all of them share: options, the last status, the place in the script, and messages. A subshell is another
// ShellRunner that starts with a copy of the state. For one thread; a runner must not move, because its parts
// refer to it.
class ShellRunner {
 public:
  // The shell of a script. `machine` must outlive it.
  ShellRunner(Machine& machine, ShellState state, ShellOrigin origin);
  enum class Subshell : unsigned char { plain, command_substitution };
  // A subshell of `parent`, which must outlive only this constructor. Ends the script if shells are nested
  // too deeply.
  ShellRunner(ShellRunner& parent, Subshell kind);
  // A new shell (sh, bash) that `parent` starts: has this state instead of a copy. Ends the script like the
  // above.
  ShellRunner(ShellRunner& parent, ShellState state, ShellOrigin origin);
  ~ShellRunner();
  ShellRunner(const ShellRunner&) = delete;
  ShellRunner& operator=(const ShellRunner&) = delete;

  // A copy of what persists.
  ShellState state() const;

  // ---- parts ----
  Machine& machine() const { return machine_; }
  Variables& variables() { return variables_; }
  const Variables& variables() const { return variables_; }
  CallStack& calls() { return calls_; }
  const CallStack& calls() const { return calls_; }
  Descriptors& descriptors() { return descriptors_; }
  const Descriptors& descriptors() const { return descriptors_; }
  Redirections& redirections() { return redirections_; }
  CommandNames& names() { return names_; }
  const CommandNames& names() const { return names_; }
  Traps& traps() { return traps_; }
  const Traps& traps() const { return traps_; }
  Jobs& jobs() { return jobs_; }
  const Jobs& jobs() const { return jobs_; }
  Expander& expander() { return expander_; }
  Executor& executor() { return executor_; }
  const Executor& executor() const { return executor_; }
  // What a Parser asks of this shell.
  const ParserContext& parser_context() const { return parser_context_; }

  // ---- what the parts share ----
  Options& options() { return options_; }
  const Options& options() const { return options_; }
  bool option(Opt which) const { return options_[which]; }
  bool option(Shopt which) const { return options_[which]; }
  LastCommand& last() { return last_; }
  const LastCommand& last() const { return last_; }
  PromptState& prompt() { return prompt_; }
  const PromptState& prompt() const { return prompt_; }
  ShellOrigin& origin() { return origin_; }
  const ShellOrigin& origin() const { return origin_; }
  int subshell_level() const { return subshell_; }
  // Which process this shell is; null in a subshell that has not begun to run.
  const std::shared_ptr<Process>& process() const { return process_; }
  void set_process(std::shared_ptr<Process> process) { process_ = std::move(process); }
  // Bytes of stack that are left on the current fiber.
  std::size_t stack_left() const { return machine_.scheduler.stack_left(); }

  // ---- messages, on standard error ----
  // "bash: line 3: "
  std::string prefix() const;
  // The prefix, the message and a newline.
  void error(std::string_view message);
  // "name: message" for a builtin; returns `status`.
  int fail(const Args& args, std::string_view message, int status = 1);
  // In bash's form for a script that cannot be parsed; `name` as in Executor::run_script.
  void report(const SyntaxError& failure, std::string_view name);
  // Reports, then ends the current complete command or the shell.
  [[noreturn]] void abandon(std::string_view message, bool exit = false, int status = 1);
  [[noreturn]] void unbound(std::string_view name);
  // The status of an error that ends the shell.
  int fatal_status() const;
  // Writes to standard output; false after a message of `who` if that fails.
  bool print(std::string_view text, std::string_view who);

 private:
  // Ends the script if shells are nested deeper than its limit, or the stack does not suffice for one more.
  void check_nesting(int level) const;
  // Answers the parser for this shell.
  class Context final : public ParserContext {
   public:
    explicit Context(ShellRunner& shell) : shell_(shell) {}
    bool extglob() const override { return shell_.option(Shopt::extglob); }
    bool expand_aliases() const override {
      return shell_.option(Shopt::expand_aliases) && !shell_.names().aliases()->empty();
    }
    bool posix() const override { return shell_.option(Opt::posix); }
    const std::string* alias(std::string_view name) const override { return shell_.names().alias(name); }
    void warn(int line, const std::string& message) const override;
    std::size_t stack_left() const override { return shell_.stack_left(); }
    std::uint32_t nesting_max() const override { return shell_.machine().limits.nesting; }
    void count_token() const override { shell_.machine().charge_tokens(1); }
    void charge(std::size_t bytes) const override { shell_.machine().charge(bytes); }
    void hold(std::int64_t bytes) const override { shell_.machine().charge_memory(bytes); }
    void too_deep() const override { shell_.machine().stop_limit(Limit::nesting); }

   private:
    ShellRunner& shell_;
  };

  Machine& machine_;
  ShellOrigin origin_;
  std::shared_ptr<Process> process_;
  Options options_;
  LastCommand last_;
  PromptState prompt_;
  CallStack calls_;
  int subshell_ = 0;
  Variables variables_;
  Descriptors descriptors_;
  Redirections redirections_;
  CommandNames names_;
  Traps traps_;
  Jobs jobs_;
  Expander expander_;
  Executor executor_;
  Context parser_context_;
};

// The command as `declare -f` and BASH_COMMAND print it.
std::string print_function(const std::string& name, const FunctionDef& function);
std::string print_command(const Node& command);

}  // namespace atl::shell
