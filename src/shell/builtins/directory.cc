#include <fmt/format.h>

#include "shell/builtins/builtins.h"
#include "shell/builtins/option_reader.h"

namespace atl::shell::builtins {

namespace {

std::string clean(const std::string& path) {
  auto parsed = vfs::Path::posix(path);
  return parsed ? parsed->str() : path;
}

// Goes to `path` (absolute or relative). False with a message.
bool go(ShellRunner& shell, std::string_view who, const std::string& path, bool physical,
        bool quiet = false) {
  std::string old = shell.variables().get_or_empty("PWD");
  std::string logical =
      path.starts_with('/') ? path : (old.empty() ? shell.descriptors().cwd().str() : old) + "/" + path;
  Result<vfs::Path> target = vfs::Path();
  if (!physical) {
    // Every directory that ".." leaves must exist.
    target = vfs::Path::posix(logical);
    if (target && path.find("..") != std::string::npos) {
      std::size_t dots = logical.find("/..");
      auto before = vfs::Path::posix(logical.substr(0, dots));
      if (before && !shell.machine().fs.is_directory(*before)) target = atl::fail(Code::not_found, "");
    }
  } else {
    target = vfs::resolve(shell.machine().fs, shell.descriptors().cwd(), path);
    if (target) target = shell.machine().fs.real_path(*target);
  }
  Code code = Code::not_found;
  bool ok = false;
  if (target) {
    auto stat = shell.machine().fs.stat(*target);
    if (!stat)
      code = stat.error().code();
    else if (!stat->is_directory())
      code = Code::not_a_directory;
    else if (!shell.descriptors().permitted(*stat, 1))
      code = Code::permission_denied;
    else
      ok = true;
  } else {
    code = target.error().code();
  }
  if (!ok) {
    if (!quiet) shell.error(fmt::format("{}: {}: {}", who, path, vfs::strerror(code)));
    return false;
  }
  // OLDPWD and PWD only when it worked.
  shell.descriptors().set_cwd(*target);
  shell.variables().assign("OLDPWD", old);
  shell.variables().assign("PWD", target->str());
  return true;
}

std::string tilde_form(ShellRunner& shell, const std::string& path) {
  std::string home = shell.variables().get_or_empty("HOME");
  if (!home.empty() && home != "/" && (path == home || path.starts_with(home + "/")))
    return "~" + path.substr(home.size());
  return path;
}

std::vector<std::string> stack(ShellRunner& shell) {
  std::vector<std::string> out{shell.variables().get_or_empty("PWD")};
  out.insert(out.end(), shell.descriptors().directories().begin(), shell.descriptors().directories().end());
  return out;
}

void show(ShellRunner& shell) {
  std::string out;
  for (const std::string& path : stack(shell)) out += (out.empty() ? "" : " ") + tilde_form(shell, path);
  shell.print(out + "\n", "dirs");
}

// "+2" or "-1" to an index into the stack; false if it is no such thing.
bool rotation(const std::string& text, std::size_t size, std::size_t& index) {
  std::int64_t number = 0;
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-') || !parse_int(text.substr(1), number) ||
      number < 0)
    return false;
  auto n = static_cast<std::size_t>(number);
  index = text[0] == '+' ? n : (n < size ? size - 1 - n : size);
  return true;
}

}  // namespace

