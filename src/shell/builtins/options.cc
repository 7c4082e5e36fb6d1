#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "shell/builtins/builtins.h"
#include "shell/builtins/option_reader.h"
#include "shell/computed.h"
#include "shell/quoting.h"

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

std::string list_options(const ShellRunner& shell, bool reusable) {
  std::string out;
  for (std::size_t i = 0; i < opt_rows.size(); ++i) {
    bool on = shell.options().set[i];
    if (reusable)
      out += fmt::format("set {}o {}\n", on ? '-' : '+', opt_rows[i].name);
    else
      out += fmt::format("{:<15}\t{}\n", opt_rows[i].name, on ? "on" : "off");
  }
  return out;
}

std::string list_variables(ShellRunner& shell) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : *shell.variables().table()) names.push_back(name);
  // Of the variables that are computed, the one that holds what -c was given is looked for in the list.
  auto given = computed_variable(shell, "BASH_EXECUTION_STRING");
  if (given && !shell.variables().find("BASH_EXECUTION_STRING")) names.emplace_back("BASH_EXECUTION_STRING");
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) {
    const Variable* found = shell.variables().find(name);
    const Variable& variable = found ? *found : *given;
    if (variable.is_array()) {
      if (variable.set || variable.has_elements()) out += name + "=" + array_literal(variable) + "\n";
    } else if (variable.set) {
      out += name + "=" + (variable.value.empty() ? "" : quote_if_needed(variable.value)) + "\n";
    }
  }
  if (!shell.option(Opt::posix))
    for (const auto& [name, function] : *shell.names().functions())
      out += print_function(name, *function.definition) + "\n";
  return out;
}

}  // namespace

int set(ShellRunner& shell, const Args& args) {
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
      shell.options().put(Opt::xtrace, false);
      shell.options().put(Opt::verbose, false);
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
        shell.options().set[static_cast<std::size_t>(index)] = on;
        if (name == "vi" && on) shell.options().put(Opt::emacs, false);
        if (name == "emacs" && on) shell.options().put(Opt::vi, false);
        continue;
      }
      int index = opt_index(c);
      if (index < 0) return bad_option(shell, args, fmt::format("{}{}", arg[0], c));
      shell.options().set[static_cast<std::size_t>(index)] = on;
    }
  }
  if (positional)
    shell.calls().args =
        std::make_shared<const Args>(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  return 0;
}

// extdebug brings tracing into functions with it.
void put_shopt(ShellRunner& shell, std::size_t which, bool on) {
  shell.options().shopt[which] = on;
  if (!on || static_cast<Shopt>(which) != Shopt::extdebug) return;
  shell.options().put(Opt::functrace, true);
  shell.options().put(Opt::errtrace, true);
}

