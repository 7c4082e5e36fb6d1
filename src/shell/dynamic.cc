#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <random>

#include "shell/commands/calendar.h"
#include "shell/interpreter.h"

namespace atl::shell {

namespace {

Variable scalar_value(std::string value, std::uint16_t attrs = 0) {
  Variable out;
  out.set = true;
  out.attrs = attrs;
  out.value = std::move(value);
  return out;
}

Variable list_value(std::vector<std::string> values, std::uint16_t attrs = 0) {
  Variable out;
  out.set = true;
  out.attrs = attr::array | attrs;
  IndexedArray& array = out.array.edit();
  for (std::size_t i = 0; i < values.size(); ++i) array[static_cast<std::int64_t>(i)] = std::move(values[i]);
  return out;
}

template <class Map>
Variable table_value(const Map& entries) {
  Variable out;
  out.set = true;
  out.attrs = attr::assoc;
  for (const auto& [key, text] : entries) out.assoc.edit().set(key, text);
  return out;
}

}  // namespace

std::string Interpreter::option_letters() const {
  std::string out;
  for (std::size_t i = 0; i < opt_rows.size(); ++i)
    if (opt_rows[i].letter && state.options.set[i]) out += opt_rows[i].letter;
  std::sort(out.begin(), out.end(), [](char a, char b) {
    bool upper_a = std::isupper(static_cast<unsigned char>(a)),
         upper_b = std::isupper(static_cast<unsigned char>(b));
    return upper_a != upper_b ? !upper_a : a < b;
  });
  if (interactive) out += 'i';
  if (from_command_line) out += 'c';
  return out;
}

// Variables that exist because they are computed. A variable of the same name in the table hides it.
std::optional<Variable> Interpreter::dynamic(std::string_view name) const {
  if (name.empty() || (name[0] < 'A' || name[0] > 'Z')) {
    if (name == "_") return scalar_value(state.last_argument);
    return std::nullopt;
  }
  auto* self = const_cast<Interpreter*>(this);  // RANDOM moves its own generator
  switch (name[0]) {
    case 'B':
      if (name == "BASHPID") return scalar_value(std::to_string(process ? process->pid : shell_pid_));
      if (name == "BASH_SUBSHELL") return scalar_value(std::to_string(state.subshell));
      if (name == "BASH_COMMAND")
        return scalar_value(current_command.empty() && current_node_ ? print_command(*current_node_)
                                                                     : current_command);
      if (name == "BASH_EXECUTION_STRING")
        return execution_string.empty() ? std::nullopt
                                        : std::optional<Variable>(scalar_value(execution_string));
      if (name == "BASHOPTS") {
        std::string text;
        for (std::size_t i = 0; i < shopt_names.size(); ++i)
          if (state.options.shopt[i]) text += (text.empty() ? "" : ":") + std::string(shopt_names[i]);
        return scalar_value(text, attr::readonly);
      }
      if (name == "BASH_SOURCE" || name == "BASH_LINENO") return call_stack(name);
      if (name == "BASH_ARGC" || name == "BASH_ARGV") return call_arguments(name == "BASH_ARGC");
      if (name == "BASH_ALIASES") return table_value(*state.aliases);
      if (name == "BASH_CMDS") return table_value(*state.hashed);
      if (name == "BASH_ARGV0") return scalar_value(state.arg0);
      if (name == "BASH_VERSINFO")
        return list_value({"5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"}, attr::readonly);
      if (name == "BASH_VERSION") return scalar_value("5.2.15(1)-release");
      if (name == "BASH") return scalar_value("/bin/bash");
      break;
    case 'D':
      if (name == "DIRSTACK") {
        std::vector<std::string> stack{self->get_or_empty("PWD")};
        stack.insert(stack.end(), state.directories.begin(), state.directories.end());
        return list_value(stack);
      }
      break;
    case 'E':
      if (name == "EPOCHSECONDS")
        return scalar_value(std::to_string(unix_micros(machine.clock.now()) / 1'000'000));
      if (name == "EPOCHREALTIME") {
        std::int64_t micros = unix_micros(machine.clock.now());
        return scalar_value(fmt::format("{}.{:06}", micros / 1'000'000, micros % 1'000'000));
      }
      if (name == "EUID") return scalar_value("1000", attr::readonly | attr::integer);
      break;
    case 'F':
      if (name == "FUNCNAME") return call_stack(name);
      break;
    case 'G':
      if (name == "GROUPS") return list_value({"1000"});
      break;
    case 'H':
      if (name == "HOSTNAME") return scalar_value("atoll");
      if (name == "HOSTTYPE") return scalar_value("x86_64");
      break;
    case 'L':
      if (name == "LINENO") return scalar_value(std::to_string(line));
      break;
    case 'M':
      if (name == "MACHTYPE") return scalar_value("x86_64-pc-linux-gnu");
      break;
    case 'O':
      if (name == "OSTYPE") return scalar_value("linux-gnu");
      break;
    case 'P':
      if (name == "PIPESTATUS") {
        std::vector<std::string> values;
        for (int status : state.pipe_status) values.push_back(std::to_string(status));
        return list_value(values);
      }
      if (name == "PPID") return scalar_value("1", attr::readonly | attr::integer);
      break;
    case 'R':
      if (name == "RANDOM") {
        self->state.random = self->state.random * 6364136223846793005ULL + 1442695040888963407ULL;
        return scalar_value(std::to_string((self->state.random >> 33) & 0x7FFF), attr::integer);
      }
      break;
    case 'S':
      if (name == "SECONDS") {
        auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() -
                                                                       state.seconds_base)
                          .count();
        return scalar_value(std::to_string(passed + state.seconds_offset), attr::integer);
      }
      if (name == "SRANDOM") {
        std::random_device device;
        return scalar_value(std::to_string(device()), attr::integer);
      }
      if (name == "SHELLOPTS") {
        std::string text;
        for (std::size_t i = 0; i < opt_rows.size(); ++i)
          if (state.options.set[i]) text += (text.empty() ? "" : ":") + std::string(opt_rows[i].name);
        return scalar_value(text, attr::readonly);
      }
      break;
    case 'U':
      if (name == "UID") return scalar_value("1000", attr::readonly | attr::integer);
      break;
    default:
      break;
  }
  return std::nullopt;
}

