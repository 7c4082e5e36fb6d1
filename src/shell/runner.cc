#include "shell/runner.h"

#include <fmt/format.h>

namespace atl::shell {

namespace {

// Less stack than this is too little for one shell more.
constexpr std::size_t subshell_stack = 96 * 1024;

// What a subshell knows of how its parent was started.
ShellOrigin inherited(const ShellOrigin& parent) {
  ShellOrigin out = parent;
  out.interactive = false;
  out.nesting = 0;
  out.stands_for_program = false;
  return out;
}

}  // namespace

ShellRunner::ShellRunner(Machine& machine, ShellState state, ShellOrigin origin)
    : machine_(machine),
      origin_(std::move(origin)),
      process_(machine.process),
      options_(state.options),
      last_(std::move(state.last)),
      prompt_(std::move(state.prompt)),
      calls_(std::move(state.calls)),
      subshell_(state.subshell),
      variables_(*this, std::move(state.variables)),
      descriptors_(machine, std::move(state.descriptors)),
      redirections_(*this),
      names_(*this, std::move(state.names)),
      traps_(*this, std::move(state.traps)),
      jobs_(*this, std::move(state.jobs)),
      expander_(*this),
      executor_(*this),
      parser_context_(*this) {
  if (process_) origin_.pid = process_->pid;
}

ShellRunner::ShellRunner(ShellRunner& parent, Subshell kind)
    : machine_(parent.machine_),
      origin_(inherited(parent.origin_)),
      options_(parent.options_),
      last_(parent.last_),
      prompt_(parent.prompt_),
      calls_(parent.calls_),
      subshell_(parent.subshell_ + 1),
      variables_(*this, parent.variables_.state()),
      descriptors_(machine_, parent.descriptors_.state()),
      redirections_(*this),
      names_(*this, parent.names_.tables()),
      traps_(*this, parent.traps_),
      jobs_(*this, parent.jobs_.state()),
      expander_(*this),
      executor_(*this, parent.executor_),
      parser_context_(*this) {
  check_nesting(subshell_);
  // bash clears set -e inside $(...), unless asked not to.
  if (kind == Subshell::command_substitution && !option(Shopt::inherit_errexit) && !option(Opt::posix))
    options_.put(Opt::errexit, false);
}

ShellRunner::ShellRunner(ShellRunner& parent, ShellState state, ShellOrigin origin)
    : ShellRunner(parent.machine_, std::move(state), std::move(origin)) {
  check_nesting(parent.subshell_ + 1);
  check_nesting(origin_.nesting);
  // A shell that env or xargs runs is the process that was made for that program.
  set_process(parent.origin_.stands_for_program ? parent.process_ : machine_.new_process());
  origin_.pid = process_->pid;
}

ShellRunner::~ShellRunner() = default;

void ShellRunner::check_nesting(int level) const {
  if (level > static_cast<int>(machine_.limits.subshell_depth) || stack_left() < subshell_stack)
    machine_.stop_limit(Limit::subshell_depth);
}

ShellState ShellRunner::state() const {
  ShellState out;
  out.variables = variables_.state();
  out.calls = calls_;
  out.descriptors = descriptors_.state();
  out.names = names_.tables();
  out.traps = traps_.table();
  out.jobs = jobs_.state();
  out.prompt = prompt_;
  out.options = options_;
  out.last = last_;
  out.subshell = subshell_;
  return out;
}

int ShellRunner::fatal_status() const {
  // The status with which bash -c ends on an expansion error; everywhere else it is 1.
  return origin_.from_command_line && subshell_ == 0 && !option(Opt::errexit) ? 127 : 1;
}

std::string ShellRunner::prefix() const {
  std::string who = calls_.arg0;
  // A message names the file that the code stands in, not the shell.
  for (std::size_t i = calls_.frames.size(); i-- > 0;) {
    const std::string& source = calls_.frames[i]->source;
    if (source.empty() || source == "main") continue;
    who = source;
    break;
  }
  if (origin_.interactive) return who + ": ";
  return fmt::format("{}: line {}: ", who, calls_.line);
}

void ShellRunner::error(std::string_view message) {
  std::string text = prefix();
  text += message;
  text += '\n';
  descriptors().err().write(text);
}

int ShellRunner::fail(const Args& args, std::string_view message, int status) {
  error(fmt::format("{}: {}", args[0], message));
  return status;
}

void ShellRunner::abandon(std::string_view message, bool exit, int status) {
  error(message);
  throw Abandoned{exit, status};
}

void ShellRunner::unbound(std::string_view name) {
  abandon(fmt::format("{}: unbound variable", name), true, fatal_status());
}

void ShellRunner::report(const SyntaxError& failure, std::string_view name) {
  std::string who = calls_.arg0;
  for (std::size_t i = calls_.frames.size(); i-- > 0;)
    if (!calls_.frames[i]->function && !calls_.frames[i]->source.empty()) {
      who = calls_.frames[i]->source;
      break;
    }
  if (name == "-c")
    who += ": -c";
  else if (name == "eval")
    who += ": eval";
  descriptors().err().write(fmt::format("{}: line {}: {}\n", who, failure.line, failure.message));
  if (!failure.source.empty())
    descriptors().err().write(fmt::format("{}: line {}: `{}'\n", who, failure.line, failure.source));
}

void ShellRunner::Context::warn(int line, const std::string& message) const {
  shell_.descriptors().err().write(
      fmt::format("{}: line {}: warning: {}\n", shell_.calls().arg0, line, message));
}

bool ShellRunner::print(std::string_view text, std::string_view who) {
  if (text.empty()) return true;
  Output& to = descriptors().out();
  if (to.write(text)) return true;
  error(fmt::format("{}: write error: {}", who, to.error()));
  return false;
}

}  // namespace atl::shell
