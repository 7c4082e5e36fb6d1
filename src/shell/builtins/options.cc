#include <fmt/format.h>

#include <algorithm>

#include "shell/builtins/builtins.h"

namespace atl::shell::builtins {

namespace {

int opt_index(std::string_view name) {
  for (std::size_t i = 0; i < opt_rows.size(); ++i)
    if (opt_rows[i].name == name) return static_cast<int>(i);
  return -1;
}
int opt_index(char letter) {
  for (std::size_t i = 0; i < opt_rows.size(); ++i)
    if (opt_rows[i].letter == letter && letter) return static_cast<int>(i);
  return -1;
}

std::string list_options(const Interpreter& shell, bool reusable) {
  std::string out;
  for (std::size_t i = 0; i < opt_rows.size(); ++i) {
    bool on = shell.state.options.set[i];
    if (reusable)
      out += fmt::format("set {}o {}\n", on ? '-' : '+', opt_rows[i].name);
    else
      out += fmt::format("{:<15}\t{}\n", opt_rows[i].name, on ? "on" : "off");
  }
  return out;
}

std::string list_variables(Interpreter& shell) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : *shell.state.variables) names.push_back(name);
  // Of the variables that are computed, the one that holds what -c was given is looked for in the list.
  auto given = shell.dynamic("BASH_EXECUTION_STRING");
  if (given && !shell.find("BASH_EXECUTION_STRING")) names.emplace_back("BASH_EXECUTION_STRING");
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) {
    const Variable* found = shell.find(name);
    const Variable& variable = found ? *found : *given;
    if (variable.is_array()) {
      if (variable.set || variable.has_elements()) out += name + "=" + array_literal(variable) + "\n";
    } else if (variable.set) {
      out += name + "=" + (variable.value.empty() ? "" : quote_if_needed(variable.value)) + "\n";
    }
  }
  if (!shell.option(Opt::posix))
    for (const auto& [name, function] : *shell.state.functions)
      out += print_function(name, *function.definition) + "\n";
  return out;
}

}  // namespace

