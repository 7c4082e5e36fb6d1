#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "shell/builtins/builtins.h"

namespace atl::shell {

namespace {

using namespace builtins;

// By name.
constexpr Builtin builtin_rows[] = {
    {".", source, true, false, ". filename [arguments]"},
    {":", colon, true, false, ":"},
    {"[", test, false, false, "[ arg... ]"},
    {"alias", alias, false, false, "alias [-p] [name[=value] ... ]"},
    {"bg", fg, false, false, "bg [job_spec ...]"},
    {"bind", bind, false, false,
     "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] "
     "[keyseq:readline-function or readline-command]"},
    {"break", break_, true, false, "break [n]"},
    {"builtin", builtin, false, false, "builtin [shell-builtin [arg ...]]"},
    {"caller", caller, false, false, "caller [expr]"},
    {"cd", cd, false, false, "cd [-L|[-P [-e]] [-@]] [dir]"},
    {"command", command, false, false, "command [-pVv] command [arg ...]"},
    {"compgen", compgen, false, false,
     "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] "
     "[-X filterpat] [-P prefix] [-S suffix] [word]"},
    {"complete", complete, false, false,
     "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] "
     "[-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]"},
    {"compopt", compopt, false, false, "compopt [-o|+o option] [-DEI] [name ...]"},
    {"continue", continue_, true, false, "continue [n]"},
    {"declare", declare, false, true,
     "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]"},
    {"dirs", dirs, false, false, "dirs [-clpv] [+N] [-N]"},
    {"disown", disown, false, false, "disown [-h] [-ar] [jobspec ... | pid ...]"},
    {"echo", echo, false, false, "echo [-neE] [arg ...]"},
    {"enable", enable, false, false, "enable [-a] [-dnps] [-f filename] [name ...]"},
    {"eval", eval, true, false, "eval [arg ...]"},
    {"exec", exec, true, false, "exec [-cl] [-a name] [command [argument ...]] [redirection ...]"},
    {"exit", exit, true, false, "exit [n]"},
    {"export", export_, true, true, "export [-fn] [name[=value] ...] or export -p"},
    {"false", false_, false, false, "false"},
    {"fc", fc, false, false, "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]"},
    {"fg", fg, false, false, "fg [job_spec]"},
    {"getopts", getopts, false, false, "getopts optstring name [arg ...]"},
    {"hash", hash, false, false, "hash [-lr] [-p pathname] [-dt] [name ...]"},
    {"help", help, false, false, "help [-dms] [pattern ...]"},
    {"history", history, false, false,
     "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]"},
    {"jobs", jobs, false, false, "jobs [-lnprs] [jobspec ...] or jobs -x command [args]"},
    {"kill", kill, false, false,
     "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]"},
    {"let", let, false, false, "let arg [arg ...]"},
    {"local", local, false, true, "local [option] name[=value] ..."},
    {"logout", exit, false, false, "logout [n]"},
    {"mapfile", mapfile, false, false,
     "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]"},
    {"popd", popd, false, false, "popd [-n] [+N | -N]"},
    {"printf", printf, false, false, "printf [-v var] format [arguments]"},
    {"pushd", pushd, false, false, "pushd [-n] [+N | -N | dir]"},
    {"pwd", pwd, false, false, "pwd [-LP]"},
    {"read", read, false, false,
     "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] "
     "[name ...]"},
    {"readarray", mapfile, false, false,
     "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] "
     "[array]"},
    {"readonly", readonly, true, true, "readonly [-aAf] [name[=value] ...] or readonly -p"},
    {"return", return_, true, false, "return [n]"},
    {"set", set, true, false, "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]"},
    {"shift", shift, true, false, "shift [n]"},
    {"shopt", shopt, false, false, "shopt [-pqsu] [-o] [optname ...]"},
    {"source", source, true, false, "source filename [arguments]"},
    {"suspend", fg, false, false, "suspend [-f]"},
    {"test", test, false, false, "test [expr]"},
    {"times", times, true, false, "times"},
    {"trap", trap, true, false, "trap [-lp] [[arg] signal_spec ...]"},
    {"true", colon, false, false, "true"},
    {"type", type, false, false, "type [-afptP] name [name ...]"},
    {"typeset", declare, false, true,
     "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]"},
    {"ulimit", ulimit, false, false, "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]"},
    {"umask", umask, false, false, "umask [-p] [-S] [mode]"},
    {"unalias", unalias, false, false, "unalias [-a] name [name ...]"},
    {"unset", unset, true, false, "unset [-f] [-v] [-n] [name ...]"},
    {"wait", wait, false, false, "wait [-fn] [-p var] [id ...]"},
};

const std::array<const Builtin*, std::size(builtin_rows)>& pointers() {
  static const std::array<const Builtin*, std::size(builtin_rows)> out = [] {
    std::array<const Builtin*, std::size(builtin_rows)> list{};
    for (std::size_t i = 0; i < std::size(builtin_rows); ++i) list[i] = &builtin_rows[i];
    return list;
  }();
  return out;
}

}  // namespace

const Builtin* find_builtin(std::string_view name) {
  const auto* it = std::lower_bound(std::begin(builtin_rows), std::end(builtin_rows), name,
                                    [](const Builtin& row, std::string_view n) { return row.name < n; });
  return it != std::end(builtin_rows) && it->name == name ? it : nullptr;
}

std::span<const Builtin* const> all_builtins() {
  return pointers();
}

namespace builtins {

bool parse_int(const std::string& text, std::int64_t& value) {
  std::string_view view = text;
  while (!view.empty() && (view.front() == ' ' || view.front() == '\t')) view.remove_prefix(1);
  while (!view.empty() && (view.back() == ' ' || view.back() == '\t')) view.remove_suffix(1);
  if (view.starts_with('+')) view.remove_prefix(1);
  auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  return error == std::errc() && end == view.data() + view.size() && !view.empty();
}

int usage(ShellRunner& shell, const Args& args) {
  const Builtin* row = find_builtin(args[0]);
  shell.descriptors().err().write(
      fmt::format("{}: usage: {}\n", args[0], row ? row->synopsis : std::string_view()));
  return 2;
}

int bad_option(ShellRunner& shell, const Args& args, std::string_view option) {
  shell.error(fmt::format("{}: {}: invalid option", args[0], option));
  return usage(shell, args);
}

}  // namespace builtins

}  // namespace atl::shell
