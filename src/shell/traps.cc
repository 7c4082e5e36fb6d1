#include "shell/traps.h"

#include "shell/runner.h"
#include "shell/scoped.h"

namespace atl::shell {

bool Traps::active(int signal) const {
  if (table_->empty()) return false;
  auto it = table_->find(signal);
  if (it == table_->end()) return false;
  // A subshell lists its parent's traps (trap -p) but runs none of them, except those that options pass on
  // and signals that are ignored.
  if (!inherited_) return true;
  if (signal == trap_debug || signal == trap_return) return shell_.option(Opt::functrace);
  if (signal == trap_err) return shell_.option(Opt::errtrace);
  return it->second.empty() && signal != 0;
}

void Traps::reset_inherited() {
  if (!inherited_) return;
  TrapTable kept;
  for (const auto& [signal, text] : *table_)
    if (active(signal)) kept[signal] = text;
  inherited_ = false;
  table_ = Cow<TrapTable>(std::move(kept));
}

void Traps::run(int signal, int status_before) {
  auto it = table_->find(signal);
  if (it == table_->end() || it->second.empty()) return;
  std::string text = it->second;
  // DEBUG, ERR and RETURN do not run while one of them runs; traps of real signals do.
  if (in_condition_ && signal > signal_max) return;
  Restored<bool> nested(in_condition_);
  Restored<int> at(shell_.calls().line);
  // A trap leaves $?, $_ and PIPESTATUS as they were.
  std::string argument = shell_.last().argument;
  std::vector<int> pipes = shell_.last().pipe_status;
  bool debug = signal == trap_debug;
  if (signal > signal_max) in_condition_ = true;
  shell_.last().status = status_before;
  Flow flow = shell_.executor().flow();
  int count = shell_.executor().flow_count();
  shell_.executor().set_flow(Flow::none);
  Restored<int> running(running_);
  running_ = signal;
  Raised depth_of_traps(depth_);
  int status = shell_.executor().run_script(text, "trap", shell_.calls().line > 0 ? shell_.calls().line : 1);
  if (shell_.executor().flow() == Flow::none) {
    shell_.executor().set_flow(flow, count);
    shell_.last().status = status_before;
    shell_.last().argument = argument;
    shell_.last().pipe_status = pipes;
    if (debug && shell_.option(Shopt::extdebug) && status != 0) shell_.executor().skip_next();
  }
}

void Traps::run_pending() {
  Process& self = *shell_.machine().process;
  if (!self.pending.any()) return;
  for (int signal = 1; signal <= signal_max; ++signal) {
    auto at = static_cast<std::size_t>(signal);
    if (!self.pending[at] || !self.handled[at]) continue;
    self.pending[at] = false;
    run(signal, shell_.last().status);
    if (shell_.executor().flow() == Flow::exit) return;
  }
  shell_.machine().notice_signals();
}

void Traps::run_exit() {
  if (!active(0)) return;
  auto it = table_->find(0);
  std::string text = it->second;
  // First: an exit inside the trap must not run it again.
  table_.edit().erase(0);
  if (text.empty()) return;
  int status = shell_.last().status;
  shell_.executor().set_flow(Flow::none);
  try {
    Restored<bool> nested(in_condition_);
    in_condition_ = true;
    Raised traps(depth_);
    shell_.executor().run_script(text, "trap", shell_.calls().line > 0 ? shell_.calls().line : 1);
  } catch (const Abandoned& gone) {
    status = gone.status;
  }
  if (shell_.executor().flow() != Flow::exit) shell_.last().status = status;
}

HiddenTraps::HiddenTraps(Traps& traps, bool debug_and_return, bool err) : traps_(traps) {
  if (debug_and_return) hide(trap_debug), hide(trap_return);
  if (err) hide(trap_err);
}

HiddenTraps::~HiddenTraps() {
  for (auto& [signal, text] : hidden_)
    if (!traps_.table()->count(signal)) traps_.set(signal, text);
}

void HiddenTraps::hide(int signal) {
  if (!traps_.active(signal)) return;
  hidden_.emplace_back(signal, traps_.table()->at(signal));
  traps_.remove(signal);
}

}  // namespace atl::shell
