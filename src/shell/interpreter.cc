#include "shell/interpreter.h"

#include <fmt/format.h>

#include <csignal>

#include "shell/scoped.h"

namespace atl::shell {

Interpreter::Interpreter(Machine& m, State s) : machine(m), state(std::move(s)), process(m.process) {
  shell_pid_ = process->pid;
}

Interpreter::Interpreter(Interpreter& parent, bool command_substitution)
    : machine(parent.machine), state(parent.state) {
  if (++state.subshell > static_cast<int>(machine.limits.subshell_depth) ||
      machine.scheduler.stack_left() < 96 * 1024)
    machine.stop_limit(Limit::subshell_depth);
  line = parent.line;
  depth = parent.depth;
  no_errexit = parent.no_errexit;
  script_name = parent.script_name;
  from_command_line = parent.from_command_line;
  current_command = parent.current_command;
  execution_string = parent.execution_string;
  source_depth = parent.source_depth;
  shell_pid_ = parent.shell_pid_;
  in_trap = parent.in_trap;
  traps_inherited = true;
  if (command_substitution && !option(Shopt::inherit_errexit) && !option(Opt::posix))
    state.options.put(Opt::errexit, false);
}

Interpreter::~Interpreter() = default;

int Interpreter::shell_pid() const {
  return shell_pid_;
}

// ---- messages ----

std::string Interpreter::prefix() const {
  std::string who = state.arg0;
  for (std::size_t i = state.frames.size(); i-- > 0;) {
    const std::string& source = state.frames[i]->source;
    if (!source.empty() && source != "main") {
      who = source;
      break;
    }
  }
  if (interactive) return who + ": ";
  return fmt::format("{}: line {}: ", who, line);
}

void Interpreter::error(std::string_view message) {
  std::string text = prefix();
  text += message;
  text += '\n';
  err().write(text);
}

int Interpreter::fail(const Args& args, std::string_view message, int status) {
  error(fmt::format("{}: {}", args[0], message));
  return status;
}

void Interpreter::abandon(std::string_view message, bool exit, int status) {
  error(message);
  throw Abandoned{exit, status};
}

void Interpreter::unbound(std::string_view name) {
  abandon(fmt::format("{}: unbound variable", name), true, fatal_status());
}

void Interpreter::warn(int at, const std::string& message) const {
  auto* self = const_cast<Interpreter*>(this);  // writing a message changes nothing of the shell
  self->err().write(fmt::format("{}: line {}: warning: {}\n", state.arg0, at, message));
}

// ---- scripts ----

void Interpreter::report(const SyntaxError& failure, std::string_view name) {
  std::string who = state.arg0;
  for (std::size_t i = state.frames.size(); i-- > 0;)
    if (!state.frames[i]->function && !state.frames[i]->source.empty()) {
      who = state.frames[i]->source;
      break;
    }
  if (name == "-c")
    who += ": -c";
  else if (name == "eval")
    who += ": eval";
  err().write(fmt::format("{}: line {}: {}\n", who, failure.line, failure.message));
  if (!failure.source.empty())
    err().write(fmt::format("{}: line {}: `{}'\n", who, failure.line, failure.source));
}

int Interpreter::run_script(std::string text, std::string_view name, int first_line) {
  if (text.size() > machine.limits.script_bytes) machine.stop_limit(Limit::script_bytes);
  Parser parser(std::move(text), *this, first_line);
  std::size_t frames = state.frames.size();
  int loops = loop_depth;
  int quiet = no_errexit;
  while (true) {
    NodePtr command;
    bool verbose = option(Opt::verbose);
    std::size_t from = parser.position();
    try {
      command = parser.next();
      if (verbose) err().write(parser.source().substr(from, parser.position() - from));
    } catch (const SyntaxError& failure) {
      report(failure, name);
      return state.status = failure.status;
    }
    if (!command) break;
    if (option(Opt::noexec) && !interactive) continue;
    try {
      execute(*command);
    } catch (const Abandoned& gone) {
      while (state.frames.size() > frames) pop_frame();
      loop_depth = loops;
      no_errexit = quiet;
      state.status = gone.status;
      if (gone.exit && !interactive) {
        flow_ = Flow::exit;
        return state.status;
      }
      if (state.subshell > 0) throw;
    }
    if (flow_ == Flow::exit || flow_ == Flow::return_) break;
    if (flow_ != Flow::none) {
      if (loop_depth > 0) break;
      flow_ = Flow::none;
    }
  }
  run_pending_traps();
  return state.status;
}

int Interpreter::run_main(std::string text, std::string_view name) {
  run_script(std::move(text), name);
  flow_ = Flow::none;
  run_exit_trap();
  flow_ = Flow::none;
  return state.status;
}

void Interpreter::run_exit_trap() {
  if (!trap_active(0)) return;
  auto it = state.traps->find(0);
  std::string text = it->second;
  state.traps.edit().erase(0);
  if (text.empty()) return;
  int status = state.status;
  flow_ = Flow::none;
  try {
    Restored<bool> nested(in_trap);
    in_trap = true;
    Raised traps(trap_depth_);
    run_script(text, "trap", line > 0 ? line : 1);
  } catch (const Abandoned& gone) {
    status = gone.status;
  }
  if (flow_ != Flow::exit) state.status = status;
}

// Runs the body as a process of its own on the current fiber.
int Interpreter::finish_subshell(const std::function<int()>& body) {
  auto outer = machine.process;
  if (!process) process = machine.new_process();
  process->fiber = machine.scheduler.current();
  process->caller = outer != process && outer->fiber == process->fiber ? outer.get() : nullptr;
  machine.process = process;
  auto leave = [&](int status) {
    state.status = status;
    machine.process = outer;
    if (outer == process) return status;  // the program that a process stands for; its caller ends it
    process->caller = nullptr;
    process->done = true;
    process->status = status;
    process->fiber = nullptr;
    machine.scheduler.wake(process->waiters);
    return status;
  };
  try {
    try {
      state.status = body();
    } catch (const Abandoned& gone) {
      state.status = gone.status;
    } catch (const SyntaxError& failure) {
      report(failure, "");
      state.status = 1;
    }
    flow_ = Flow::none;
    run_pending_traps();
    run_exit_trap();
    return leave(state.status);
  } catch (const StoppedBy& stop) {
    if (stop.reason != StopReason::signal || stop.process != process.get()) {
      leave(stop.status);
      throw;
    }
    process->killed_by = stop.signal;
    return leave(stop.status);
  }
}

int Interpreter::eval(std::string text) {
  if (depth >= static_cast<int>(machine.limits.call_depth) || stack_left() < 64 * 1024)
    machine.stop_limit(Limit::call_depth);
  Raised guard(depth);
  int at = line;
  int status = run_script(std::move(text), "eval", line > 0 ? line : 1);
  if (flow_ == Flow::none) line = at;
  return status;
}

int Interpreter::source(const std::string& path, std::string text, const Args* args) {
  if (depth >= static_cast<int>(machine.limits.call_depth) || stack_left() < 64 * 1024)
    machine.stop_limit(Limit::call_depth);
  Raised guard(depth);
  Raised sources(source_depth);
  auto before = state.args;
  bool own_args = args && !args->empty();
  if (own_args) state.args = std::make_shared<const Args>(*args);
  auto given = state.args;
  Frame frame;
  frame.name = "source";
  if (own_args && option(Shopt::extdebug)) frame.args = state.args;
  frame.source = path;
  frame.call_line = line;
  std::size_t frames = state.frames.size();
  push_frame(std::move(frame));
  int at = line;
  Finally undo([&] {
    while (state.frames.size() > frames) pop_frame();
    if (own_args && state.args == given) state.args = before;
    line = at;
  });
  state.status = 0;
  int status = run_script(std::move(text), "source");
  if (flow_ == Flow::return_) flow_ = Flow::none;
  if (trap_active(trap_return) && (option(Opt::functrace) || frames == 0)) run_trap(trap_return, status);
  return status;
}

// DEBUG, RETURN and ERR reach into a function only where options say so: hides the others for a call.
class HiddenTraps {
 public:
  HiddenTraps(Interpreter& shell, bool debug_and_return, bool err) : shell_(shell) {
    if (debug_and_return) hide(trap_debug), hide(trap_return);
    if (err) hide(trap_err);
  }
  ~HiddenTraps() {
    for (auto& [signal, text] : hidden_)
      if (!shell_.state.traps->count(signal)) shell_.state.traps.edit()[signal] = text;
  }

