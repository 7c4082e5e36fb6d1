#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/arith.h"
#include "shell/ast.h"
#include "shell/cow.h"
#include "shell/machine.h"
#include "shell/options.h"
#include "shell/parser.h"
#include "shell/pattern.h"
#include "shell/variables.h"

namespace atl::shell {

using Args = std::vector<std::string>;
class Interpreter;
class Zone;

// A command that works on the shell's own state.
struct Builtin {
  std::string_view name;
  int (*run)(Interpreter&, const Args&);
  bool special = false;      // POSIX: found before functions in posix mode; assignments before it stay
  bool declaration = false;  // takes assignments as arguments
  std::string_view synopsis;
};
const Builtin* find_builtin(std::string_view name);
std::span<const Builtin* const> all_builtins();

struct Function {
  std::shared_ptr<const FunctionDef> definition;
  std::string source;  // the file
  bool exported = false;
  bool readonly = false;
  bool traced = false;
};

// One level of the call stack: a function or a sourced file.
struct Frame {
  std::string name;    // "source" for a sourced file
  std::string source;  // file the code is in
  int call_line = 0;
  bool function = false;
  std::shared_ptr<const Args> args;  // with extdebug, for BASH_ARGV
  // Variables that this frame hides, with what they were before (nothing: unset).
  std::vector<std::pair<std::string, std::optional<Variable>>> saved;
  std::optional<Options> options;  // `local -`
};

// Pseudo-signals of trap.
inline constexpr int trap_debug = 65, trap_err = 66, trap_return = 67;

struct Job {
  int id = 0;
  std::vector<std::shared_ptr<Process>> processes;
  std::string text;
  bool disowned = false;
  bool reported = false;
};

// Everything about a shell that a subshell inherits. Copying shares; changing copies.
struct State {
  Cow<VariableTable> variables;
  Cow<std::map<std::string, Function, std::less<>>> functions;
  Cow<std::map<std::string, std::string, std::less<>>> aliases;
  Cow<std::map<int, std::string>> traps;
  Cow<std::vector<OpenFilePtr>> files;
  Cow<std::map<std::string, std::string>> hashed;
  Cow<std::map<std::string, std::vector<std::string>>> completions;
  Cow<std::vector<Job>> jobs;
  Cow<std::vector<std::string>> history;
  Cow<std::vector<std::string>> disabled;  // builtins switched off
  std::vector<Cow<Frame>> frames;
  std::shared_ptr<const Args> args;
  std::string arg0 = "bash";
  Options options = Options::initial();
  vfs::Path cwd;
  std::vector<std::string> directories;  // the rest of the directory stack
  std::uint32_t umask = 0022;
  int status = 0;
  std::vector<int> pipe_status;
  int background_pid = 0;
  std::string last_argument;
  std::uint64_t random = 42;
  SteadyTime seconds_base{};
  std::int64_t seconds_offset = 0;
  int getopts_at = 1;  // position within a cluster of options
  int subshell = 0;
};

// Ends the current complete command (discard) or the shell (exit) after an error that was already reported.
// Thrown by expansion; caught where commands are run one by one.
struct Abandoned {
  bool exit = false;
  int status = 1;
};

enum class Flow : unsigned char { none, break_, continue_, return_, exit };

// One shell: runs parsed commands on a state. A subshell is a copy of it.
class Interpreter final : public ParserContext, public arith::Scope {
 public:
  Interpreter(Machine& machine, State state);
  // A subshell of `parent`.
  Interpreter(Interpreter& parent, bool command_substitution);
  ~Interpreter() override;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  Machine& machine;
  State state;
  std::shared_ptr<Process> process;  // which one this shell is

