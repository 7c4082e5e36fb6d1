#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cctype>
#include <csignal>

#include "shell/runner.h"
#include "shell/scoped.h"

namespace atl::shell {

int Executor::pipeline(const Pipeline& command) {
  int status;
  {
    int raise = 0;
    // A negated pipeline is a condition: its failure is an answer.
    int& quiet = command.negate ? no_errexit_ : raise;
    Raised guard(quiet);
    status = command.timed ? timed(command) : run_stages(command);
  }
  // exit and return inside: their status is not negated.
  if (flow_ != Flow::none) return status;
  return command.negate ? (status == 0 ? 1 : 0) : status;
}

int Executor::timed(const Pipeline& command) {
  auto cpu = [] {
    timespec now{};
    // All fibers of a shell share this thread, so this is the time of everything that ran meanwhile.
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
  auto format = shell_.variables().get_value("TIMEFORMAT");
  if (command.time_posix) {
    shell_.descriptors().err().write(fmt::format("real {:.2f}\nuser {:.2f}\nsys {:.2f}\n", real, user, 0.0));
  } else if (!format) {
    shell_.descriptors().err().write(
        fmt::format("\nreal\t{}\nuser\t{}\nsys\t{}\n", shown(real), shown(user), shown(0)));
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
      // %[digits][l]R: digits behind the point, l for minutes and seconds.
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
    shell_.descriptors().err().write(out + "\n");
  }
  return status;
}

int Executor::run_stages(const Pipeline& command) {
  std::size_t count = command.stages.size();
  if (count == 0) return 0;
  // In this shell: no subshell, so assignments stay.
  if (count == 1) {
    int status = execute(*command.stages[0]);
    return status;
  }
  std::vector<std::shared_ptr<Process>> processes;
  OpenFilePtr previous;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    auto ends = make_pipe(shell_.machine());
    NodePtr stage = command.stages[i];
    OpenFilePtr in = std::move(previous);
    // Moved along: an end that somebody else still holds would keep the reader from its end of file.
    OpenFilePtr out = std::move(ends.second);
    previous = std::move(ends.first);
    bool both = command.both[i];
    processes.push_back(shell_.jobs().background(
        [stage, in = std::move(in), out = std::move(out), both](ShellRunner& child) mutable {
          if (in) child.descriptors().set_file(0, std::move(in));
          if (both) child.descriptors().set_file(2, out);
          child.descriptors().set_file(1, std::move(out));
          return child.executor().execute(*stage);
        },
        false));
  }
  // The stages before the last have their turn first, so that what they write is there.
  shell_.machine().yield();
  int last;
  // With job control the last stage is part of the job, as in bash.
  if (shell_.option(Shopt::lastpipe) && !shell_.option(Opt::monitor)) {
    OpenFilePtr before = shell_.descriptors().file(0);
    shell_.descriptors().set_file(0, std::move(previous));
    Finally undo([&] { shell_.descriptors().set_file(0, before); });
    last = execute(*command.stages.back());
  } else {
    ShellRunner child(shell_, ShellRunner::Subshell::plain);
    child.descriptors().set_file(0, std::move(previous));
    last = child.executor().finish_subshell([&] { return child.executor().execute(*command.stages.back()); });
  }
  std::vector<int> statuses;
  // The last stage may end first (yes | head -1); the status of a pipeline is known when all have ended.
  for (const auto& started : processes) {
    while (!started->done) shell_.machine().wait(started->waiters);
    statuses.push_back(started->status);
  }
  statuses.push_back(last);
  int status = last;
  if (shell_.option(Opt::pipefail)) {
    // pipefail: the last of the stages that failed.
    status = 0;
    for (int one : statuses)
      if (one != 0) status = one;
  }
  shell_.last().pipe_status = std::move(statuses);
  return status;
}

int Executor::start_background(const NodePtr& command) {
  NodePtr body = command;
  bool own_input = shell_.options()[Opt::monitor];
  auto started = shell_.jobs().background(
      [body, own_input](ShellRunner& child) {
        // It must not take the input of the command in the foreground.
        if (!own_input) child.descriptors().set_file(0, open_null());
        // A pipeline of its own in the background keeps its status: bash does not heed the `!` before it.
        const auto* own =
            body->kind == NodeKind::pipeline ? static_cast<const Pipeline*>(body.get()) : nullptr;
        return own && own->negate && !own->timed ? child.executor().run_stages(*own)
                                                 : child.executor().execute(*body);
      },
      true);
  int id = shell_.jobs().next_id();
  shell_.jobs().add(id, started, print_command(*command));
  if (shell_.origin().interactive)
    shell_.descriptors().err().write(fmt::format("[{}] {}\n", id, started->pid));
  return 0;
}

int Executor::coproc(const Coproc& command) {
  auto to = make_pipe(shell_.machine());
  auto from = make_pipe(shell_.machine());
  NodePtr body = command.body;
  OpenFilePtr in = to.first, out = from.second;
  to.first.reset();
  from.second.reset();
  auto started = shell_.jobs().background(
      [body, in = std::move(in), out = std::move(out)](ShellRunner& child) mutable {
        child.descriptors().set_file(0, std::move(in));
        child.descriptors().set_file(1, std::move(out));
        return child.executor().execute(*body);
      },
      true);
  // High numbers, out of the way of those that scripts write down.
  int read_fd = shell_.descriptors().free_descriptor(60);
  shell_.descriptors().set_file(read_fd, from.first);
  int write_fd = shell_.descriptors().free_descriptor(60);
  shell_.descriptors().set_file(write_fd, to.second);
  shell_.variables().assign_array(command.name, {std::to_string(read_fd), std::to_string(write_fd)});
  shell_.variables().assign(command.name + "_PID", std::to_string(started->pid));
  shell_.jobs().add(static_cast<int>(shell_.jobs().table()->size()) + 1, started, print_command(command));
  return 0;
}

}  // namespace atl::shell
