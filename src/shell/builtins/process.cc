#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>

#include "shell/builtins/builtins.h"
#include "shell/builtins/option_reader.h"
#include "shell/quoting.h"

namespace atl::shell::builtins {

namespace {

int trap_number(const std::string& name) {
  std::string upper;
  for (char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (upper == "DEBUG") return trap_debug;
  if (upper == "ERR") return trap_err;
  if (upper == "RETURN") return trap_return;
  return signal_number(name);
}

std::string trap_name(int number) {
  if (number == trap_debug) return "DEBUG";
  if (number == trap_err) return "ERR";
  if (number == trap_return) return "RETURN";
  if (number == 0) return "EXIT";
  return "SIG" + std::string(signal_name(number));
}

std::string signal_list() {
  std::string out;
  int column = 0;
  for (int i = 1; i <= signal_max; ++i) {
    if (signal_name(i).empty()) continue;
    out += fmt::format("{:>2}) SIG{}", i, signal_name(i));
    if (++column == 5)
      out += "\n", column = 0;
    else
      out += "\t";
  }
  if (column) out += "\n";
  return out;
}

// %1, %+, %-, %name, or a pid. Null if there is none.
std::shared_ptr<Process> find_target(ShellRunner& shell, const std::string& text, const Job** job = nullptr) {
  const auto& jobs = *shell.jobs().table();
  if (text.starts_with('%')) {
    std::string rest = text.substr(1);
    const Job* found = nullptr;
    std::int64_t id = 0;
    if (rest.empty() || rest == "+" || rest == "%") {
      if (!jobs.empty()) found = &jobs.back();
    } else if (rest == "-") {
      if (!jobs.empty()) found = jobs.size() > 1 ? &jobs[jobs.size() - 2] : &jobs.back();
    } else if (parse_int(rest, id)) {
      for (const Job& one : jobs)
        if (one.id == id) found = &one;
    } else {
      bool inside = rest.starts_with('?');
      for (const Job& one : jobs)
        if (inside ? one.text.find(rest.substr(1)) != std::string::npos : one.text.starts_with(rest))
          found = &one;
    }
    if (job) *job = found;
    return found ? found->processes.back() : nullptr;
  }
  std::int64_t pid = 0;
  if (!parse_int(text, pid)) return nullptr;
  for (const Job& one : jobs)
    for (const auto& process : one.processes)
      if (process->pid == pid) {
        if (job) *job = &one;
        return process;
      }
  // `wait PID` may come after the job has ended.
  for (const auto& process : shell.jobs().known())
    if (process->pid == pid) return process;
  return nullptr;
}

void forget(ShellRunner& shell, const std::shared_ptr<Process>& process) {
  std::erase_if(shell.jobs().edit_table(), [&](const Job& job) { return job.processes.back() == process; });
}

// Runs the traps that are due. What a builtin ends with then: its own status unless a trap left the script.
int after_traps(ShellRunner& shell, int status) {
  shell.traps().run_pending();
  return shell.executor().flow() == Flow::exit ? shell.last().status : status;
}

}  // namespace

int trap(ShellRunner& shell, const Args& args) {
  OptionReader options(shell, args, "lp");
  bool print = false;
  while (char letter = options.next()) {
    if (letter == 'l') return shell.print(signal_list(), "trap") ? 0 : 1;
    print = true;
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  if (print || at >= args.size()) {
    std::string out;
    int status = 0;
    auto show = [&](int number) {
      auto it = shell.traps().table()->find(number);
      if (it != shell.traps().table()->end())
        out += fmt::format("trap -- {} {}\n", quote_single(it->second), trap_name(number));
    };
    if (at >= args.size()) {
      for (const auto& [number, text] : *shell.traps().table()) show(number);
    }
    for (; at < args.size(); ++at) {
      int number = trap_number(args[at]);
      if (number < 0) {
        shell.error(fmt::format("trap: {}: invalid signal specification", args[at]));
        status = 1;
        continue;
      }
      show(number);
    }
    return shell.print(out, "trap") ? status : 1;
  }
  std::string action = args[at];
  bool reset = action == "-";
  std::size_t first = at + 1;
  if (args.size() == first) {
    // One operand: the signal to reset.
    if (trap_number(action) < 0) return usage(shell, args);
    reset = true;
    first = at;
  } else if (!action.empty() &&
             std::all_of(action.begin(), action.end(),
                         [](char c) { return std::isdigit(static_cast<unsigned char>(c)); }) &&
             trap_number(action) >= 0) {
    reset = true;
    first = at;
  }
  int status = 0;
  // A subshell's first own trap drops those it only shows of its parent.
  shell.traps().reset_inherited();
  for (std::size_t i = first; i < args.size(); ++i) {
    int number = trap_number(args[i]);
    if (number < 0) {
      shell.error(fmt::format("trap: {}: invalid signal specification", args[i]));
      status = 1;
      continue;
    }
    auto& self = *shell.machine().process;
    if (reset)
      shell.traps().remove(number);
    else
      shell.traps().set(number, action);
    if (number >= 1 && number <= signal_max) {
      // trap '' INT ignores the signal; the machine looks at these bits, not at the table.
      self.handled[static_cast<std::size_t>(number)] = !reset && !action.empty();
      self.ignored[static_cast<std::size_t>(number)] = !reset && action.empty();
    }
  }
  return status;
}

int kill(ShellRunner& shell, const Args& args) {
  if (args.size() < 2) return usage(shell, args);
  int signal = SIGTERM;
  std::size_t at = 1;
  if (args[1] == "-l" || args[1] == "-L") {
    if (args.size() == 2) return shell.print(signal_list(), "kill") ? 0 : 1;
    std::string out;
    int status = 0;
    for (std::size_t i = 2; i < args.size(); ++i) {
      std::int64_t number = 0;
      if (parse_int(args[i], number)) {
        // kill -l also translates the status of a command that a signal ended.
        if (number > 128) number -= 128;
        std::string_view name = number == 0 ? "EXIT" : signal_name(static_cast<int>(number));
        if (name.empty() || number < 0) {
          shell.error(fmt::format("kill: {}: invalid signal specification", args[i]));
          status = 1;
        } else {
          out += fmt::format("{}\n", name);
        }
        continue;
      }
      int found = signal_number(args[i]);
      if (found < 0) {
        shell.error(fmt::format("kill: {}: invalid signal specification", args[i]));
        status = 1;
      } else {
        out += fmt::format("{}\n", found);
      }
    }
    return shell.print(out, "kill") ? status : 1;
  }
  if ((args[1] == "-s" || args[1] == "-n") && args.size() > 2) {
    signal = signal_number(args[2]);
    if (signal < 0) {
      shell.error(fmt::format("kill: {}: invalid signal specification", args[2]));
      return 1;
    }
    at = 3;
  } else if (args[1] == "-s" || args[1] == "-n") {
    shell.error(fmt::format("kill: {}: option requires an argument", args[1]));
    return 1;
  } else if (args[1] == "--") {
    at = 2;
  } else if (args[1].size() > 1 && args[1][0] == '-') {
    signal = signal_number(args[1].substr(1));
    if (signal < 0) {
      shell.error(fmt::format("kill: {}: invalid signal specification", args[1].substr(1)));
      return 1;
    }
    at = 2;
  }
  if (at < args.size() && args[at] == "--") ++at;
  if (at >= args.size()) return usage(shell, args);
  int status = 0;
  for (; at < args.size(); ++at) {
    std::int64_t pid = 0;
    if (args[at].starts_with('%')) {
      auto process = find_target(shell, args[at]);
      if (!process) {
        shell.error(fmt::format("kill: {}: no such job", args[at]));
        status = 1;
        continue;
      }
      pid = process->pid;
    } else if (!parse_int(args[at], pid)) {
      shell.error(fmt::format("kill: {}: arguments must be process or job IDs", args[at]));
      status = 1;
      continue;
    }
    // There are no process groups: 0 means the shell itself, -N means N.
    if (pid == 0) pid = shell.origin().pid;
    if (pid < 0) pid = -pid;
    int result = shell.machine().kill(static_cast<int>(pid), signal);
    if (result != 0) {
      shell.error(
          fmt::format("kill: ({}) - {}", args[at], result == ESRCH ? "No such process" : "Invalid argument"));
      status = 1;
    }
  }
  return after_traps(shell, status);
}

int wait(ShellRunner& shell, const Args& args) {
  bool next = false;
  std::string variable;
  OptionReader options(shell, args, "nfp:");
  while (char letter = options.next()) {
    switch (letter) {
      case 'n': next = true; break;
      case 'p': variable = options.value(); break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  auto note = [&](const std::shared_ptr<Process>& process) {
    if (!variable.empty()) shell.variables().assign(variable, std::to_string(process->pid));
  };
  if (!variable.empty()) shell.variables().unset(variable);
  if (next) {
    std::vector<std::shared_ptr<Process>> candidates;
    if (at < args.size()) {
      for (; at < args.size(); ++at)
        if (auto process = find_target(shell, args[at])) candidates.push_back(process);
    } else {
      for (const Job& job : *shell.jobs().table()) candidates.push_back(job.processes.back());
    }
    if (candidates.empty()) return 127;
    WaitQueue nothing;
    while (true) {
      for (auto& process : candidates)
        if (process->done) {
          note(process);
          forget(shell, process);
          return process->status;
        }
      for (std::size_t i = 1; i <= signal_max; ++i)
        if (shell.machine().process->pending[i] && shell.machine().process->handled[i]) {
          return after_traps(shell, 128 + static_cast<int>(i));
        }
      shell.machine().wait_until(nothing, std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
    }
  }
  if (at >= args.size()) {
    std::vector<Job> jobs = *shell.jobs().table();
    for (const Job& job : jobs) {
      int status = shell.jobs().wait_for(job.processes.back());
      if (!job.processes.back()->done || shell.executor().flow() == Flow::exit) return status;
      shell.jobs().remember(job.processes.back());
      forget(shell, job.processes.back());
    }
    return 0;
  }
  int status = 0;
  for (; at < args.size(); ++at) {
    auto process = find_target(shell, args[at]);
    if (!process) {
      std::int64_t pid = 0;
      if (args[at].starts_with('%'))
        shell.error(fmt::format("wait: {}: no such job", args[at]));
      else if (parse_int(args[at], pid))
        shell.error(fmt::format("wait: pid {} is not a child of this shell", args[at]));
      else {
        shell.error(fmt::format("wait: `{}': not a pid or valid job spec", args[at]));
        status = 1;
        continue;
      }
      status = 127;
      continue;
    }
    status = shell.jobs().wait_for(process);
    if (process->done) {
      forget(shell, process);
      shell.jobs().remember(process);
    }
    note(process);
  }
  return status;
}

int jobs(ShellRunner& shell, const Args& args) {
  bool pids = false, lng = false, running = false, stopped = false;
  OptionReader options(shell, args, "plrsn");
  while (char letter = options.next()) {
    switch (letter) {
      case 'p': pids = true; break;
      case 'l': lng = true; break;
      case 'r': running = true; break;
      case 's': stopped = true; break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  std::string out;
  const auto& all = *shell.jobs().table();
  int status = 0;
  auto line = [&](const Job& job, std::size_t i) {
    const Process& process = *job.processes.back();
    if (stopped || (running && process.done)) return;  // nothing is ever stopped
    if (pids) {
      out += fmt::format("{}\n", job.processes.front()->pid);
      return;
    }
    char current = i + 1 == all.size() ? '+' : i + 2 == all.size() ? '-' : ' ';
    std::string what = !process.done         ? "Running"
                       : process.killed_by   ? std::string(signal_description(process.killed_by))
                       : process.status == 0 ? "Done"
                                             : fmt::format("Exit {}", process.status);
    out += fmt::format("[{}]{} {}{:<24}{}{}\n", job.id, current, lng ? fmt::format("{} ", process.pid) : " ",
                       what, job.text, process.done ? "" : " &");
  };
  if (at < args.size()) {
    for (; at < args.size(); ++at) {
      const Job* job = nullptr;
      find_target(shell, args[at], &job);
      if (!job) {
        shell.error(fmt::format("jobs: {}: no such job", args[at]));
        status = 1;
        continue;
      }
      line(*job, static_cast<std::size_t>(job - all.data()));
    }
  } else {
    for (std::size_t i = 0; i < all.size(); ++i) line(all[i], i);
  }
  bool printed = shell.print(out, "jobs");
  std::erase_if(shell.jobs().edit_table(), [](const Job& job) { return job.processes.back()->done; });
  return printed ? status : 1;
}

int disown(ShellRunner& shell, const Args& args) {
  if (args.size() == 1 || args[1] == "-a") {
    shell.jobs().edit_table().clear();
    return 0;
  }
  bool keep = false;  // -h: only a hangup passes it by, and there is none
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (args[i] == "-h") {
      keep = true;
      continue;
    }
    if (args[i].size() > 1 && args[i][0] == '-') return bad_option(shell, args, args[i].substr(0, 2));
    auto process = find_target(shell, args[i]);
    if (!process) {
      shell.error(fmt::format("disown: {}: no such job", args[i]));
      return 1;
    }
    if (!keep) forget(shell, process);
  }
  return 0;
}

int fg(ShellRunner& shell, const Args& args) {
  if (args[0] == "suspend") return shell.fail(args, "cannot suspend: no job control");
  if (!shell.option(Opt::monitor)) return shell.fail(args, "no job control");
  const Job* job = nullptr;
  auto process = find_target(shell, args.size() > 1 ? args[1] : "%+", &job);
  if (!process) {
    shell.error(fmt::format("{}: {}: no such job", args[0], args.size() > 1 ? args[1] : "current"));
    return 1;
  }
  if (args[0] == "bg") return 0;
  shell.print((job ? job->text : "") + "\n", "fg");
  int status = shell.jobs().wait_for(process);
  forget(shell, process);
  return status;
}

int ulimit(ShellRunner& shell, const Args& args) {
  struct Row {
    char letter;
    std::string_view words;
    std::string value;
  };
  const Limits& limits = shell.machine().limits;
  std::vector<Row> rows = {
      {'c', "core file size              (blocks, -c)", "0"},
      {'f', "file size                   (blocks, -f)", "unlimited"},
      {'n', "open files                          (-n)", std::to_string(limits.descriptors)},
      {'s', "stack size                  (kbytes, -s)", "8192"},
      {'t', "cpu time                   (seconds, -t)",
       std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limits.cpu_time).count())},
      {'u', "max user processes                  (-u)", std::to_string(limits.processes)},
      {'v', "virtual memory              (kbytes, -v)", std::to_string(limits.memory_bytes / 1024)},
  };
  char which = 'f';
  std::string value;
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (args[i][0] == '-' && args[i].size() > 1) {
      for (char c : args[i].substr(1)) {
        if (c == 'a') {
          std::string out;
          for (const Row& row : rows) out += fmt::format("{} {}\n", row.words, row.value);
          return shell.print(out, "ulimit") ? 0 : 1;
        }
        if (c == 'S' || c == 'H') continue;
        if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.letter == c; }) &&
            std::string_view("bdeiklmpqrxPRT").find(c) == std::string_view::npos)
          return bad_option(shell, args, fmt::format("-{}", c));
        which = c;
      }
    } else {
      value = args[i];
    }
  }
  if (!value.empty()) {
    std::int64_t number = 0;
    if (value != "unlimited" && value != "hard" && value != "soft" &&
        (!parse_int(value, number) || number < 0)) {
      shell.error(fmt::format("ulimit: {}: invalid number", value));
      return 1;
    }
    // Lowering is real; raising above what the embedder gave is refused.
    if (which == 'n' && value != "unlimited") {
      if (number > static_cast<std::int64_t>(limits.descriptors)) {
        shell.error("ulimit: open files: cannot modify limit: Operation not permitted");
        return 1;
      }
      shell.machine().limits.descriptors = static_cast<std::uint32_t>(number);
    }
    if (which == 't' && value != "unlimited" && std::chrono::seconds(number) < limits.cpu_time)
      shell.machine().limits.cpu_time = std::chrono::seconds(number);
    return 0;
  }
  for (const Row& row : rows)
    if (row.letter == which) return shell.print(row.value + "\n", "ulimit") ? 0 : 1;
  return shell.print("unlimited\n", "ulimit") ? 0 : 1;
}

}  // namespace atl::shell::builtins
