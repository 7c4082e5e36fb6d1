#include "shell/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/runner.h"
#include "shell/scoped.h"

namespace atl::shell {

Executor::Executor(ShellRunner& shell, const Executor& parent)
    : shell_(shell), no_errexit_(parent.no_errexit_), current_command_(parent.current_command_) {}

std::string Executor::current_command() const {
  return current_command_.empty() && current_node_ ? print_command(*current_node_) : current_command_;
}

void Executor::drop_argument_assigns(std::size_t count) {
  auto& assigns = argument_assigns_;
  // Builtins that run their arguments as a command (command, builtin) shift the words; what is known about
  // them shifts, too.
  if (assigns.size() > count)
    assigns.erase(assigns.begin(), assigns.begin() + static_cast<std::ptrdiff_t>(count));
}

void Executor::check_depth(std::size_t stack) {
  Machine& machine = shell_.machine();
  // Both: the limit is the user's, the stack is the fiber's and of a fixed size.
  if (shell_.calls().depth >= static_cast<int>(machine.limits.call_depth) || shell_.stack_left() < stack)
    machine.stop_limit(Limit::call_depth);
}

// A script is parsed command by command: what comes before a syntax error has run by then, as in bash, and
// aliases and options that a command sets hold for the next one.
int Executor::run_script(std::string text, std::string_view name, int first_line) {
  if (text.size() > shell_.machine().limits.script_bytes) shell_.machine().stop_limit(Limit::script_bytes);
  Parser parser(std::move(text), shell_.parser_context(), first_line);
  std::size_t frames = shell_.calls().frames.size();
  // An abandoned command may leave loops and conditions in the middle: these are what they were.
  int loops = loop_depth_;
  int quiet = no_errexit_;
  while (true) {
    NodePtr command;
    bool verbose = shell_.option(Opt::verbose);
    std::size_t from = parser.position();
    try {
      command = parser.next();
      if (verbose) shell_.descriptors().err().write(parser.source().substr(from, parser.position() - from));
    } catch (const SyntaxError& failure) {
      shell_.report(failure, name);
      return shell_.last().status = failure.status;
    }
    if (!command) break;
    // set -n goes on parsing, to find syntax errors.
    if (shell_.option(Opt::noexec) && !shell_.origin().interactive) continue;
    try {
      execute(*command);
    } catch (const Abandoned& gone) {
      shell_.variables().pop_frames_to(frames);
      loop_depth_ = loops;
      no_errexit_ = quiet;
      shell_.last().status = gone.status;
      if (gone.exit && !shell_.origin().interactive) {
        flow_ = Flow::exit;
        return shell_.last().status;
      }
      // The failure ends the whole subshell; only the outermost shell goes on with its next line.
      if (shell_.subshell_level() > 0) throw;
    }
    if (flow_ == Flow::exit || flow_ == Flow::return_) break;
    if (flow_ != Flow::none) {
      // `break` or `continue` in an eval or a sourced file: the loop outside is meant.
      if (loop_depth_ > 0) break;
      flow_ = Flow::none;
    }
  }
  shell_.traps().run_pending();
  return shell_.last().status;
}

int Executor::finish_subshell(const std::function<int()>& body) {
  Machine& machine = shell_.machine();
  auto outer = machine.process;
  // Started in the background it has a process already.
  if (!shell_.process()) shell_.set_process(machine.new_process());
  std::shared_ptr<Process> self = shell_.process();
  self->fiber = machine.scheduler.current();
  // A subshell in the foreground runs on the fiber of whoever waits for it.
  self->caller = outer != self && outer->fiber == self->fiber ? outer.get() : nullptr;
  machine.process = self;
  auto leave = [&](int status) {
    shell_.last().status = status;
    machine.process = outer;
    if (outer == self)
      return status;  // the shell stands for a program; whoever started that ends the process
    self->caller = nullptr;
    self->done = true;
    self->status = status;
    self->fiber = nullptr;
    machine.scheduler.wake(self->waiters);
    return status;
  };
  try {
    try {
      shell_.last().status = body();
    } catch (const Abandoned& gone) {
      shell_.last().status = gone.status;
    } catch (const SyntaxError& failure) {
      shell_.report(failure, "");
      shell_.last().status = 1;
    }
    // `exit` ended the body; the traps still run.
    flow_ = Flow::none;
    shell_.traps().run_pending();
    shell_.traps().run_exit();
    return leave(shell_.last().status);
  } catch (const StoppedBy& stop) {
    // A limit, or a signal for somebody further out: it goes on through this one.
    if (stop.reason != StopReason::signal || stop.process != self.get()) {
      leave(stop.status);
      throw;
    }
    self->killed_by = stop.signal;
    return leave(stop.status);
  }
}

int Executor::eval(std::string text) {
  check_depth(64 * 1024);
  Raised guard(shell_.calls().depth);
  int at = shell_.calls().line;
  int status = run_script(std::move(text), "eval", shell_.calls().line > 0 ? shell_.calls().line : 1);
  // Lines inside an eval count on from the line of the eval; behind it they are the script's again.
  if (flow_ == Flow::none) shell_.calls().line = at;
  return status;
}

int Executor::source(const std::string& path, std::string text, const Args* args) {
  check_depth(64 * 1024);
  Raised guard(shell_.calls().depth);
  Raised sources(shell_.calls().source_depth);
  auto before = shell_.calls().args;
  bool own_args = args && !args->empty();
  if (own_args) shell_.calls().args = std::make_shared<const Args>(*args);
  auto given = shell_.calls().args;
  Frame frame;
  frame.name = "source";
  if (own_args && shell_.option(Shopt::extdebug)) frame.args = shell_.calls().args;
  frame.source = path;
  frame.call_line = shell_.calls().line;
  std::size_t frames = shell_.calls().frames.size();
  shell_.variables().push_frame(std::move(frame));
  int at = shell_.calls().line;
  Finally undo([&] {
    shell_.variables().pop_frames_to(frames);
    // `set --` in a sourced file replaces the caller's arguments for good, unless the file was given its own.
    if (own_args && shell_.calls().args == given) shell_.calls().args = before;
    shell_.calls().line = at;
  });
  shell_.last().status = 0;
  int status = run_script(std::move(text), "source");
  if (flow_ == Flow::return_) flow_ = Flow::none;
  if (shell_.traps().active(trap_return) && (shell_.option(Opt::functrace) || frames == 0))
    shell_.traps().run(trap_return, status);
  return status;
}

int Executor::call_function(const Function& found, const Args& args) {
  // A copy: the body may redefine or unset the function while it runs.
  Function function = found;
  check_depth(96 * 1024);
  // A look-up costs little, and hardly any script sets it.
  if (shell_.variables().find("FUNCNEST")) {
    auto limit = arith::plain_number(shell_.variables().get_or_empty("FUNCNEST"));
    if (limit && *limit > 0 && shell_.calls().depth >= *limit)
      shell_.abandon(fmt::format("{}: maximum function nesting level exceeded ({})", args[0], *limit));
  }
  Raised guard(shell_.calls().depth);
  Restored<int> loops(loop_depth_);
  // A function does not see the loops of its caller: `break` in it is not theirs.
  loop_depth_ = 0;
  auto before = shell_.calls().args;
  shell_.calls().args = std::make_shared<const Args>(args.begin() + 1, args.end());
  Frame frame;
  frame.name = args[0];
  frame.source = function.source;
  frame.call_line = shell_.calls().line;
  frame.function = true;
  if (shell_.option(Shopt::extdebug)) frame.args = shell_.calls().args;
  std::size_t frames = shell_.calls().frames.size();
  shell_.variables().push_frame(std::move(frame));
  int at = shell_.calls().line;
  Finally undo([&] {
    shell_.variables().pop_frames_to(frames);
    shell_.calls().args = before;
    shell_.calls().line = at;
  });
  bool reach = shell_.option(Opt::functrace) || function.traced;
  bool any = shell_.traps().any();
  // DEBUG, RETURN and ERR are not inherited by functions unless asked for.
  HiddenTraps hidden(shell_.traps(), any && !reach, any && !shell_.option(Opt::errtrace));
  if (reach && shell_.traps().active(trap_debug)) {
    shell_.calls().line = function.definition->line;
    shell_.traps().run(trap_debug, shell_.last().status);
  }
  shell_.last().status = execute(*function.definition->body);
  if (flow_ == Flow::return_) flow_ = Flow::none;
  if (shell_.traps().active(trap_return)) shell_.traps().run(trap_return, shell_.last().status);
  // break outside of a loop of its own has no effect.
  if (flow_ == Flow::break_ || flow_ == Flow::continue_) flow_ = Flow::none;
  return shell_.last().status;
}

int Executor::execute(const Node& command) {
  shell_.machine().charge_command();
  if (shell_.machine().process->pending.any()) shell_.traps().run_pending();
  if (shell_.stack_left() < 64 * 1024) shell_.machine().stop_limit(Limit::nesting);
  if (shell_.option(Opt::noexec) && !shell_.origin().interactive) return shell_.last().status;
  int status = execute_inner(command);
  shell_.last().status = status;
  switch (command.kind) {
    case NodeKind::simple:
    case NodeKind::subshell:
    case NodeKind::arith:
    case NodeKind::cond:
      // A pipeline sets its own; compound commands leave what their last one set.
      shell_.last().pipe_status.assign(1, status);
      if (status != 0 && flow_ == Flow::none) after(status);
      break;
    case NodeKind::pipeline:
      if (status != 0 && flow_ == Flow::none && !static_cast<const Pipeline&>(command).negate) after(status);
      break;
    default: break;
  }
  return shell_.last().status;
}

int Executor::execute_inner(const Node& command) {
  switch (command.kind) {
    case NodeKind::simple: return simple(static_cast<const SimpleCommand&>(command));
    case NodeKind::pipeline: return pipeline(static_cast<const Pipeline&>(command));
    case NodeKind::and_or: return and_or(static_cast<const AndOr&>(command));
    case NodeKind::list: return list(static_cast<const List&>(command));
    case NodeKind::function: return define(static_cast<const FunctionDef&>(command));
    case NodeKind::coproc: return coproc(static_cast<const Coproc&>(command));
    default: break;
  }
  if (command.redirects.empty()) return compound(command);
  std::size_t opened = shell_.jobs().substitutions();
  Finally close_substitutions([&] { shell_.jobs().finish_substitutions(opened); });
  // A compound command's redirections hold for all of it and are undone however it ends.
  SavedFiles saved;
  Finally undo([&] { shell_.descriptors().restore(saved); });
  if (!shell_.redirections().apply(command.redirects, &saved)) {
    bool judged = command.kind == NodeKind::subshell || command.kind == NodeKind::arith ||
                  command.kind == NodeKind::cond;
    // The others are judged by execute(), which sees their status.
    if (!judged) after(1);
    return 1;
  }
  return compound(command);
}

int Executor::compound(const Node& command) {
  switch (command.kind) {
    case NodeKind::group: return execute(*static_cast<const Grouped&>(command).body);
    case NodeKind::subshell: return subshell(static_cast<const Grouped&>(command));
    case NodeKind::if_: return if_(static_cast<const If&>(command));
    case NodeKind::for_: return for_(static_cast<const For&>(command));
    case NodeKind::select: return select(static_cast<const For&>(command));
    case NodeKind::arith_for: return arith_for(static_cast<const ArithFor&>(command));
    case NodeKind::while_: return while_(static_cast<const While&>(command));
    case NodeKind::case_: return case_(static_cast<const Case&>(command));
    case NodeKind::cond: return evaluate_condition(shell_, static_cast<const Cond&>(command));
    case NodeKind::arith: return arith_command(static_cast<const ArithCommand&>(command));
    default: return 0;
  }
}

void Executor::after(int status) {
  // In a condition, before && or ||, or behind `!`: a failure there is an answer.
  if (no_errexit_ > 0) return;
  // The trap runs first and may itself exit.
  if (shell_.traps().active(trap_err) && !shell_.traps().in_condition()) shell_.traps().run(trap_err, status);
  if (flow_ == Flow::none && shell_.option(Opt::errexit)) {
    flow_ = Flow::exit;
    shell_.last().status = status;
  }
}

namespace {

// The redirections of $(< file), which is read without running a command; null for anything else.
const std::vector<Redirect>* only_input(const Node& command) {
  if (command.kind != NodeKind::list) return nullptr;
  const auto& items = static_cast<const List&>(command).items;
  if (items.size() != 1 || items[0].background || items[0].command->kind != NodeKind::simple) return nullptr;
  const auto& simple = static_cast<const SimpleCommand&>(*items[0].command);
  bool alone = simple.words.empty() && simple.assigns.empty() && simple.redirects.size() == 1;
  return alone && simple.redirects[0].kind == RedirectKind::in ? &simple.redirects : nullptr;
}

}  // namespace

std::string Executor::capture(const Node& command) {
  Machine& machine = shell_.machine();
  std::string text;
  // The last one to close the file is the last one that could write to `text`.
  std::weak_ptr<OpenFile> held;
  {
    ShellRunner child(shell_, ShellRunner::Subshell::command_substitution);
    OpenFilePtr to = open_capture(machine, text, machine.limits.expansion_bytes);
    held = to;
    child.descriptors().set_file(1, std::move(to));
    shell_.last().substitution = child.executor().finish_subshell([&]() -> int {
      const std::vector<Redirect>* input = only_input(command);
      if (!input) return child.executor().execute(command);
      SavedFiles saved;
      if (!child.redirections().apply(*input, &saved)) return 1;
      text = child.descriptors().in().read_all();
      return 0;
    });
  }
  // What was started in the background and still writes is waited for, as a pipe would.
  WaitQueue nothing;
  while (!held.expired())
    machine.wait_until(nothing, std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
  shell_.last().status = shell_.last().substitution;
  return text;
}

int Executor::run_input() {
  std::string text, more, until;
  int first = 1, next = 1;
  bool complete = false;
  while (shell_.descriptors().in().read_line(more, '\n', &complete)) {
    text += more;
    if (complete) text += '\n';
    ++next;
    // Inside a here-document only its last line can complete the command; parsing at every line would take
    // quadratic time.
    if (!until.empty() && more != until &&
        more.substr(std::min(more.find_first_not_of('\t'), more.size())) != until)
      continue;
    if (complete && incomplete(text, shell_.parser_context(), until)) continue;
    run_script(std::exchange(text, std::string()), "stdin", first);
    first = next;
    if (flow_ == Flow::exit) break;
  }
  if (!text.empty() && flow_ != Flow::exit) run_script(text, "stdin", first);
  return shell_.last().status;
}

}  // namespace atl::shell
