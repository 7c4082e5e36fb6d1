#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/program_start.h"

namespace atl::shell::time_program {

namespace {

struct Spent {
  double real = 0, cpu = 0;
  int status = 0;
  std::string command;
};

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// GNU time's directives that mean something here; the others are shown as they stand.
std::string formatted(std::string_view format, const Spent& spent) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    char next = i + 1 < format.size() ? format[i + 1] : '\0';
    if (format[i] == '\\' && (next == 'n' || next == 't' || next == '\\')) {
      out += next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
      ++i;
      continue;
    }
    if (format[i] != '%' || next == '\0') {
      out += format[i];
      continue;
    }
    ++i;
    auto whole = static_cast<std::int64_t>(spent.real);
    switch (next) {
      case '%': out += '%'; break;
      case 'e': out += fmt::format("{:.2f}", spent.real); break;
      case 'E':
        out += whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                             : fmt::format("{}:{:05.2f}", whole / 60,
                                           spent.real - static_cast<double>(whole / 60 * 60));
        break;
      case 'U': out += fmt::format("{:.2f}", spent.cpu); break;
      case 'S': out += "0.00"; break;
      case 'P':
        out += fmt::format("{}%", spent.real > 0 ? static_cast<int>(100 * spent.cpu / spent.real) : 0);
        break;
      case 'C': out += spent.command; break;
      case 'x': out += fmt::format("{}", spent.status); break;
      default: out += {'%', next};
    }
  }
  return out + "\n";
}

// -v: what is known of a command that runs in this process.
constexpr std::string_view kVerbose =
    "\tCommand being timed: \"%C\"\n\tUser time (seconds): %U\n\tSystem time (seconds): %S\n\tPercent of CPU "
    "this job got: %P\n"
    "\tElapsed (wall clock) time (h:mm:ss or m:ss): %E\n\tExit status: %x";

}  // namespace

// The program; `time` before a pipeline is the language's own word.
int run_time(Invocation& call) {
  static constexpr Option kOptions[] = {{'p', 'p', "portability"},
                                        {'f', 'f', "format", Arg::required},
                                        {'o', 'o', "output", Arg::required},
                                        {'a', 'a', "append"},
                                        {'q', 'q', "quiet"},
                                        {'v', 'v', "verbose"}};
  CommandLine options(call, kOptions, {.permute = false, .status = 125});
  if (options.stopped()) return options.status();
  std::string format = "%Uuser %Ssystem %Eelapsed %PCPU", output;
  bool append = false, quiet = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'p') format = "real %e\nuser %U\nsys %S";
    if (id == 'f') format = value;
    if (id == 'o') output = value;
    if (id == 'a') append = true;
    if (id == 'q') quiet = true;
    if (id == 'v') format = kVerbose;
  }
  auto& argv = options.operands();
  if (argv.empty()) return usage_error(call, "missing operand", 125);
  Spent spent;
  for (const std::string& word : argv) spent.command += (spent.command.empty() ? "" : " ") + word;
  auto begin = std::chrono::steady_clock::now();
  double cpu = thread_seconds();
  spent.status = refuse_start(call, argv[0], "cannot run {}");
  if (spent.status == 0) spent.status = call.run(argv, {});
  spent.real = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  spent.cpu = thread_seconds() - cpu;
  std::string text = formatted(format, spent);
  if (spent.status != 0 && !quiet)
    text = fmt::format("Command exited with non-zero status {}\n{}", spent.status, text);
  if (output.empty()) {
    call.err().write(text);
    return spent.status;
  }
  auto file = call.open_output(output, append);
  if (!file || !(*file)->write(text)) return call.fail(fmt::format("{}: cannot be written", output), 125);
  return spent.status;
}

}  // namespace atl::shell::time_program