 private:
  void hide(int signal) {
    if (!shell_.trap_active(signal)) return;
    hidden_.emplace_back(signal, shell_.state.traps->at(signal));
    shell_.state.traps.edit().erase(signal);
  }
  Interpreter& shell_;
  std::vector<std::pair<int, std::string>> hidden_;
};

int Interpreter::call_function(const Function& found, const Args& args) {
  Function function = found;
  if (depth >= static_cast<int>(machine.limits.call_depth) || stack_left() < 96 * 1024)
    machine.stop_limit(Limit::call_depth);
  if (find("FUNCNEST")) {
    auto limit = arith::plain_number(get_or_empty("FUNCNEST"));
    if (limit && *limit > 0 && depth >= *limit)
      abandon(fmt::format("{}: maximum function nesting level exceeded ({})", args[0], *limit));
  }
  Raised guard(depth);
  Restored<int> loops(loop_depth);
  loop_depth = 0;
  auto before = state.args;
  state.args = std::make_shared<const Args>(args.begin() + 1, args.end());
  Frame frame;
  frame.name = args[0];
  frame.source = function.source;
  frame.call_line = line;
  frame.function = true;
  if (option(Shopt::extdebug)) frame.args = state.args;
  std::size_t frames = state.frames.size();
  push_frame(std::move(frame));
  int at = line;
  Finally undo([&] {
    while (state.frames.size() > frames) pop_frame();
    state.args = before;
    line = at;
  });
  bool reach = option(Opt::functrace) || function.traced;
  HiddenTraps hidden(*this, !reach && !state.traps->empty(), !option(Opt::errtrace) && !state.traps->empty());
  if (reach && trap_active(trap_debug)) {
    line = function.definition->line;
    run_trap(trap_debug, state.status);
  }
  state.status = execute(*function.definition->body);
  if (flow_ == Flow::return_) flow_ = Flow::none;
  if (trap_active(trap_return)) run_trap(trap_return, state.status);
  if (flow_ == Flow::break_ || flow_ == Flow::continue_) flow_ = Flow::none;
  return state.status;
}

// ---- commands ----

int Interpreter::execute(const Node& command) {
  machine.charge_command();
  if (machine.process->pending.any()) run_pending_traps();
  if (stack_left() < 64 * 1024) machine.stop_limit(Limit::nesting);
  if (option(Opt::noexec) && !interactive) return state.status;
  int status = execute_inner(command);
  state.status = status;
  switch (command.kind) {
    case NodeKind::simple:
    case NodeKind::subshell:
    case NodeKind::arith:
    case NodeKind::cond:
      state.pipe_status.assign(1, status);
      if (status != 0 && flow_ == Flow::none) after(status);
      break;
    case NodeKind::pipeline:
      if (status != 0 && flow_ == Flow::none && !static_cast<const Pipeline&>(command).negate) after(status);
      break;
    default:
      break;
  }
  return state.status;
}

int Interpreter::execute_inner(const Node& command) {
  switch (command.kind) {
    case NodeKind::simple:
      return simple(static_cast<const SimpleCommand&>(command));
    case NodeKind::pipeline:
      return pipeline(static_cast<const Pipeline&>(command));
    case NodeKind::and_or:
      return and_or(static_cast<const AndOr&>(command));
    case NodeKind::list:
      return list(static_cast<const List&>(command));
    case NodeKind::function:
      return define(static_cast<const FunctionDef&>(command));
    case NodeKind::coproc:
      return coproc(static_cast<const Coproc&>(command));
    default:
      break;
  }
  if (command.redirects.empty()) return compound(command);
  std::size_t opened = substitutions_.size();
  Finally close_substitutions([&] { finish_substitutions(opened); });
  std::vector<std::pair<int, OpenFilePtr>> saved;
  Finally undo([&] { restore(saved); });
  if (!apply(command.redirects, &saved)) {
    bool judged = command.kind == NodeKind::subshell || command.kind == NodeKind::arith || command.kind == NodeKind::cond;
    if (!judged) after(1);
    return 1;
  }
  return compound(command);
}

int Interpreter::compound(const Node& command) {
  switch (command.kind) {
    case NodeKind::group:
      return execute(*static_cast<const Grouped&>(command).body);
    case NodeKind::subshell:
      return subshell(static_cast<const Grouped&>(command));
    case NodeKind::if_:
      return if_(static_cast<const If&>(command));
    case NodeKind::for_:
      return for_(static_cast<const For&>(command));
    case NodeKind::select:
      return select(static_cast<const For&>(command));
    case NodeKind::arith_for:
      return arith_for(static_cast<const ArithFor&>(command));
    case NodeKind::while_:
      return while_(static_cast<const While&>(command));
    case NodeKind::case_:
      return case_(static_cast<const Case&>(command));
    case NodeKind::cond:
      return cond(static_cast<const Cond&>(command));
    case NodeKind::arith:
      return arith_command(static_cast<const ArithCommand&>(command));
    default:
      return 0;
  }
}

void Interpreter::after(int status) {
  if (no_errexit > 0) return;
  if (trap_active(trap_err) && !in_trap) run_trap(trap_err, status);
  if (flow_ == Flow::none && option(Opt::errexit)) {
    flow_ = Flow::exit;
    state.status = status;
  }
}

int Interpreter::list(const List& command) {
  int status = state.status;
  for (const List::Item& item : command.items) {
    status = item.background ? start_background(item.command) : execute(*item.command);
    state.status = status;
    if (flow_ != Flow::none) return status;
  }
  return status;
}

int Interpreter::and_or(const AndOr& command) {
  int status;
  {
    Raised guard(no_errexit);
    status = execute(*command.first);
  }
  for (std::size_t i = 0; i < command.rest.size(); ++i) {
    if (flow_ != Flow::none) return state.status;
    const AndOr::Next& next = command.rest[i];
    state.status = status;
    if (next.is_and != (status == 0)) continue;
    if (i + 1 == command.rest.size()) {
      status = execute(*next.command);
    } else {
      Raised guard(no_errexit);
      status = execute(*next.command);
    }
  }
  return status;
}

int Interpreter::subshell(const Grouped& command) {
  Interpreter child(*this, false);
  return child.finish_subshell([&] { return child.execute(*command.body); });
}

int Interpreter::if_(const If& command) {
  for (const If::Arm& arm : command.arms) {
    int status;
    {
      Raised guard(no_errexit);
      status = execute(*arm.condition);
    }
    if (flow_ != Flow::none) return state.status;
    if (status == 0) return execute(*arm.body);
  }
  if (command.otherwise) return execute(*command.otherwise);
  return 0;
}

// After a pass of a loop's body: true if the loop is over.
bool Interpreter::loop_should_end() {
  if (flow_ == Flow::none) return false;
  if (flow_ == Flow::break_) {
    if (--flow_count_ <= 0 || loop_depth == 1) flow_ = Flow::none;
    return true;
  }
  if (flow_ == Flow::continue_) {
    if (--flow_count_ <= 0 || loop_depth == 1) {
      flow_ = Flow::none;
      return false;
    }
    return true;
  }
  return true;
}

// The loop variable: a reference is pointed at each word in turn.
bool Interpreter::assign_loop_variable(const std::string& name, std::string& word) {
  const Variable* variable = find(name);
  if (!variable || !variable->is(attr::nameref)) return assign(name, word);
  if (variable->is(attr::readonly)) {
    error(fmt::format("{}: readonly variable", name));
    return false;
  }
  if (!is_name(word.substr(0, word.find('[')))) {
    error(fmt::format("`{}': not a valid identifier", word));
    return false;
  }
  Variable* edit = find_edit(name);
  edit->value = word;
  edit->set = true;
  return true;
}

int Interpreter::for_(const For& command) {
  line = command.line;
  if (!is_name(command.name)) {
    error(fmt::format("`{}': not a valid identifier", command.name));
    if (option(Opt::posix)) throw Abandoned{true, 1};
    return 1;
  }
  std::vector<std::string> words;
  if (command.has_words)
    words = expand(command.words);
  else if (state.args)
    words = *state.args;
  Raised loop(loop_depth);
  int status = 0;
  for (std::string& word : words) {
    machine.charge_iteration();
    line = command.line;
    debug_trap(command);
    if (option(Opt::xtrace)) {
      std::string text = trace_prefix() + "for " + command.name + " in";
      for (const std::string& w : words) text += " " + quote_if_needed(w);
      err().write(text + "\n");
    }
    if (!assign_loop_variable(command.name, word)) return 1;
    status = execute(*command.body);
    if (loop_should_end()) return state.status;
  }
  return status;
}

int Interpreter::arith_for(const ArithFor& command) {
  line = command.line;
  auto value = [&](const ArithText& text, std::int64_t otherwise) {
    if (text.constant && text.text.find_first_not_of(" \t\n") == std::string::npos) return otherwise;
    debug_trap(command);
    if (option(Opt::xtrace))
      err().write(fmt::format("{}(( {} ))\n", trace_prefix(), expand_arith_text(text)));
    return evaluate(text);
  };
  Raised loop(loop_depth);
  int status = 0;
  try {
    value(*command.init, 0);
    while (value(*command.test, 1) != 0) {
      machine.charge_iteration();
      status = execute(*command.body);
      if (loop_should_end()) return state.status;
      line = command.line;
      value(*command.step, 0);
    }
  } catch (const Abandoned& gone) {
    if (gone.exit) throw;
    return gone.status;
  }
  return status;
}

int Interpreter::while_(const While& command) {
  Raised loop(loop_depth);
  int status = 0;
  while (true) {
    machine.charge_iteration();
    int condition;
    {
      Raised guard(no_errexit);
      condition = execute(*command.condition);
    }
    if (flow_ == Flow::exit || flow_ == Flow::return_) return state.status;
    if ((condition == 0) == command.until) {
      if (flow_ != Flow::none) loop_should_end();
      return status;
    }
    if (flow_ == Flow::none) status = execute(*command.body);
    if (loop_should_end()) return state.status;
  }
}

int Interpreter::case_(const Case& command) {
  line = command.line;
  debug_trap(command);
  std::string subject = expand_single(command.subject);
  if (option(Opt::xtrace))
    err().write(fmt::format("{}case {} in\n", trace_prefix(), quote_if_needed(subject)));
  int status = 0;
  bool fall = false;
  for (const Case::Arm& arm : command.arms) {
    bool hit = fall;
    for (std::size_t i = 0; !hit && i < arm.patterns.size(); ++i) {
      const Word& word = arm.patterns[i];
      bool star =
          word.parts.size() == 1 && word.parts[0].kind == PartKind::literal && word.parts[0].text == "*";
      hit = star || matches(subject, expand_pattern(word), option(Shopt::nocasematch));
    }
    if (!hit) continue;
    status = arm.body ? execute(*arm.body) : 0;
    if (flow_ != Flow::none || arm.end == Case::End::stop) return arm.body ? state.status : status;
    fall = arm.end == Case::End::fall;
  }
  return status;
}

bool Interpreter::matches(const std::string& text, const std::string& pattern, bool ignore_case) {
  Pattern compiled(pattern, {.extglob = option(Shopt::extglob), .ignore_case = ignore_case});
  return compiled.matches(text);
}

int Interpreter::define(const FunctionDef& command) {
  line = command.line;
  const Function* old = find_function(command.name);
  if (old && old->readonly) {
    error(fmt::format("{}: readonly function", command.name));
    return 1;
  }
  if (option(Opt::posix)) {
    const Builtin* builtin = find_builtin(command.name);
    if (builtin && builtin->special)
      abandon(fmt::format("`{}': is a special builtin", command.name), true, 2);
    if (!is_name(command.name)) abandon(fmt::format("`{}': not a valid identifier", command.name), true, 1);
  }
  Function function;
  function.definition = std::make_shared<FunctionDef>(command);
  function.source = script_name;
  for (std::size_t i = state.frames.size(); i-- > 0;) {
    if (!state.frames[i]->source.empty()) {
      function.source = state.frames[i]->source;
      break;
    }
  }
  if (old) function.exported = old->exported;
  if (option(Opt::allexport)) function.exported = true;
  state.functions.edit().insert_or_assign(command.name, std::move(function));
  return 0;
}

int Interpreter::arith_command(const ArithCommand& command) {
  line = command.line;
  debug_trap(command);
  if (option(Opt::xtrace))
    err().write(fmt::format("{}(( {} ))\n", trace_prefix(), expand_arith_text(*command.text)));
  try {
    return evaluate(*command.text) == 0 ? 1 : 0;
  } catch (const Abandoned& gone) {
    if (gone.exit) throw;
    return 1;
  }
}

}  // namespace atl::shell
