#include <optional>
#include <string>
#include <string_view>

#include "shell/calendar/calendar.h"
#include "shell/runner.h"

namespace atl::shell {

namespace {

// Escapes that always stand for the same text.
std::optional<std::string_view> fixed_escape(char letter) {
  switch (letter) {
    case 'a': return "\a";
    case 'e': return "\033";
    case 'l': return "tty";
    case 'n': return "\n";
    case 'r': return "\r";
    case 'u': return "user";
    case 'v': return "5.2";
    case 'V': return "5.2.15";
    case '$': return "\\$";
    case '\\': return "\\";
    case '[':
    case ']': return "";
    default: return std::nullopt;
  }
}

// Escapes for the time, as formats of date; null for other letters.
const char* time_escape(char letter) {
  switch (letter) {
    case 'd': return "%a %b %d";
    case 't': return "%H:%M:%S";
    case 'T': return "%I:%M:%S";
    case '@': return "%I:%M %p";
    case 'A': return "%H:%M";
    default: return nullptr;
  }
}

// \nnn: up to three octal digits, of which `at` is the first. Leaves `at` at the last one.
char octal_escape(std::string_view text, std::size_t& at) {
  int value = text[at] - '0';
  for (int n = 1; n < 3 && at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '7'; ++n)
    value = value * 8 + text[++at] - '0';
  return static_cast<char>(value);
}

// The working directory with ~ for the home directory.
std::string shown_directory(ShellRunner& shell) {
  std::string pwd = shell.variables().get_or_empty("PWD");
  std::string home = shell.variables().get_or_empty("HOME");
  if (!home.empty() && home != "/" && (pwd == home || pwd.starts_with(home + "/")))
    return "~" + pwd.substr(home.size());
  return pwd;
}

// Escapes about the shell; nothing for letters that are none.
std::optional<std::string> shell_escape(ShellRunner& shell, char letter) {
  switch (letter) {
    case 'h': {
      std::string host = shell.variables().get_or_empty("HOSTNAME");
      return host.substr(0, host.find('.'));
    }
    case 'H': return shell.variables().get_or_empty("HOSTNAME");
    case 'j': return std::to_string(shell.jobs().table()->size());
    case 's': return shell.calls().arg0.substr(shell.calls().arg0.rfind('/') + 1);
    case 'w': return shown_directory(shell);
    case 'W': {
      std::string pwd = shown_directory(shell);
      return pwd == "/" || pwd == "~" ? pwd : pwd.substr(pwd.rfind('/') + 1);
    }
    case '#': return std::to_string(shell.origin().interactive ? shell.prompt().history->size() + 1 : 0);
    case '!': return std::to_string(shell.prompt().history->size() + 1);
    default: return std::nullopt;
  }
}

}  // namespace

// The escape whose letter is at `at`; leaves `at` at its last character.
void Expander::prompt_escape(const std::string& text, std::size_t& at, std::string& out) {
  char letter = text[at];
  auto now = [&](const char* format) {
    return format_time(format, shell_.machine().clock.now(), shell_.variables().zone());
  };
  if (auto fixed = fixed_escape(letter)) {
    out += *fixed;
  } else if (const char* format = time_escape(letter)) {
    out += now(format);
  } else if (letter == 'D') {
    if (at + 1 >= text.size() || text[at + 1] != '{') return;
    std::size_t end = text.find('}', at);
    if (end == std::string::npos) return;
    std::string format_text = text.substr(at + 2, end - at - 2);
    out += now(format_text.empty() ? "%H:%M:%S" : format_text.c_str());
    at = end;
  } else if (letter >= '0' && letter <= '7') {
    out += octal_escape(text, at);
  } else if (auto shown = shell_escape(shell_, letter)) {
    out += *shown;
  } else {
    out += '\\';
    out += letter;
  }
}

std::string Expander::prompt(const std::string& given) {
  std::string out;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] != '\\' || i + 1 >= given.size())
      out += given[i];
    else
      prompt_escape(given, ++i, out);
  }
  return shell_.option(Shopt::promptvars) ? text(out) : out;
}

}  // namespace atl::shell
