#include <fmt/format.h>

#include <algorithm>

#include "shell/builtins/builtins.h"
#include "shell/builtins/option_reader.h"
#include "shell/command_table.h"
#include "shell/pattern.h"
#include "shell/quoting.h"
#include "shell/reserved_words.h"

namespace atl::shell::builtins {

namespace {

// Where a name leads as a program, or empty.
std::string program_path(ShellRunner& shell, const std::string& name, bool use_default = false) {
  if (name.find('/') != std::string::npos) {
    auto path = shell.descriptors().path_of(name);
    auto stat = path ? shell.machine().fs.find(*path) : std::nullopt;
    if (stat && stat->is_file() && shell.descriptors().permitted(*stat, 1)) return name;
    // Commands of the table need no file.
    if (!stat && (name.starts_with("/bin/") || name.starts_with("/usr/bin/")) &&
        find_command(name.substr(name.rfind('/') + 1)))
      return name;
    return {};
  }
  std::string shown;
  shell.names().find_in_path(name, &shown, use_default);
  return shown;
}

std::vector<std::string> all_paths(ShellRunner& shell, const std::string& name) {
  std::vector<std::string> out;
  std::string path = shell.variables().get_or_empty("PATH");
  for (std::size_t from = 0; from <= path.size();) {
    std::size_t colon = path.find(':', from);
    std::string directory = path.substr(from, colon == std::string::npos ? colon : colon - from);
    from = colon == std::string::npos ? path.size() + 1 : colon + 1;
    // An empty entry of PATH is the working directory.
    std::string full = directory.empty() ? "./" + name : directory + "/" + name;
    if (!program_path(shell, full).empty()) out.push_back(full);
  }
  return out;
}

struct TypeOptions {
  bool all = false, no_functions = false, word = false, path_only = false, force_path = false;
};

bool describe_name(ShellRunner& shell, const std::string& name, const TypeOptions& options,
                   std::string& out) {
  bool found = false;
  auto say = [&](std::string_view word, const std::string& sentence) {
    found = true;
    if (options.path_only || options.force_path) return;
    out += options.word ? fmt::format("{}\n", word) : sentence + "\n";
  };
  if (!options.force_path) {
    if (const std::string* text = shell.option(Shopt::expand_aliases) ? shell.names().alias(name) : nullptr) {
      say("alias", fmt::format("{} is aliased to `{}'", name, *text));
      if (!options.all) return true;
    }
    if (is_reserved_word(name)) {
      say("keyword", fmt::format("{} is a shell keyword", name));
      if (!options.all) return true;
    }
    const Function* function = options.no_functions ? nullptr : shell.names().find_function(name);
    if (function) {
      say("function", fmt::format("{} is a function\n{}", name, print_function(name, *function->definition)));
      if (!options.all) return true;
    }
    if (const Builtin* builtin = shell.names().find_enabled_builtin(name)) {
      say("builtin", builtin->special && shell.option(Opt::posix)
                         ? fmt::format("{} is a special shell builtin", name)
                         : fmt::format("{} is a shell builtin", name));
      if (!options.all) return true;
    }
  }
  std::vector<std::string> paths;
  auto hashed = shell.names().hashed()->find(name);
  if (options.all && name.find('/') == std::string::npos)
    paths = all_paths(shell, name);
  else if (hashed != shell.names().hashed()->end() && !options.force_path && !options.all) {
    found = true;
    out += options.word        ? "file\n"
           : options.path_only ? hashed->second + "\n"
                               : fmt::format("{} is hashed ({})\n", name, hashed->second);
    return true;
  } else if (std::string path = program_path(shell, name); !path.empty())
    paths.push_back(path);
  for (const std::string& path : paths) {
    found = true;
    if (options.path_only || options.force_path)
      out += path + "\n";
    else
      out += options.word ? "file\n" : fmt::format("{} is {}\n", name, path);
  }
  return found;
}

}  // namespace

int type(ShellRunner& shell, const Args& args) {
  TypeOptions wanted;
  OptionReader options(shell, args, "aftpP");
  while (char letter = options.next()) {
    switch (letter) {
      case 'a': wanted.all = true; break;
      case 'f': wanted.no_functions = true; break;
      case 't': wanted.word = true; break;
      case 'p': wanted.path_only = true; break;
      case 'P': wanted.force_path = true; break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  std::string out;
  int status = 0;
  for (; at < args.size(); ++at) {
    if (describe_name(shell, args[at], wanted, out)) continue;
    status = 1;
    if (!wanted.word && !wanted.path_only && !wanted.force_path) {
      // What was found so far goes out before the message, so that both streams together read in order.
      shell.print(out, "type");
      out.clear();
      shell.error(fmt::format("type: {}: not found", args[at]));
    }
  }
  return shell.print(out, "type") ? status : 1;
}

int command(ShellRunner& shell, const Args& args) {
  bool brief = false, verbose = false, use_default = false;
  OptionReader options(shell, args, "vVp");
  while (char letter = options.next()) {
    switch (letter) {
      case 'v': brief = true; break;
      case 'V': verbose = true; break;
      case 'p': use_default = true; break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  if (at >= args.size()) return 0;
  if (!brief && !verbose) {
    Args rest(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
    shell.executor().drop_argument_assigns(at);
    return shell.executor().run_arguments(
        rest, {.functions = false, .builtins = true, .default_path = use_default});
  }
  std::string out;
  int status = 1;
  for (; at < args.size(); ++at) {
    const std::string& name = args[at];
    if (verbose) {
      if (!describe_name(shell, name, {}, out)) {
        shell.error(fmt::format("command: {}: not found", name));
      } else {
        status = 0;
      }
      continue;
    }
    if (const std::string* text = shell.option(Shopt::expand_aliases) ? shell.names().alias(name) : nullptr)
      out += fmt::format("alias {}={}\n", name, quote_single(*text));
    else if (is_reserved_word(name) || shell.names().find_function(name) ||
             shell.names().find_enabled_builtin(name))
      // command -v prints names of the shell as they are and programs by their path.
      out += name + "\n";
    else if (std::string path = program_path(shell, name, use_default); !path.empty())
      out += path + "\n";
    else
      continue;
    status = 0;
  }
  return shell.print(out, "command") ? status : 1;
}

int builtin(ShellRunner& shell, const Args& args) {
  std::size_t at = args.size() > 1 && args[1] == "--" ? 2 : 1;
  if (args.size() <= at) return 0;
  if (args[at].size() > 1 && args[at][0] == '-' && at == 1)
    return bad_option(shell, args, args[at].substr(0, 2));
  const Builtin* found = shell.names().find_enabled_builtin(args[at]);
  if (!found) {
    shell.error(fmt::format("builtin: {}: not a shell builtin", args[at]));
    return 1;
  }
  Args rest(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  shell.executor().drop_argument_assigns(at);
  return shell.executor().run_builtin(*found, rest);
}

int hash(ShellRunner& shell, const Args& args) {
  bool remove = false, list = false, target = false;
  std::string path;
  OptionReader options(shell, args, "rdltp:");
  while (char letter = options.next()) {
    switch (letter) {
      case 'r': shell.names().hashed().edit().clear(); break;
      case 'd': remove = true; break;
      case 'l': list = true; break;
      case 't': target = true; break;
      case 'p': path = options.value(); break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  if (at >= args.size()) {
    if (args.size() > 1 && !list) return 0;
    if (list && shell.names().hashed()->empty()) return 0;
    if (shell.names().hashed()->empty()) {
      return shell.print("hash: hash table empty\n", "hash") ? 0 : 1;
    }
    std::string out = list ? "" : "hits\tcommand\n";
    for (const auto& [name, where] : *shell.names().hashed())
      out +=
          list ? fmt::format("builtin hash -p {} {}\n", where, name) : fmt::format("{:>4}\t{}\n", 0, where);
    return shell.print(out, "hash") ? 0 : 1;
  }
  int status = 0;
  std::string out;
  bool several = args.size() - at > 1;
  for (; at < args.size(); ++at) {
    const std::string& name = args[at];
    auto it = shell.names().hashed()->find(name);
    if (remove || target) {
      if (it == shell.names().hashed()->end()) {
        if (remove) continue;
        shell.error(fmt::format("hash: {}: not found", name));
        status = 1;
      } else if (remove) {
        shell.names().hashed().edit().erase(name);
      } else {
        if (list)
          out += fmt::format("builtin hash -p {} {}\n", it->second, name);
        else
          out += several ? fmt::format("{}\t{}\n", name, it->second) : it->second + "\n";
      }
      continue;
    }
    std::string where = path.empty() ? program_path(shell, name) : path;
    if ((find_builtin(name) && path.empty()) || name.find('/') != std::string::npos) continue;
    // An entry that leads nowhere any more does not survive a failed search.
    if (path.empty()) shell.names().hashed().edit().erase(name);
    if (where.empty()) {
      shell.error(fmt::format("hash: {}: not found", name));
      status = 1;
      continue;
    }
    shell.names().hashed().edit()[name] = where;
  }
  return shell.print(out, "hash") ? status : 1;
}

int enable(ShellRunner& shell, const Args& args) {
  bool off = false, all = false, special = false;
  OptionReader options(shell, args, "nasp");
  while (char letter = options.next()) {
    switch (letter) {
      case 'n': off = true; break;
      case 'a': all = true; break;
      case 's': special = true; break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  auto disabled = [&](std::string_view name) {
    return std::find(shell.names().disabled()->begin(), shell.names().disabled()->end(), name) !=
           shell.names().disabled()->end();
  };
  if (at >= args.size()) {
    std::string out;
    for (const Builtin* row : all_builtins()) {
      if (special && !row->special) continue;
      bool is_off = disabled(row->name);
      if (all)
        out += fmt::format("enable {}{}\n", is_off ? "-n " : "", row->name);
      else if (is_off == off)
        out += fmt::format("enable {}{}\n", off ? "-n " : "", row->name);
    }
    return shell.print(out, "enable") ? 0 : 1;
  }
  int status = 0;
  for (; at < args.size(); ++at) {
    if (!find_builtin(args[at])) {
      shell.error(fmt::format("enable: {}: not a shell builtin", args[at]));
      status = 1;
      continue;
    }
    std::erase(shell.names().disabled().edit(), args[at]);
    if (off) shell.names().disabled().edit().push_back(args[at]);
  }
  return status;
}

int alias(ShellRunner& shell, const Args& args) {
  std::string out;
  int status = 0;
  std::size_t at = 1;
  bool print = args.size() == 1;
  if (at < args.size() && args[at] == "-p")
    print = true, ++at;
  else if (at < args.size() && args[at].size() > 1 && args[at][0] == '-' && args[at] != "--")
    return bad_option(shell, args, args[at].substr(0, 2));
  if (at < args.size() && args[at] == "--") ++at;
  if (print)
    for (const auto& [name, text] : *shell.names().aliases())
      out += fmt::format("alias {}={}\n", name, quote_single(text));
  for (; at < args.size(); ++at) {
    std::size_t equals = args[at].find('=');
    if (equals != std::string::npos && equals > 0) {
      std::string name = args[at].substr(0, equals);
      if (name.find_first_of("/$`\\\"'<>&;|() \t\n") != std::string::npos) {
        shell.error(fmt::format("alias: `{}': invalid alias name", name));
        status = 1;
        continue;
      }
      shell.names().aliases().edit().insert_or_assign(name, args[at].substr(equals + 1));
      continue;
    }
    const std::string* text = shell.names().alias(args[at]);
    if (!text) {
      shell.error(fmt::format("alias: {}: not found", args[at]));
      status = 1;
      continue;
    }
    out += fmt::format("alias {}={}\n", args[at], quote_single(*text));
  }
  return shell.print(out, "alias") ? status : 1;
}

int unalias(ShellRunner& shell, const Args& args) {
  if (args.size() < 2) return usage(shell, args);
  if (args[1] == "-a") {
    shell.names().aliases().edit().clear();
    return 0;
  }
  int status = 0;
  for (std::size_t at = args[1] == "--" ? 2 : 1; at < args.size(); ++at) {
    auto& aliases = shell.names().aliases().edit();
    auto it = aliases.find(args[at]);
    if (it == aliases.end()) {
      shell.error(fmt::format("unalias: {}: not found", args[at]));
      status = 1;
    } else {
      aliases.erase(it);
    }
  }
  return status;
}

int help(ShellRunner& shell, const Args& args) {
  std::string out;
  bool summary = false;
  OptionReader options(shell, args, "sdm");
  while (char letter = options.next()) {
    switch (letter) {
      case 'd': summary = true; break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  if (at >= args.size()) {
    out =
        "Atoll's emulated bash. These commands are part of the shell; type `help name' for one of them.\n\n";
    for (const Builtin* row : all_builtins()) out += fmt::format(" {}\n", row->synopsis);
    out += "\nThese commands work on its filesystem:\n\n";
    for (const Command& row : command_table()) out += fmt::format(" {:<12} {}\n", row.name, row.summary);
    return shell.print(out, "help") ? 0 : 1;
  }
  int status = 0;
  for (; at < args.size(); ++at) {
    bool any = false;
    Pattern pattern(args[at], {});
    for (const Builtin* row : all_builtins()) {
      if (!pattern.matches(row->name)) continue;
      any = true;
      if (summary)
        out += fmt::format("{} - {}\n", row->name, row->synopsis);
      else
        out += fmt::format("{}: {}\n", row->name, row->synopsis);
    }
    if (const Command* row = find_command(args[at])) {
      any = true;
      out += fmt::format("{}: {}\n", row->name, row->summary);
    }
    if (!any) {
      shell.error(
          fmt::format("help: no help topics match `{}'.  Try `help help' or `man -k {}' or `info {}'.",
                      args[at], args[at], args[at]));
      status = 1;
    }
  }
  return shell.print(out, "help") ? status : 1;
}

}  // namespace atl::shell::builtins
