#pragma once

#include "shell/runner.h"

namespace atl::shell::builtins {

// One function a builtin; the table in table.cc names them.
int colon(ShellRunner&, const Args&);
int false_(ShellRunner&, const Args&);
int alias(ShellRunner&, const Args&);
int unalias(ShellRunner&, const Args&);
int break_(ShellRunner&, const Args&);
int builtin(ShellRunner&, const Args&);
int caller(ShellRunner&, const Args&);
int cd(ShellRunner&, const Args&);
int command(ShellRunner&, const Args&);
int compgen(ShellRunner&, const Args&);
int complete(ShellRunner&, const Args&);
int compopt(ShellRunner&, const Args&);
int continue_(ShellRunner&, const Args&);
int declare(ShellRunner&, const Args&);
int dirs(ShellRunner&, const Args&);
int disown(ShellRunner&, const Args&);
int echo(ShellRunner&, const Args&);
int enable(ShellRunner&, const Args&);
int eval(ShellRunner&, const Args&);
int exec(ShellRunner&, const Args&);
int exit(ShellRunner&, const Args&);
int export_(ShellRunner&, const Args&);
int fc(ShellRunner&, const Args&);
int fg(ShellRunner&, const Args&);
int getopts(ShellRunner&, const Args&);
int hash(ShellRunner&, const Args&);
int help(ShellRunner&, const Args&);
int history(ShellRunner&, const Args&);
int jobs(ShellRunner&, const Args&);
int kill(ShellRunner&, const Args&);
int let(ShellRunner&, const Args&);
int local(ShellRunner&, const Args&);
int mapfile(ShellRunner&, const Args&);
int popd(ShellRunner&, const Args&);
int printf(ShellRunner&, const Args&);
int pushd(ShellRunner&, const Args&);
int pwd(ShellRunner&, const Args&);
int read(ShellRunner&, const Args&);
int readonly(ShellRunner&, const Args&);
int return_(ShellRunner&, const Args&);
int set(ShellRunner&, const Args&);
int shift(ShellRunner&, const Args&);
int shopt(ShellRunner&, const Args&);
int source(ShellRunner&, const Args&);
int test(ShellRunner&, const Args&);
int times(ShellRunner&, const Args&);
int trap(ShellRunner&, const Args&);
int type(ShellRunner&, const Args&);
int ulimit(ShellRunner&, const Args&);
int umask(ShellRunner&, const Args&);
int unset(ShellRunner&, const Args&);
int wait(ShellRunner&, const Args&);
int bind(ShellRunner&, const Args&);

// Parses a whole number; false if the text is not one.
bool parse_int(const std::string& text, std::int64_t& value);
// "name: -x: invalid option" and the usage line; 2.
int bad_option(ShellRunner&, const Args&, std::string_view option);
// The usage line of the builtin args[0]; 2.
int usage(ShellRunner&, const Args&);

}  // namespace atl::shell::builtins
