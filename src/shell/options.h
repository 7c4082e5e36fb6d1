#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

namespace atl::shell {

// `set -o` options, in the order in which `set -o` lists them.
enum class Opt : std::size_t {
  allexport,
  braceexpand,
  emacs,
  errexit,
  errtrace,
  functrace,
  hashall,
  histexpand,
  history,
  ignoreeof,
  interactive_comments,
  keyword,
  monitor,
  noclobber,
  noexec,
  noglob,
  nolog,
  notify,
  nounset,
  onecmd,
  physical,
  pipefail,
  posix,
  privileged,
  verbose,
  vi,
  xtrace,
  count
};
// How an option is called, and its letter in `set` and $-.
struct OptRow {
  std::string_view name;
  char letter;  // 0: none
};
inline constexpr std::array<OptRow, static_cast<std::size_t>(Opt::count)> opt_rows = {{
    {"allexport", 'a'},
    {"braceexpand", 'B'},
    {"emacs", 0},
    {"errexit", 'e'},
    {"errtrace", 'E'},
    {"functrace", 'T'},
    {"hashall", 'h'},
    {"histexpand", 'H'},
    {"history", 0},
    {"ignoreeof", 0},
    {"interactive-comments", 0},
    {"keyword", 'k'},
    {"monitor", 'm'},
    {"noclobber", 'C'},
    {"noexec", 'n'},
    {"noglob", 'f'},
    {"nolog", 0},
    {"notify", 'b'},
    {"nounset", 'u'},
    {"onecmd", 't'},
    {"physical", 'P'},
    {"pipefail", 0},
    {"posix", 0},
    {"privileged", 'p'},
    {"verbose", 'v'},
    {"vi", 0},
    {"xtrace", 'x'},
}};

// `shopt` options, in the order in which `shopt` lists them.
enum class Shopt : std::size_t {
  autocd,
  assoc_expand_once,
  cdable_vars,
  cdspell,
  checkhash,
  checkjobs,
  checkwinsize,
  cmdhist,
  compat31,
  compat32,
  compat40,
  compat41,
  compat42,
  compat43,
  compat44,
  complete_fullquote,
  direxpand,
  dirspell,
  dotglob,
  execfail,
  expand_aliases,
  extdebug,
  extglob,
  extquote,
  failglob,
  force_fignore,
  globasciiranges,
  globskipdots,
  globstar,
  gnu_errfmt,
  histappend,
  histreedit,
  histverify,
  hostcomplete,
  huponexit,
  inherit_errexit,
  interactive_comments,
  lastpipe,
  lithist,
  localvar_inherit,
  localvar_unset,
  login_shell,
  mailwarn,
  no_empty_cmd_completion,
  nocaseglob,
  nocasematch,
  noexpand_translation,
  nullglob,
  patsub_replacement,
  progcomp,
  progcomp_alias,
  promptvars,
  restricted_shell,
  shift_verbose,
  sourcepath,
  varredir_close,
  xpg_echo,
  count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Shopt::count)> shopt_names = {
    "autocd",
    "assoc_expand_once",
    "cdable_vars",
    "cdspell",
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "cmdhist",
    "compat31",
    "compat32",
    "compat40",
    "compat41",
    "compat42",
    "compat43",
    "compat44",
    "complete_fullquote",
    "direxpand",
    "dirspell",
    "dotglob",
    "execfail",
    "expand_aliases",
    "extdebug",
    "extglob",
    "extquote",
    "failglob",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "globstar",
    "gnu_errfmt",
    "histappend",
    "histreedit",
    "histverify",
    "hostcomplete",
    "huponexit",
    "inherit_errexit",
    "interactive_comments",
    "lastpipe",
    "lithist",
    "localvar_inherit",
    "localvar_unset",
    "login_shell",
    "mailwarn",
    "no_empty_cmd_completion",
    "nocaseglob",
    "nocasematch",
    "noexpand_translation",
    "nullglob",
    "patsub_replacement",
    "progcomp",
    "progcomp_alias",
    "promptvars",
    "restricted_shell",
    "shift_verbose",
    "sourcepath",
    "varredir_close",
    "xpg_echo"};

// Which options are set. A plain value.
struct Options {
  std::bitset<static_cast<std::size_t>(Opt::count)> set;
  std::bitset<static_cast<std::size_t>(Shopt::count)> shopt;
  bool operator[](Opt which) const { return set[static_cast<std::size_t>(which)]; }
  bool operator[](Shopt which) const { return shopt[static_cast<std::size_t>(which)]; }
  void put(Opt which, bool on) { set[static_cast<std::size_t>(which)] = on; }
  void put(Shopt which, bool on) { shopt[static_cast<std::size_t>(which)] = on; }

  // What bash -c starts with.
  static Options initial() {
    Options out;
    out.put(Opt::braceexpand, true);
    out.put(Opt::hashall, true);
    out.put(Opt::interactive_comments, true);
    for (Shopt on : {Shopt::checkwinsize, Shopt::cmdhist, Shopt::complete_fullquote, Shopt::extquote,
                     Shopt::force_fignore, Shopt::globasciiranges, Shopt::globskipdots, Shopt::hostcomplete,
                     Shopt::interactive_comments, Shopt::patsub_replacement, Shopt::progcomp,
                     Shopt::promptvars, Shopt::sourcepath})
      out.put(on, true);
    return out;
  }
};

}  // namespace atl::shell