  // ---- running (interpreter.cc) ----
  // A whole script, complete command by complete command. The status of the last.
  int run_script(std::string text, std::string_view name, int first_line = 1);
  int execute(const Node& command);
  // run_script for the top of a shell: EXIT trap included.
  int run_main(std::string text, std::string_view name);
  int run_input();  // a script from standard input
  int nesting = 0;  // shells started by shells
  void run_exit_trap();
  int finish_subshell(const std::function<int()>& body);
  int eval(std::string text);
  int source(const std::string& path, std::string text, const Args* args);
  int call_function(const Function& function, const Args& args);
  // Looks a name up as a simple command would and runs it with these arguments.
  struct Lookup {
    bool functions = true;
    bool builtins = true;
    bool default_path = false;
  };
  int run_arguments(const Args& args, Lookup lookup);
  int run_builtin(const Builtin& builtin, const Args& args);
  int run_program(const Args& args, bool default_path = false);
  int run_path(const Args& args);
  int run_file(const vfs::Path& path, const Args& args);
  int run_command(const struct Command& command, const Args& args);
  const Builtin* find_enabled_builtin(std::string_view name) const;
  void finish_substitutions(std::size_t keep);
  // Runs `body` in a background process; its pid.
  std::shared_ptr<Process> background(std::function<int(Interpreter&)> body, bool asynchronous);
  int wait_for(const std::shared_ptr<Process>& process);
  std::string capture(const Node& command);
  void note_substitution(int fd, std::shared_ptr<Process> process);
  void run_pending_traps();
  void run_trap(int signal, int status_before);
  void set_flow(Flow flow, int count) { flow_ = flow, flow_count_ = count; }
  Flow flow() const { return flow_; }
  int loop_depth = 0;
  int last_substitution_status = -1;
  bool interactive = false;
  bool in_trap = false;
  bool from_command_line = false;  // -c
  int source_depth = 0;
  int line = 0;
  std::string current_command;  // BASH_COMMAND
  std::string script_name;
  // The assignments among the arguments of the declaration command being run, by position; null for plain
  // words.
  std::vector<const Assign*> argument_assigns;
  bool stands_for_program = false;  // its process is that of the one program it runs, as after exec
  bool traps_inherited = false;  // a subshell shows its parent's traps but does not run them
  std::string execution_string;  // -c's text
  int shell_pid_ = 0;

  // ---- expansion (expand.cc, expand_param.cc) ----
  std::vector<std::string> expand(const std::vector<Word>& words);
  void expand_into(const Word& word, std::vector<std::string>& out);
  const std::string* plain_value(const Word& word);
  std::string expand_single(const Word& word);      // no splitting, no globbing; tilde yes
  std::string expand_assignment(const Word& word);  // also ~ after ':'
  std::string expand_without_tilde(const Word& word);
  std::string expand_pattern(const Word& word);  // quoted characters escaped
  std::string expand_regex(const Word& word);
  bool matches(const std::string& text, const std::string& pattern, bool ignore_case);
  Word parse_word(const std::string& text);  // as one word, blanks included; abandons on a syntax error
  std::string expand_text(const std::string& text);  // as inside double quotes
  std::int64_t evaluate(const ArithText& text);
  std::int64_t evaluate(const std::string& text);
  std::string expand_arith_text(const ArithText& text);
  std::vector<std::string> glob(const std::string& pattern, bool& matched);
  int shell_pid() const;               // $$
  std::string option_letters() const;  // $-
  int fatal_status() const {
    return from_command_line && state.subshell == 0 && !option(Opt::errexit) ? 127 : 1;
  }  // of an error that ends the shell
  std::string expand_prompt(const std::string& text);
  std::string tilde(std::string_view prefix, bool& ok);
  const std::string& ifs();

