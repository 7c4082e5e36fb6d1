#include "shell/computed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <random>

#include "shell/runner.h"

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

// FUNCNAME, BASH_SOURCE and BASH_LINENO: one entry a level, innermost first.
Variable call_stack(const ShellRunner& shell, std::string_view name) {
  std::vector<std::string> names, sources, lines;
  bool any_function = false;
  for (std::size_t i = shell.calls().frames.size(); i-- > 0;) {
    const Frame& frame = *shell.calls().frames[i];
    if (frame.name.empty()) continue;  // assignments before a command
    any_function = any_function || frame.function;
    names.push_back(frame.name);
    sources.push_back(frame.source);
    lines.push_back(std::to_string(frame.call_line));
  }
  bool from_file = shell.origin().script_name != "environment" && !shell.origin().script_name.empty();
  if (!names.empty()) {
    // bash -c has no frame called main, a script file has.
    if (from_file) {
      names.push_back("main");
      sources.push_back(shell.origin().script_name);
      lines.push_back("0");
    }
  } else if (from_file) {
    sources.push_back(shell.origin().script_name);
    lines.push_back("0");
  }
  if (name == "FUNCNAME") {
    // Outside of functions FUNCNAME is declared and unset.
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

// BASH_ARGC and BASH_ARGV: how many arguments each level was called with, and all of them, the last one
// first.
Variable call_arguments(const ShellRunner& shell, bool counts) {
  std::vector<std::string> out;
  auto level = [&](const Args* args) {
    if (counts)
      out.push_back(std::to_string(args ? args->size() : 0));
    else if (args)
      out.insert(out.end(), args->rbegin(), args->rend());
  };
  for (std::size_t i = shell.calls().frames.size(); i-- > 0;)
    if (shell.calls().frames[i]->args) level(shell.calls().frames[i]->args.get());
  if (shell.option(Shopt::extdebug) || !out.empty())
    level(shell.calls().frames.empty() ? shell.calls().args.get() : nullptr);
  return list_value(std::move(out));
}

// The names of options that are set, with colons between them: SHELLOPTS and BASHOPTS.
template <class NameIfSet>
Variable option_names(std::size_t count, NameIfSet name_if_set) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view name = name_if_set(i);
    if (name.empty()) continue;
    if (!text.empty()) text += ':';
    text += name;
  }
  return scalar_value(std::move(text), attr::readonly);
}

Variable bash_options(ShellRunner& shell) {
  return option_names(shopt_names.size(), [&](std::size_t i) {
    return shell.options().shopt[i] ? shopt_names[i] : std::string_view();
  });
}

Variable shell_options(ShellRunner& shell) {
  return option_names(opt_rows.size(), [&](std::size_t i) {
    return shell.options().set[i] ? opt_rows[i].name : std::string_view();
  });
}

Variable directory_stack(ShellRunner& shell) {
  std::vector<std::string> stack{shell.variables().get_or_empty("PWD")};
  const auto& rest = shell.descriptors().directories();
  stack.insert(stack.end(), rest.begin(), rest.end());
  return list_value(std::move(stack));
}

Variable pipe_status(ShellRunner& shell) {
  std::vector<std::string> values;
  for (int status : shell.last().pipe_status) values.push_back(std::to_string(status));
  return list_value(std::move(values));
}

Variable epoch_realtime(ShellRunner& shell) {
  std::int64_t micros = unix_micros(shell.machine().clock.now());
  return scalar_value(fmt::format("{}.{:06}", micros / 1'000'000, micros % 1'000'000));
}

Variable next_random(ShellRunner& shell) {
  std::uint64_t& random = shell.variables().specials().random;
  // A linear congruential generator (Knuth's constants): the same seed gives the same sequence, as scripts
  // expect. Its high bits are the good ones.
  random = random * 6364136223846793005ULL + 1442695040888963407ULL;
  return scalar_value(std::to_string((random >> 33) & 0x7FFF), attr::integer);
}

Variable seconds(ShellRunner& shell) {
  const Variables::Specials& specials = shell.variables().specials();
  auto passed = std::chrono::steady_clock::now() - specials.seconds_base;
  auto whole = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
  return scalar_value(std::to_string(whole + specials.seconds_offset), attr::integer);
}

Variable process_id(ShellRunner& shell) {
  return scalar_value(std::to_string(shell.process() ? shell.process()->pid : shell.origin().pid));
}

struct Computed {
  std::string_view name;
  Variable (*value)(ShellRunner&);
};
constexpr std::uint16_t fixed_number = attr::readonly | attr::integer;

