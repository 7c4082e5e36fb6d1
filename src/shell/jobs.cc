#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <csignal>

#include "shell/interpreter.h"
#include "shell/scoped.h"

namespace atl::shell {

// ---- pipelines ----

int Interpreter::pipeline(const Pipeline& command) {
  int status;
  {
    int raise = 0;
    int& quiet = command.negate ? no_errexit : raise;
    Raised guard(quiet);
    status = command.timed ? timed(command) : run_stages(command);
  }
  if (flow_ != Flow::none) return status;
  return command.negate ? (status == 0 ? 1 : 0) : status;
}

int Interpreter::timed(const Pipeline& command) {
  auto cpu = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  };
  auto begin = std::chrono::steady_clock::now();
  double cpu_begin = cpu();
  int status = run_stages(command);
  double real = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double user = cpu() - cpu_begin;
  auto shown = [](double seconds) {
    return fmt::format("{}m{:.3f}s", static_cast<int>(seconds / 60),
                       seconds - 60 * static_cast<int>(seconds / 60));
  };
  auto format = get_value("TIMEFORMAT");
  if (command.time_posix) {
    err().write(fmt::format("real {:.2f}\nuser {:.2f}\nsys {:.2f}\n", real, user, 0.0));
  } else if (!format) {
    err().write(fmt::format("\nreal\t{}\nuser\t{}\nsys\t{}\n", shown(real), shown(user), shown(0)));
  } else if (!format->empty()) {
    std::string out;
    for (std::size_t i = 0; i < format->size(); ++i) {
      if ((*format)[i] != '%' || i + 1 >= format->size()) {
        out += (*format)[i];
        continue;
      }
      ++i;
      int precision = 3;
      bool minutes = false;
      if (std::isdigit(static_cast<unsigned char>((*format)[i])))
        precision = std::min((*format)[i++] - '0', 3);
      if (i < format->size() && (*format)[i] == 'l') minutes = true, ++i;
      if (i >= format->size()) break;
      char c = (*format)[i];
      double value = c == 'R' ? real : c == 'U' ? user : 0;
      if (c == '%')
        out += '%';
      else if (c == 'P')
        out += fmt::format("{:.2f}", real > 0 ? user / real * 100 : 0.0);
      else if (minutes)
        out += fmt::format("{}m{:.{}f}s", static_cast<int>(value / 60), value, precision);
      else
        out += fmt::format("{:.{}f}", value, precision);
    }
    err().write(out + "\n");
  }
  return status;
}

int Interpreter::run_stages(const Pipeline& command) {
  std::size_t count = command.stages.size();
  if (count == 0) return 0;
  if (count == 1) {
    int status = execute(*command.stages[0]);
    return status;
  }
  std::vector<std::shared_ptr<Process>> processes;
  OpenFilePtr previous;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    auto ends = make_pipe(machine);
    NodePtr stage = command.stages[i];
    OpenFilePtr in = std::move(previous);
    OpenFilePtr out = std::move(ends.second);
    previous = std::move(ends.first);
    bool both = command.both[i];
    processes.push_back(background(
        [stage, in = std::move(in), out = std::move(out), both](Interpreter& child) mutable {
          if (in) child.set_file(0, std::move(in));
          if (both) child.set_file(2, out);
          child.set_file(1, std::move(out));
          return child.execute(*stage);
        },
        false));
  }
  // The stages before the last have their turn first, so that what they write is there.
  machine.yield();
  int last;
  if (option(Shopt::lastpipe) && !option(Opt::monitor)) {
    OpenFilePtr before = file(0);
    set_file(0, std::move(previous));
    Finally undo([&] { set_file(0, before); });
    last = execute(*command.stages.back());
  } else {
    Interpreter child(*this, false);
    child.set_file(0, std::move(previous));
    last = child.finish_subshell([&] { return child.execute(*command.stages.back()); });
  }
  std::vector<int> statuses;
  for (const auto& started : processes) {
    while (!started->done) machine.wait(started->waiters);
    statuses.push_back(started->status);
  }
  statuses.push_back(last);
  int status = last;
  if (option(Opt::pipefail)) {
    status = 0;
    for (int one : statuses)
      if (one != 0) status = one;
  }
  state.pipe_status = std::move(statuses);
  return status;
}