int set(Interpreter& shell, const Args& args) {
  if (args.size() == 1) return shell.print(list_variables(shell), "set") ? 0 : 1;
  std::size_t at = 1;
  bool positional = false;
  for (; at < args.size(); ++at) {
    const std::string& arg = args[at];
    if (arg == "--") {
      positional = true;
      ++at;
      break;
    }
    if (arg == "-") {
      shell.state.options.put(Opt::xtrace, false);
      shell.state.options.put(Opt::verbose, false);
      ++at;
      positional = at < args.size();
      break;
    }
    if (arg == "+") continue;
    if (arg.size() < 2 || (arg[0] != '-' && arg[0] != '+')) {
      positional = true;
      break;
    }
    bool on = arg[0] == '-';
    for (std::size_t i = 1; i < arg.size(); ++i) {
      char c = arg[i];
      if (c == 'o') {
        if (at + 1 >= args.size() || args[at + 1][0] == '-' || args[at + 1][0] == '+') {
          if (!shell.print(list_options(shell, !on), "set")) return 1;
          continue;
        }
        const std::string& name = args[++at];
        int index = opt_index(name);
        if (index < 0) {
          shell.error(fmt::format("set: {}: invalid option name", name));
          return 2;
        }
        shell.state.options.set[static_cast<std::size_t>(index)] = on;
        if (name == "vi" && on) shell.state.options.put(Opt::emacs, false);
        if (name == "emacs" && on) shell.state.options.put(Opt::vi, false);
        continue;
      }
      int index = opt_index(c);
      if (index < 0) return bad_option(shell, args, fmt::format("{}{}", arg[0], c));
      shell.state.options.set[static_cast<std::size_t>(index)] = on;
    }
  }
  if (positional)
    shell.state.args =
        std::make_shared<const Args>(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  return 0;
}

// extdebug brings tracing into functions with it.
void put_shopt(Interpreter& shell, std::size_t which, bool on) {
  shell.state.options.shopt[which] = on;
  if (!on || static_cast<Shopt>(which) != Shopt::extdebug) return;
  shell.state.options.put(Opt::functrace, true);
  shell.state.options.put(Opt::errtrace, true);
}

int shopt(Interpreter& shell, const Args& args) {
  bool on = false, off = false, quiet = false, print = false, set_names = false;
  std::size_t at = 1;
  for (; at < args.size() && args[at].size() > 1 && args[at][0] == '-'; ++at) {
    if (args[at] == "--") {
      ++at;
      break;
    }
    for (char c : args[at].substr(1)) {
      if (c == 's')
        on = true;
      else if (c == 'u')
        off = true;
      else if (c == 'q')
        quiet = true;
      else if (c == 'p')
        print = true;
      else if (c == 'o')
        set_names = true;
      else
        return bad_option(shell, args, fmt::format("-{}", c));
    }
  }
  if (on && off) {
    shell.error("shopt: cannot set and unset shell options simultaneously");
    return 1;
  }
  std::size_t count = set_names ? opt_rows.size() : shopt_names.size();
  auto name_of = [&](std::size_t i) { return set_names ? opt_rows[i].name : shopt_names[i]; };
  auto value_of = [&](std::size_t i) -> bool {
    return set_names ? shell.state.options.set[i] : shell.state.options.shopt[i];
  };
  auto show = [&](std::size_t i) {
    if (print)
      return set_names ? fmt::format("set {}o {}\n", value_of(i) ? '-' : '+', name_of(i))
                       : fmt::format("shopt -{} {}\n", value_of(i) ? 's' : 'u', name_of(i));
    return fmt::format("{:<15}\t{}\n", name_of(i), value_of(i) ? "on" : "off");
  };
  std::string out;
  int status = 0;
  if (at >= args.size()) {
    for (std::size_t i = 0; i < count; ++i)
      if ((!on && !off) || (on && value_of(i)) || (off && !value_of(i))) out += show(i);
    return quiet || shell.print(out, "shopt") ? 0 : 1;
  }
  for (; at < args.size(); ++at) {
    std::size_t i = 0;
    while (i < count && name_of(i) != args[at]) ++i;
    if (i == count) {
      shell.error(fmt::format("shopt: {}: invalid shell option name", args[at]));
      status = 1;
      continue;
    }
    if (on || off) {
      if (set_names)
        shell.state.options.set[i] = on;
      else
        put_shopt(shell, i, on);
      continue;
    }
    if (!value_of(i)) status = 1;
    if (!quiet) out += show(i);
  }
  return shell.print(out, "shopt") ? status : 1;
}

int umask(Interpreter& shell, const Args& args) {
  bool symbolic = false, reusable = false;
  std::size_t at = 1;
  for (; at < args.size() && args[at].size() > 1 && args[at][0] == '-'; ++at) {
    if (args[at] == "--") {
      ++at;
      break;
    }
    bool known = true;
    for (char c : args[at].substr(1)) {
      if (c == 'S')
        symbolic = true;
      else if (c == 'p')
        reusable = true;
      else
        known = false;
    }
    if (!known) return bad_option(shell, args, args[at].substr(0, 2));
  }
  auto letters = [](unsigned mask) {
    std::string out;
    for (int shift = 6; shift >= 0; shift -= 3) {
      unsigned bits = (~mask >> shift) & 7;
      out += shift == 6 ? "u=" : shift == 3 ? ",g=" : ",o=";
      if (bits & 4) out += 'r';
      if (bits & 2) out += 'w';
      if (bits & 1) out += 'x';
    }
    return out;
  };
  if (at >= args.size()) {
    std::string text = symbolic ? letters(shell.state.umask) : fmt::format("{:04o}", shell.state.umask);
    if (reusable) text = symbolic ? "umask -S " + text : "umask " + text;
    return shell.print(text + "\n", "umask") ? 0 : 1;
  }
  const std::string& mode = args[at];
  if (mode.empty()) {
    shell.error("umask: `': invalid symbolic mode operator");
    return 1;
  }
  if (std::isdigit(static_cast<unsigned char>(mode[0]))) {
    unsigned value = 0;
    for (char c : mode) {
      if (c < '0' || c > '7' || value > 0777) {
        shell.error(fmt::format("umask: {}: octal number out of range", mode));
        return 1;
      }
      value = value * 8 + static_cast<unsigned>(c - '0');
    }
    if (value > 0777) {
      shell.error(fmt::format("umask: {}: octal number out of range", mode));
      return 1;
    }
    shell.state.umask = value;
    return 0;
  }
  unsigned allowed = ~shell.state.umask & 0777;
  std::size_t i = 0;
  while (i < mode.size()) {
    unsigned who = 0;
    for (; i < mode.size() && std::string_view("ugoa").find(mode[i]) != std::string_view::npos; ++i)
      who |= mode[i] == 'u' ? 0700U : mode[i] == 'g' ? 0070U : mode[i] == 'o' ? 0007U : 0777U;
    if (!who) who = 0777;
    if (i >= mode.size() || std::string_view("+-=").find(mode[i]) == std::string_view::npos) {
      shell.error(
          fmt::format("umask: `{}': invalid symbolic mode operator", i < mode.size() ? mode[i] : ' '));
      return 1;
    }
    while (i < mode.size() && std::string_view("+-=").find(mode[i]) != std::string_view::npos) {
      char op = mode[i++];
      unsigned bits = 0;
      for (; i < mode.size() && mode[i] != ','; ++i) {
        switch (mode[i]) {
          case 'r':
            bits |= 0444;
            break;
          case 'w':
            bits |= 0222;
            break;
          case 'x':
            bits |= 0111;
            break;
          case 'u':
            bits |= ((allowed >> 6) & 7) * 0111;
            break;
          case 'g':
            bits |= ((allowed >> 3) & 7) * 0111;
            break;
          case 'o':
            bits |= (allowed & 7) * 0111;
            break;
          case 'X':
            break;
          default:
            shell.error(fmt::format("umask: `{}': invalid symbolic mode character", mode[i]));
            return 1;
        }
      }
      bits &= who;
      if (op == '+')
        allowed |= bits;
      else if (op == '-')
        allowed &= ~bits;
      else
        allowed = (allowed & ~who) | bits;
    }
    if (i < mode.size() && mode[i] == ',') ++i;
  }
  shell.state.umask = ~allowed & 0777;
  if (symbolic) return shell.print(letters(shell.state.umask) + "\n", "umask") ? 0 : 1;
  return 0;
}

}  // namespace atl::shell::builtins
