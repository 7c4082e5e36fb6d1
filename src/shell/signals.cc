#include <array>
#include <cctype>
#include <charconv>
#include <csignal>
#include <string>

#include "shell/machine.h"

namespace atl::shell {

namespace {

struct SignalRow {
  int number;
  std::string_view name;
  std::string_view description;
};

constexpr std::array<SignalRow, 31> signal_rows = {{
    {1, "HUP", "Hangup"},
    {2, "INT", "Interrupt"},
    {3, "QUIT", "Quit"},
    {4, "ILL", "Illegal instruction"},
    {5, "TRAP", "Trace/breakpoint trap"},
    {6, "ABRT", "Aborted"},
    {7, "BUS", "Bus error"},
    {8, "FPE", "Floating point exception"},
    {9, "KILL", "Killed"},
    {10, "USR1", "User defined signal 1"},
    {11, "SEGV", "Segmentation fault"},
    {12, "USR2", "User defined signal 2"},
    {13, "PIPE", "Broken pipe"},
    {14, "ALRM", "Alarm clock"},
    {15, "TERM", "Terminated"},
    {16, "STKFLT", "Stack fault"},
    {17, "CHLD", "Child exited"},
    {18, "CONT", "Continued"},
    {19, "STOP", "Stopped (signal)"},
    {20, "TSTP", "Stopped"},
    {21, "TTIN", "Stopped (tty input)"},
    {22, "TTOU", "Stopped (tty output)"},
    {23, "URG", "Urgent I/O condition"},
    {24, "XCPU", "CPU time limit exceeded"},
    {25, "XFSZ", "File size limit exceeded"},
    {26, "VTALRM", "Virtual timer expired"},
    {27, "PROF", "Profiling timer expired"},
    {28, "WINCH", "Window changed"},
    {29, "IO", "I/O possible"},
    {30, "PWR", "Power failure"},
    {31, "SYS", "Bad system call"},
}};

// Real-time signals as bash names them.
const std::array<std::string, 65>& realtime_names() {
  static const std::array<std::string, 65> names = [] {
    std::array<std::string, 65> out;
    for (std::size_t i = 34; i <= 64; ++i) {
      if (i == 34)
        out[i] = "RTMIN";
      else if (i == 64)
        out[i] = "RTMAX";
      else if (i <= 49)
        out[i] = "RTMIN+" + std::to_string(i - 34);
      else
        out[i] = "RTMAX-" + std::to_string(64 - i);
    }
    return out;
  }();
  return names;
}

}  // namespace

int signal_number(std::string_view name) {
  int number = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size())
    return number >= 0 && number <= signal_max ? number : -1;
  std::string upper;
  for (char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string_view rest = upper;
  if (rest.starts_with("SIG")) rest.remove_prefix(3);
  if (rest == "EXIT") return 0;
  for (const SignalRow& row : signal_rows)
    if (row.name == rest) return row.number;
  if (rest == "CLD") return SIGCHLD;
  if (rest == "POLL") return SIGIO;
  if (rest == "IOT") return SIGABRT;
  for (std::size_t i = 34; i <= 64; ++i)
    if (realtime_names()[i] == rest) return static_cast<int>(i);
  return -1;
}

std::string_view signal_name(int number) {
  if (number == 0) return "EXIT";
  for (const SignalRow& row : signal_rows)
    if (row.number == number) return row.name;
  if (number >= 34 && number <= 64) return realtime_names()[static_cast<std::size_t>(number)];
  return {};
}

std::string_view signal_description(int number) {
  for (const SignalRow& row : signal_rows)
    if (row.number == number) return row.description;
  return "Unknown signal";
}

bool signal_ignored_by_default(int number) {
  return number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH ||
         number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

}  // namespace atl::shell