// ---- processes ----

std::shared_ptr<Process> Interpreter::background(std::function<int(Interpreter&)> body, bool asynchronous) {
  auto child = std::make_shared<Interpreter>(*this, false);
  child->process = machine.new_process();
  if (asynchronous) {
    child->process->ignored[SIGINT] = true;
    child->process->ignored[SIGQUIT] = true;
    child->no_errexit = 0;
  }
  auto started = child->process;
  machine.spawn(started, [child, body = std::move(body)]() mutable {
    Machine& m = child->machine;
    auto self = child->process;
    int status = 0;
    try {
      status = child->finish_subshell([&] {
        // What the body holds (ends of pipes) goes when it returns, not when the started is collected.
        auto run = std::move(body);
        return run(*child);
      });
    } catch (const StoppedBy& stop) {
      status = stop.status;
    } catch (const std::exception& failure) {
      status = m.stop_defect(failure.what());
    }
    child.reset();
    m.finished(*self, status);
  });
  return started;
}

int Interpreter::start_background(const NodePtr& command) {
  NodePtr body = command;
  bool own_input = state.options[Opt::monitor];
  auto started = background(
      [body, own_input](Interpreter& child) {
        if (!own_input) child.set_file(0, open_null());
        // A pipeline of its own in the background keeps its status: bash does not heed the `!` before it.
        const auto* own = body->kind == NodeKind::pipeline ? static_cast<const Pipeline*>(body.get()) : nullptr;
        return own && own->negate && !own->timed ? child.run_stages(*own) : child.execute(*body);
      },
      true);
  Job job;
  int id = 1;
  for (const Job& other : *state.jobs) id = std::max(id, other.id + 1);
  job.id = id;
  job.processes.push_back(started);
  job.text = print_command(*command);
  state.jobs.edit().push_back(std::move(job));
  state.background_pid = started->pid;
  if (interactive) err().write(fmt::format("[{}] {}\n", id, started->pid));
  return 0;
}

int Interpreter::wait_for(const std::shared_ptr<Process>& target) {
  while (!target->done) {
    machine.wait(target->waiters);
    // A trapped signal ends the wait.
    for (std::size_t i = 1; i <= signal_max; ++i)
      if (machine.process->pending[i] && machine.process->handled[i]) {
        run_pending_traps();
        return flow_ == Flow::exit ? state.status : 128 + static_cast<int>(i);
      }
  }
  return target->status;
}