  // ---- variables (scope.cc) ----
  const Variable* find(std::string_view name) const;
  Variable* find_edit(std::string_view name);
  // Follows namerefs; the target may carry a subscript.
  std::string resolve_name(const std::string& name, std::string* subscript = nullptr, bool* loop = nullptr);
  std::optional<std::string> get_value(std::string_view name);
  Zone zone() const;
  std::string get_or_empty(std::string_view name) { return get_value(name).value_or(std::string()); }
  std::optional<std::string> get_element(const std::string& name, const std::string& subscript_text,
                                         const Word* subscript);
  // False (with a message) for a read-only variable, a bad name, a bad subscript.
  bool assign(const std::string& name, std::string value, bool append = false);
  bool assign_element(const std::string& name, const std::string& subscript, std::string value,
                      bool append = false);
  bool assign(const Assign& assign, std::uint16_t attributes = 0);
  bool assign_reference(const std::string& reference, std::string value);  // name or name[subscript]
  bool assign_array(const std::string& name, std::vector<std::string> values);
  bool assign_compound(const std::string& name, const std::vector<ArrayItem>& items, bool append,
                       Variable& variable);
  std::vector<ArrayItem> expand_items(const std::vector<ArrayItem>& items, bool assoc);
  std::string convert(const Variable& variable, std::string value);
  bool unset_variable(const std::string& name);
  bool unset_element(const std::string& name, const std::string& subscript);
  bool unset_function(const std::string& name);
  Variable& make_local(const std::string& name, bool inherit = false);
  bool is_local(const std::string& name) const;
  Variable* find_global(const std::string& name);
  Variable* find_global_saved(const std::string& name);  // null if nothing hides it
  bool is_hidden(const std::string& name) const;         // some function's local hides the global
  void save_local_options();                             // local -
  bool assign_list_text(const std::string& name, const std::string& text, bool append);
  void push_frame(Frame frame);
  void pop_frame();
  std::optional<Variable> dynamic(std::string_view name) const;
  Variable call_arguments(bool counts) const;
  std::optional<Variable> call_stack(std::string_view name) const;
  void assigned_special(std::string_view name);
  std::vector<std::string> variable_names(std::string_view prefix = {}) const;
  std::int64_t array_index(const std::string& subscript, const Variable* variable, const std::string& name,
                           bool& ok);
  std::vector<std::pair<std::string, std::string>> environment() const;
  bool is_set(const std::string& reference);

  // arith::Scope
  std::string get(const std::string& name, const std::string* subscript) override;
  std::optional<std::int64_t> number(const std::string& name) const override;
  void set(const std::string& name, const std::string* subscript, std::int64_t value) override;
  bool is_assoc(const std::string& name) override;
  std::string expand_key(const std::string& text) override;
  bool stack_low() const override { return stack_left() < 48 * 1024; }
  bool trap_active(int signal) const;
  void reset_inherited_traps();

  // ParserContext
  bool extglob() const override { return state.options[Shopt::extglob]; }
  bool expand_aliases() const override {
    return state.options[Shopt::expand_aliases] && !state.aliases->empty();
  }
  bool posix() const override { return state.options[Opt::posix]; }
  const std::string* alias(std::string_view name) const override;
  void warn(int line, const std::string& message) const override;
  std::size_t stack_left() const override { return machine.scheduler.stack_left(); }
  std::uint32_t nesting_max() const override { return machine.limits.nesting; }
  void count_token() const override { machine.charge_tokens(1); }
  void charge(std::size_t bytes) const override { machine.charge(bytes); }
  void hold(std::int64_t bytes) const override { machine.charge_memory(bytes); }
  void too_deep() const override { machine.stop_limit(Limit::nesting); }

  // ---- descriptors (redirect.cc) ----
  OpenFilePtr file(int fd) const;
  void set_file(int fd, OpenFilePtr file);
  int free_descriptor(int from) const;
  Output& out();
  Output& err();
  Input& in();
  bool apply(const std::vector<Redirect>& redirects, std::vector<std::pair<int, OpenFilePtr>>* saved);
  void restore(std::vector<std::pair<int, OpenFilePtr>>& saved);
  struct OpenHow {
    bool read = false, write = false, append = false, truncate = false, create = false;
  };
  Result<OpenFilePtr> open(const std::string& path, const OpenHow& how);
  Result<vfs::Path> path_of(std::string_view text) const;
  // Whether the owner may read (4), write (2), execute (1).
  bool permitted(const vfs::Stat& stat, unsigned bits) const;
  std::string expand_here(const Word& word);
  // Writes to standard output; false and a message on failure.
  bool print(std::string_view text, std::string_view who);

