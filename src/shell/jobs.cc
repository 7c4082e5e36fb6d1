#include "shell/jobs.h"

#include <algorithm>
#include <csignal>

#include "shell/runner.h"

namespace atl::shell {

namespace {

// `wait PID` works for processes that have ended; a script that starts many does not keep them all.
constexpr std::size_t known_max = 64;

}  // namespace

std::shared_ptr<Process> Jobs::background(std::function<int(ShellRunner&)> body, bool asynchronous) {
  // Shared because a fiber's body must be copyable; nobody else holds the child.
  auto child = std::make_shared<ShellRunner>(shell_, ShellRunner::Subshell::plain);
  std::shared_ptr<Process> started = shell_.machine().new_process();
  child->set_process(started);
  if (asynchronous) {
    // POSIX: an interrupt at the terminal is for the foreground.
    started->ignored[SIGINT] = true;
    started->ignored[SIGQUIT] = true;
    // A failure in it is not in the condition that started it.
    child->executor().heed_failures();
  }
  shell_.machine().spawn(started, [child, body = std::move(body)]() mutable {
    Machine& machine = child->machine();
    std::shared_ptr<Process> self = child->process();
    int status = 0;
    try {
      status = child->executor().finish_subshell([&] {
        // What the body holds (ends of pipes) goes when it returns, not when the process is collected.
        auto run = std::move(body);
        return run(*child);
      });
    } catch (const StoppedBy& stop) {
      status = stop.status;
    } catch (const std::exception& failure) {
      status = machine.stop_defect(failure.what());
    }
    // Before others are told of the end: its descriptors must be closed by then.
    child.reset();
    machine.finished(*self, status);
  });
  return started;
}

void Jobs::add(int id, std::shared_ptr<Process> process, std::string text) {
  state_.last_pid = process->pid;
  Job job;
  job.id = id;
  job.processes.push_back(std::move(process));
  job.text = std::move(text);
  state_.table.edit().push_back(std::move(job));
}

int Jobs::next_id() const {
  int id = 1;
  for (const Job& other : *state_.table) id = std::max(id, other.id + 1);
  return id;
}

void Jobs::remember(std::shared_ptr<Process> ended) {
  known_.push_back(std::move(ended));
  if (known_.size() > known_max) known_.erase(known_.begin());
}

int Jobs::wait_for(const std::shared_ptr<Process>& target) {
  while (!target->done) {
    shell_.machine().wait(target->waiters);
    // A trapped signal ends the wait.
    for (std::size_t i = 1; i <= signal_max; ++i)
      if (shell_.machine().process->pending[i] && shell_.machine().process->handled[i]) {
        shell_.traps().run_pending();
        return shell_.executor().flow() == Flow::exit ? shell_.last().status : 128 + static_cast<int>(i);
      }
  }
  return target->status;
}

void Jobs::add_substitution(int fd, std::shared_ptr<Process> started) {
  substitutions_.emplace_back(fd, std::move(started));
}

void Jobs::finish_substitutions(std::size_t keep) {
  while (substitutions_.size() > keep) {
    auto [fd, started] = substitutions_.back();
    substitutions_.pop_back();
    shell_.descriptors().set_file(fd, nullptr);
    state_.last_pid = started->pid;
    remember(std::move(started));
  }
}

}  // namespace atl::shell