std::string Interpreter::capture(const Node& command) {
  std::string text;
  std::weak_ptr<OpenFile> held;
  {
    Interpreter child(*this, true);
    OpenFilePtr to = open_capture(machine, text, machine.limits.expansion_bytes);
    held = to;
    child.set_file(1, std::move(to));
    last_substitution_status = child.finish_subshell([&]() -> int {
      if (command.kind == NodeKind::list) {
        const auto& items = static_cast<const List&>(command).items;
        if (items.size() == 1 && !items[0].background && items[0].command->kind == NodeKind::simple) {
          const auto& simple = static_cast<const SimpleCommand&>(*items[0].command);
          if (simple.words.empty() && simple.assigns.empty() && simple.redirects.size() == 1 &&
              simple.redirects[0].kind == RedirectKind::in) {
            std::vector<std::pair<int, OpenFilePtr>> saved;
            if (!child.apply(simple.redirects, &saved)) return 1;
            text = child.in().read_all();
            return 0;
          }
        }
      }
      return child.execute(command);
    });
  }
  // What was started in the background and still writes is waited for, as a pipe would.
  WaitQueue nothing;
  while (!held.expired())
    machine.wait_until(nothing, std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
  state.status = last_substitution_status;
  return text;
}

void Interpreter::note_substitution(int fd, std::shared_ptr<Process> started) {
  substitutions_.emplace_back(fd, std::move(started));
}

void Interpreter::finish_substitutions(std::size_t keep) {
  while (substitutions_.size() > keep) {
    auto [fd, started] = substitutions_.back();
    substitutions_.pop_back();
    OpenFilePtr ours = file(fd);
    bool wrote = ours && ours->writable();
    ours.reset();
    set_file(fd, nullptr);
    (void)wrote;
    state.background_pid = started->pid;
    known_.push_back(started);
    if (known_.size() > 64) known_.erase(known_.begin());
  }
}

int Interpreter::coproc(const Coproc& command) {
  auto to = make_pipe(machine);
  auto from = make_pipe(machine);
  NodePtr body = command.body;
  OpenFilePtr in = to.first, out = from.second;
  to.first.reset();
  from.second.reset();
  auto started = background(
      [body, in = std::move(in), out = std::move(out)](Interpreter& child) mutable {
        child.set_file(0, std::move(in));
        child.set_file(1, std::move(out));
        return child.execute(*body);
      },
      true);
  int read_fd = free_descriptor(60);
  set_file(read_fd, from.first);
  int write_fd = free_descriptor(60);
  set_file(write_fd, to.second);
  assign_array(command.name, {std::to_string(read_fd), std::to_string(write_fd)});
  assign(command.name + "_PID", std::to_string(started->pid));
  Job job;
  job.id = static_cast<int>(state.jobs->size()) + 1;
  job.processes.push_back(started);
  job.text = print_command(command);
  state.jobs.edit().push_back(std::move(job));
  state.background_pid = started->pid;
  return 0;
}

// ---- traps ----

bool Interpreter::trap_active(int signal) const {
  if (state.traps->empty()) return false;
  auto it = state.traps->find(signal);
  if (it == state.traps->end()) return false;
  if (!traps_inherited) return true;
  if (signal == trap_debug || signal == trap_return) return option(Opt::functrace);
  if (signal == trap_err) return option(Opt::errtrace);
  return it->second.empty() && signal != 0;
}

// The first change of a trap in a subshell forgets what it only inherited.
void Interpreter::reset_inherited_traps() {
  if (!traps_inherited) return;
  std::map<int, std::string> kept;
  for (const auto& [signal, text] : *state.traps)
    if (trap_active(signal)) kept[signal] = text;
  traps_inherited = false;
  state.traps = Cow<std::map<int, std::string>>(std::move(kept));
}

void Interpreter::run_trap(int signal, int status_before) {
  auto it = state.traps->find(signal);
  if (it == state.traps->end() || it->second.empty()) return;
  std::string text = it->second;
  if (in_trap && signal > signal_max) return;
  Restored<bool> nested(in_trap);
  Restored<int> at(line);
  std::string argument = state.last_argument;
  std::vector<int> pipes = state.pipe_status;
  bool debug = signal == trap_debug;
  if (signal > signal_max) in_trap = true;
  state.status = status_before;
  Flow flow = flow_;
  int count = flow_count_;
  flow_ = Flow::none;
  Restored<int> running(running_trap_);
  running_trap_ = signal;
  Raised depth_of_traps(trap_depth_);
  int status = run_script(text, "trap", line > 0 ? line : 1);
  if (flow_ == Flow::none) {
    flow_ = flow;
    flow_count_ = count;
    state.status = status_before;
    state.last_argument = argument;
    state.pipe_status = pipes;
    if (debug && option(Shopt::extdebug) && status != 0) skip_command_ = true;
  }
}

void Interpreter::run_pending_traps() {
  Process& self = *machine.process;
  if (!self.pending.any()) return;
  for (int signal = 1; signal <= signal_max; ++signal) {
    auto at = static_cast<std::size_t>(signal);
    if (!self.pending[at] || !self.handled[at]) continue;
    self.pending[at] = false;
    run_trap(signal, state.status);
    if (flow_ == Flow::exit) return;
  }
  machine.notice_signals();
}

}  // namespace atl::shell