int cd(ShellRunner& shell, const Args& args) {
  bool physical = shell.option(Opt::physical);
  OptionReader options(shell, args, "PLe@");
  while (char letter = options.next()) {
    if (letter == 'P' || letter == 'L') physical = letter == 'P';
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  if (args.size() > at + 1) return shell.fail(args, "too many arguments");
  std::string target;
  bool print = false;
  if (at >= args.size()) {
    auto home = shell.variables().get_value("HOME");
    if (!home) return shell.fail(args, "HOME not set");
    target = *home;
    if (target.empty()) return 0;
  } else if (args[at] == "-") {
    auto old = shell.variables().get_value("OLDPWD");
    if (!old) return shell.fail(args, "OLDPWD not set");
    target = *old;
    print = true;
  } else {
    target = args[at];
    if (target.empty()) return 0;
    // CDPATH is not asked for names that say where they are.
    bool searched = target[0] != '/' && target != "." && target != ".." && !target.starts_with("./") &&
                    !target.starts_with("../");
    std::string path = searched ? shell.variables().get_or_empty("CDPATH") : "";
    for (std::size_t from = 0; !path.empty() && from <= path.size();) {
      std::size_t colon = path.find(':', from);
      std::string directory = path.substr(from, colon == std::string::npos ? colon : colon - from);
      from = colon == std::string::npos ? path.size() + 1 : colon + 1;
      std::string candidate = (directory.empty() ? "." : directory) + "/" + target;
      if (go(shell, "cd", candidate, physical, true)) {
        if (!directory.empty() && directory != ".")
          shell.print(shell.variables().get_or_empty("PWD") + "\n", "cd");
        return 0;
      }
    }
  }
  if (shell.option(Shopt::cdable_vars) && shell.variables().find(target) &&
      !go(shell, "cd", target, physical, true)) {
    target = shell.variables().get_or_empty(target);
    print = true;
  }
  if (!go(shell, "cd", target, physical)) return 1;
  if (print) shell.print(shell.variables().get_or_empty("PWD") + "\n", "cd");
  return 0;
}

int pwd(ShellRunner& shell, const Args& args) {
  bool physical = shell.option(Opt::physical);
  OptionReader options(shell, args, "PL");
  while (char letter = options.next()) physical = letter == 'P';
  if (options.failed()) return options.status();
  std::string path = shell.descriptors().cwd().str();
  if (physical) {
    auto real = shell.machine().fs.real_path(shell.descriptors().cwd());
    if (real) path = real->str();
  }
  return shell.print(path + "\n", "pwd") ? 0 : 1;
}

int pushd(ShellRunner& shell, const Args& args) {
  std::size_t at = 1;
  bool stay = false;
  if (at < args.size() && args[at] == "-n") stay = true, ++at;
  if (at < args.size() && args[at] == "--") ++at;
  std::vector<std::string> all = stack(shell);
  if (args.size() > at + 1) {
    shell.error("pushd: too many arguments");
    return 1;
  }
  if (at >= args.size()) {
    if (all.size() < 2) return shell.fail(args, "no other directory");
    std::string next = all[1];
    if (!go(shell, "pushd", next, false)) return 1;
    shell.descriptors().directories()[0] = all[0];
    show(shell);
    return 0;
  }
  std::size_t index = 0;
  if (rotation(args[at], all.size(), index)) {
    if (index >= all.size() && all.size() < 2) return shell.fail(args, "directory stack empty");
    if (index >= all.size()) {
      shell.error(fmt::format("pushd: {}: directory stack index out of range", args[at]));
      return 1;
    }
    std::vector<std::string> turned(all.begin() + static_cast<std::ptrdiff_t>(index), all.end());
    turned.insert(turned.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(index));
    if (!stay && !go(shell, "pushd", turned[0], false)) return 1;
    shell.descriptors().directories().assign(turned.begin() + 1, turned.end());
    show(shell);
    return 0;
  }
  if (args[at].size() > 1 && args[at][0] == '-') {
    shell.error(fmt::format("pushd: {}: invalid number", args[at]));
    return usage(shell, args);
  }
  if (stay) {
    shell.descriptors().directories().insert(shell.descriptors().directories().begin(),
                                             clean(args[at][0] == '/' ? args[at] : all[0] + "/" + args[at]));
  } else {
    if (!go(shell, "pushd", args[at], false)) return 1;
    shell.descriptors().directories().insert(shell.descriptors().directories().begin(), all[0]);
  }
  show(shell);
  return 0;
}

int popd(ShellRunner& shell, const Args& args) {
  std::size_t at = 1;
  bool stay = false;
  if (at < args.size() && args[at] == "-n") stay = true, ++at;
  if (at < args.size() && args[at] == "--") ++at;
  if (args.size() > at + 1) {
    shell.error("popd: too many arguments");
    return 2;
  }
  std::vector<std::string> all = stack(shell);
  std::size_t index = 0;
  if (at < args.size()) {
    if (!rotation(args[at], all.size(), index)) {
      shell.error(fmt::format("popd: {}: invalid argument", args[at]));
      return usage(shell, args);
    }
  } else if (stay) {
    index = 1;
  }
  if (all.size() < 2) return shell.fail(args, "directory stack empty");
  if (index >= all.size()) {
    shell.error(fmt::format("popd: {}: directory stack index out of range", args[at]));
    return 1;
  }
  if (index == 0) {
    std::string next = shell.descriptors().directories().front();
    if (!go(shell, "popd", next, false)) return 1;
    shell.descriptors().directories().erase(shell.descriptors().directories().begin());
  } else {
    shell.descriptors().directories().erase(shell.descriptors().directories().begin() +
                                            static_cast<std::ptrdiff_t>(index) - 1);
  }
  show(shell);
  return 0;
}

int dirs(ShellRunner& shell, const Args& args) {
  bool full = false, lines = false, numbers = false;
  std::vector<std::string> all = stack(shell);
  for (std::size_t at = 1; at < args.size(); ++at) {
    std::size_t index = 0;
    if (rotation(args[at], all.size(), index)) {
      if (index >= all.size() && all.size() < 2) return shell.fail(args, "directory stack empty");
      if (index >= all.size()) {
        shell.error(fmt::format("dirs: {}: directory stack index out of range", args[at]));
        return 1;
      }
      return shell.print((full ? all[index] : tilde_form(shell, all[index])) + "\n", "dirs") ? 0 : 1;
    }
    if (args[at].size() < 2 || args[at][0] != '-') {
      shell.error(fmt::format("dirs: {}: invalid option", args[at]));
      return usage(shell, args);
    }
    for (char c : args[at].substr(1)) {
      if (c == 'c') {
        shell.descriptors().directories().clear();
        return 0;
      }
      if (c == 'l')
        full = true;
      else if (c == 'p')
        lines = true;
      else if (c == 'v')
        lines = numbers = true;
      else {
        shell.error(fmt::format("dirs: -{}: invalid number", c));
        return usage(shell, args);
      }
    }
  }
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (numbers) out += fmt::format("{:2}  ", i);
    out += full ? all[i] : tilde_form(shell, all[i]);
    out += lines || i + 1 == all.size() ? "\n" : " ";
  }
  return shell.print(out, "dirs") ? 0 : 1;
}

}  // namespace atl::shell::builtins