  // ---- messages ----
  std::string prefix() const;  // "bash: line 3: "
  void error(std::string_view message);
  int fail(const Args& args, std::string_view message, int status = 1);  // "name: message"
  [[noreturn]] void abandon(std::string_view message, bool exit = false, int status = 1);
  [[noreturn]] void unbound(std::string_view name);

  bool option(Opt which) const { return state.options[which]; }
  bool option(Shopt which) const { return state.options[which]; }
  std::optional<vfs::Path> find_in_path(const std::string& name, std::string* shown,
                                        bool default_path = false);
  std::string path_shown(const std::string& name);
  int depth = 0;       // functions, sources, evals
  int no_errexit = 0;  // > 0: a failure here is being looked at
  const Function* find_function(std::string_view name) const;

 private:
  friend class Expansion;
  int execute_inner(const Node& command);
  int simple(const SimpleCommand& command);
  int simple_words(const SimpleCommand& command, Args& args);
  int simple_dispatch(const SimpleCommand& command, Args& args);
  void expand_declaration(const Assign& assign, Args& args, std::vector<const Assign*>& assigns);
  int assignments_only(const SimpleCommand& command);
  int pipeline(const Pipeline& command);
  int run_stages(const Pipeline& command);
  int timed(const Pipeline& command);
  int and_or(const AndOr& command);
  int list(const List& command);
  int start_background(const NodePtr& command);
  int compound(const Node& command);
  int group(const Grouped& command);
  int subshell(const Grouped& command);
  int if_(const If& command);
  int for_(const For& command);
  int select(const For& command);
  int arith_for(const ArithFor& command);
  int while_(const While& command);
  int case_(const Case& command);
  int define(const FunctionDef& command);
  int cond(const Cond& command);
  bool cond_node(const CondNode& node);
  bool cond_binary(const CondNode& node);
  bool regex_match(const std::string& text, const std::string& pattern);
  int arith_command(const ArithCommand& command);
  int coproc(const Coproc& command);
  void after(int status);  // errexit and ERR
  bool loop_should_end();  // takes break and continue
  void debug_trap(const Node& command);
  void trace(const Args& words, const std::vector<std::string>& assigns);
  Result<OpenFilePtr> open_target(RedirectKind kind, const std::string& target);
  bool assign_loop_variable(const std::string& name, std::string& word);
  void report(const SyntaxError& failure, std::string_view name);
  std::string trace_prefix();
  bool apply_one(const Redirect& redirect, std::vector<std::pair<int, OpenFilePtr>>* saved);
  bool redirect_dup(const Redirect& redirect, int fd, const std::string& target,
                    std::vector<std::pair<int, OpenFilePtr>>* saved);
  void put_file(int fd, OpenFilePtr file, std::vector<std::pair<int, OpenFilePtr>>* saved);
  bool set_scalar(Variable& variable, const std::string& name, std::string value, bool append);

  Flow flow_ = Flow::none;
  int flow_count_ = 0;
  std::string ifs_;
  bool ifs_known_ = false;
  std::vector<std::pair<int, std::shared_ptr<Process>>>
      substitutions_;  // process substitutions not yet closed
  std::vector<std::shared_ptr<Process>>
      known_;  // ended or running, kept so that wait can be asked about them
  const Node* current_node_ = nullptr;
  bool skip_command_ = false;
  int running_trap_ = 0;
  int trap_depth_ = 0;

  int cond_status_ = 1;

 public:
  int running_trap() const { return running_trap_; }
  const std::vector<std::shared_ptr<Process>>& known() const { return known_; }
  void remember(std::shared_ptr<Process> ended) {
    known_.push_back(std::move(ended));
    if (known_.size() > 64) known_.erase(known_.begin());
  }
};

// test and [ : the expression's words. 0 true, 1 false, 2 error.
int test_expression(Interpreter& shell, std::string_view who, std::span<const std::string> args);
bool test_unary(Interpreter& shell, char op, const std::string& operand);
bool test_files(Interpreter& shell, std::string_view op, const std::string& left, const std::string& right);

// AST back to text, as `declare -f` prints it.
std::string print_function(const std::string& name, const FunctionDef& function);
std::string print_command(const Node& command);

}  // namespace atl::shell