int shopt(ShellRunner& shell, const Args& args) {
  bool on = false, off = false, quiet = false, print = false, set_names = false;
  OptionReader options(shell, args, "suqpo");
  while (char letter = options.next()) {
    switch (letter) {
      case 's': on = true; break;
      case 'u': off = true; break;
      case 'q': quiet = true; break;
      case 'p': print = true; break;
      case 'o': set_names = true; break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  if (on && off) {
    shell.error("shopt: cannot set and unset shell options simultaneously");
    return 1;
  }
  std::size_t count = set_names ? opt_rows.size() : shopt_names.size();
  auto name_of = [&](std::size_t i) { return set_names ? opt_rows[i].name : shopt_names[i]; };
  auto value_of = [&](std::size_t i) -> bool {
    return set_names ? shell.options().set[i] : shell.options().shopt[i];
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
        shell.options().set[i] = on;
      else
        put_shopt(shell, i, on);
      continue;
    }
    if (!value_of(i)) status = 1;
    if (!quiet) out += show(i);
  }
  return shell.print(out, "shopt") ? status : 1;
}

namespace {

// "u=rwx,g=rx,o=rx": what the mask allows.
std::string mask_letters(unsigned mask) {
  std::string out;
  for (int shift = 6; shift >= 0; shift -= 3) {
    unsigned bits = (~mask >> shift) & 7;
    out += shift == 6 ? "u=" : shift == 3 ? ",g=" : ",o=";
    if (bits & 4) out += 'r';
    if (bits & 2) out += 'w';
    if (bits & 1) out += 'x';
  }
  return out;
}

// False after a message, and the mask is as it was.
bool octal_mask(ShellRunner& shell, const std::string& mode, unsigned& mask) {
  unsigned value = 0;
  for (char c : mode) {
    bool digit = c >= '0' && c <= '7';
    if (digit) value = value * 8 + static_cast<unsigned>(c - '0');
    if (digit && value <= 0777) continue;
    shell.error(fmt::format("umask: {}: octal number out of range", mode));
    return false;
  }
  mask = value;
  return true;
}

// The bits that the letters of one clause mean, from mode[at] on to the comma. False after a message.
bool clause_bits(ShellRunner& shell, const std::string& mode, std::size_t& at, unsigned allowed,
                 unsigned& bits) {
  for (; at < mode.size() && mode[at] != ','; ++at) {
    switch (mode[at]) {
      case 'r': bits |= 0444; break;
      case 'w': bits |= 0222; break;
      case 'x': bits |= 0111; break;
      case 'u': bits |= ((allowed >> 6) & 7) * 0111; break;
      case 'g': bits |= ((allowed >> 3) & 7) * 0111; break;
      case 'o': bits |= (allowed & 7) * 0111; break;
      case 'X': break;
      default:
        shell.error(fmt::format("umask: `{}': invalid symbolic mode character", mode[at]));
        return false;
    }
  }
  return true;
}

// u=rwx,g-w and the like. False after a message, and the mask is as it was.
bool symbolic_mask(ShellRunner& shell, const std::string& mode, unsigned& mask) {
  auto is_operator = [&](std::size_t i) {
    return std::string_view("+-=").find(mode[i]) != std::string_view::npos;
  };
  unsigned allowed = ~mask & 0777;
  std::size_t at = 0;
  while (at < mode.size()) {
    unsigned who = 0;
    for (; at < mode.size() && std::string_view("ugoa").find(mode[at]) != std::string_view::npos; ++at)
      who |= mode[at] == 'u' ? 0700U : mode[at] == 'g' ? 0070U : mode[at] == 'o' ? 0007U : 0777U;
    if (!who) who = 0777;
    if (at >= mode.size() || !is_operator(at)) {
      shell.error(
          fmt::format("umask: `{}': invalid symbolic mode operator", at < mode.size() ? mode[at] : ' '));
      return false;
    }
    while (at < mode.size() && is_operator(at)) {
      char op = mode[at++];
      unsigned bits = 0;
      if (!clause_bits(shell, mode, at, allowed, bits)) return false;
      bits &= who;
      if (op == '+')
        allowed |= bits;
      else if (op == '-')
        allowed &= ~bits;
      else
        allowed = (allowed & ~who) | bits;
    }
    if (at < mode.size() && mode[at] == ',') ++at;
  }
  mask = ~allowed & 0777;
  return true;
}

}  // namespace

int umask(ShellRunner& shell, const Args& args) {
  bool symbolic = false, reusable = false;
  OptionReader options(shell, args, "Sp");
  while (char letter = options.next()) {
    switch (letter) {
      case 'S': symbolic = true; break;
      case 'p': reusable = true; break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  if (at >= args.size()) {
    std::string text = symbolic ? mask_letters(shell.descriptors().umask())
                                : fmt::format("{:04o}", shell.descriptors().umask());
    if (reusable) text = symbolic ? "umask -S " + text : "umask " + text;
    return shell.print(text + "\n", "umask") ? 0 : 1;
  }
  const std::string& mode = args[at];
  if (mode.empty()) {
    shell.error("umask: `': invalid symbolic mode operator");
    return 1;
  }
  unsigned mask = shell.descriptors().umask();
  bool octal = std::isdigit(static_cast<unsigned char>(mode[0]));
  if (!(octal ? octal_mask(shell, mode, mask) : symbolic_mask(shell, mode, mask))) return 1;
  shell.descriptors().set_umask(mask);
  if (symbolic && !octal) return shell.print(mask_letters(mask) + "\n", "umask") ? 0 : 1;
  return 0;
}

}  // namespace atl::shell::builtins