// Sorted by name.
constexpr Computed computed_table[] = {
    {"BASH", [](ShellRunner&) { return scalar_value("/bin/bash"); }},
    {"BASHOPTS", bash_options},
    {"BASHPID", process_id},
    {"BASH_ALIASES", [](ShellRunner& shell) { return table_value(*shell.names().aliases()); }},
    {"BASH_ARGC", [](ShellRunner& shell) { return call_arguments(shell, true); }},
    {"BASH_ARGV", [](ShellRunner& shell) { return call_arguments(shell, false); }},
    {"BASH_ARGV0", [](ShellRunner& shell) { return scalar_value(shell.calls().arg0); }},
    {"BASH_CMDS", [](ShellRunner& shell) { return table_value(*shell.names().hashed()); }},
    {"BASH_COMMAND", [](ShellRunner& shell) { return scalar_value(shell.executor().current_command()); }},
    {"BASH_EXECUTION_STRING",
     [](ShellRunner& shell) { return scalar_value(shell.origin().execution_string); }},
    {"BASH_LINENO", [](ShellRunner& shell) { return call_stack(shell, "BASH_LINENO"); }},
    {"BASH_SOURCE", [](ShellRunner& shell) { return call_stack(shell, "BASH_SOURCE"); }},
    {"BASH_SUBSHELL",
     [](ShellRunner& shell) { return scalar_value(std::to_string(shell.subshell_level())); }},
    {"BASH_VERSINFO",
     [](ShellRunner&) {
       return list_value({"5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"}, attr::readonly);
     }},
    {"BASH_VERSION", [](ShellRunner&) { return scalar_value("5.2.15(1)-release"); }},
    {"DIRSTACK", directory_stack},
    {"EPOCHREALTIME", epoch_realtime},
    {"EPOCHSECONDS",
     [](ShellRunner& shell) {
       return scalar_value(std::to_string(unix_micros(shell.machine().clock.now()) / 1'000'000));
     }},
    {"EUID", [](ShellRunner&) { return scalar_value("1000", fixed_number); }},
    {"FUNCNAME", [](ShellRunner& shell) { return call_stack(shell, "FUNCNAME"); }},
    {"GROUPS", [](ShellRunner&) { return list_value({"1000"}); }},
    {"HOSTNAME", [](ShellRunner&) { return scalar_value("atoll"); }},
    {"HOSTTYPE", [](ShellRunner&) { return scalar_value("x86_64"); }},
    {"LINENO", [](ShellRunner& shell) { return scalar_value(std::to_string(shell.calls().line)); }},
    {"MACHTYPE", [](ShellRunner&) { return scalar_value("x86_64-pc-linux-gnu"); }},
    {"OSTYPE", [](ShellRunner&) { return scalar_value("linux-gnu"); }},
    {"PIPESTATUS", pipe_status},
    {"PPID", [](ShellRunner&) { return scalar_value("1", fixed_number); }},
    {"RANDOM", next_random},
    {"SECONDS", seconds},
    {"SHELLOPTS", shell_options},
    {"SRANDOM",
     [](ShellRunner&) { return scalar_value(std::to_string(std::random_device()()), attr::integer); }},
    {"UID", [](ShellRunner&) { return scalar_value("1000", fixed_number); }},
    {"_", [](ShellRunner& shell) { return scalar_value(shell.last().argument); }},
};
static_assert(std::ranges::is_sorted(computed_table, {}, &Computed::name));

}  // namespace

std::optional<Variable> computed_variable(ShellRunner& shell, std::string_view name) {
  // Most names of scripts are in lower case, and none of ours is but "_".
  if (name.empty() || ((name[0] < 'A' || name[0] > 'Z') && name != "_")) return std::nullopt;
  const Computed* row = std::ranges::lower_bound(computed_table, name, {}, &Computed::name);
  if (row == std::end(computed_table) || row->name != name) return std::nullopt;
  // Set only by bash -c.
  if (name == "BASH_EXECUTION_STRING" && shell.origin().execution_string.empty()) return std::nullopt;
  return row->value(shell);
}

std::string option_letters(const ShellRunner& shell) {
  std::string out;
  for (std::size_t i = 0; i < opt_rows.size(); ++i)
    if (opt_rows[i].letter && shell.options().set[i]) out += opt_rows[i].letter;
  // The order of bash's $-: lower case, upper case, then i and c.
  std::sort(out.begin(), out.end(), [](char a, char b) {
    bool upper_a = std::isupper(static_cast<unsigned char>(a)),
         upper_b = std::isupper(static_cast<unsigned char>(b));
    return upper_a != upper_b ? !upper_a : a < b;
  });
  if (shell.origin().interactive) out += 'i';
  if (shell.origin().from_command_line) out += 'c';
  return out;
}

}  // namespace atl::shell