// FUNCNAME, BASH_SOURCE and BASH_LINENO: one entry a level, innermost first.
std::optional<Variable> Interpreter::call_stack(std::string_view name) const {
  std::vector<std::string> names, sources, lines;
  bool any_function = false;
  for (std::size_t i = state.frames.size(); i-- > 0;) {
    const Frame& frame = *state.frames[i];
    if (frame.name.empty()) continue;  // assignments before a command
    any_function = any_function || frame.function;
    names.push_back(frame.name);
    sources.push_back(frame.source);
    lines.push_back(std::to_string(frame.call_line));
  }
  bool from_file = script_name != "environment" && !script_name.empty();
  if (!names.empty()) {
    if (from_file) {
      names.push_back("main");
      sources.push_back(script_name);
      lines.push_back("0");
    }
  } else if (from_file) {
    sources.push_back(script_name);
    lines.push_back("0");
  }
  if (name == "FUNCNAME") {
    if (!any_function) {
      Variable none;
      none.attrs = attr::array;
      return none;
    }
    return list_value(names);
  }
  if (name == "BASH_SOURCE") return list_value(sources);
  return list_value(lines);
}

// BASH_ARGC and BASH_ARGV: how many arguments each level was called with, and all of them, the last one first.
Variable Interpreter::call_arguments(bool counts) const {
  std::vector<std::string> out;
  auto level = [&](const Args* args) {
    if (counts)
      out.push_back(std::to_string(args ? args->size() : 0));
    else if (args)
      out.insert(out.end(), args->rbegin(), args->rend());
  };
  for (std::size_t i = state.frames.size(); i-- > 0;)
    if (state.frames[i]->args) level(state.frames[i]->args.get());
  if (option(Shopt::extdebug) || !out.empty()) level(state.frames.empty() ? state.args.get() : nullptr);
  return list_value(std::move(out));
}

// As programs see it: an exported TZ.
Zone Interpreter::zone() const {
  const Variable* given = find("TZ");
  return given && given->is(attr::exported) ? Zone::named(given->value) : Zone::utc();
}

// PS1's language, after which the result is expanded as in double quotes.
std::string Interpreter::expand_prompt(const std::string& text) {
  std::string out;
  auto home_relative = [&] {
    std::string pwd = get_or_empty("PWD");
    std::string home = get_or_empty("HOME");
    if (!home.empty() && home != "/" && (pwd == home || pwd.starts_with(home + "/")))
      return "~" + pwd.substr(home.size());
    return pwd;
  };
  auto now = [&](const char* format) {
    return format_time(format, machine.clock.now(), zone());
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    char c = text[++i];
    switch (c) {
      case 'a':
        out += '\a';
        break;
      case 'd':
        out += now("%a %b %d");
        break;
      case 'D':
        if (i + 1 < text.size() && text[i + 1] == '{') {
          std::size_t end = text.find('}', i);
          if (end == std::string::npos) break;
          std::string format = text.substr(i + 2, end - i - 2);
          out += now(format.empty() ? "%H:%M:%S" : format.c_str());
          i = end;
        }
        break;
      case 'e':
        out += '\033';
        break;
      case 'h':
        out += get_or_empty("HOSTNAME").substr(0, get_or_empty("HOSTNAME").find('.'));
        break;
      case 'H':
        out += get_or_empty("HOSTNAME");
        break;
      case 'j':
        out += std::to_string(state.jobs->size());
        break;
      case 'l':
        out += "tty";
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 's':
        out += state.arg0.substr(state.arg0.rfind('/') + 1);
        break;
      case 't':
        out += now("%H:%M:%S");
        break;
      case 'T':
        out += now("%I:%M:%S");
        break;
      case '@':
        out += now("%I:%M %p");
        break;
      case 'A':
        out += now("%H:%M");
        break;
      case 'u':
        out += "user";
        break;
      case 'v':
        out += "5.2";
        break;
      case 'V':
        out += "5.2.15";
        break;
      case 'w':
        out += home_relative();
        break;
      case 'W': {
        std::string pwd = home_relative();
        if (pwd != "/" && pwd != "~") pwd = pwd.substr(pwd.rfind('/') + 1);
        out += pwd;
        break;
      }
      case '#':
        out += std::to_string(interactive ? state.history->size() + 1 : 0);
        break;
      case '!':
        out += std::to_string(state.history->size() + 1);
        break;
      case '$':
        out += "\\$";
        break;
      case '\\':
        out += '\\';
        break;
      case '[':
      case ']':
        break;
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7': {
        int value = c - '0';
        for (int n = 1; n < 3 && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '7'; ++n)
          value = value * 8 + text[++i] - '0';
        out += static_cast<char>(value);
        break;
      }
      default:
        out += '\\', out += c;
    }
  }
  if (!option(Shopt::promptvars)) return out;
  return expand_text(out);
}

}  // namespace atl::shell
