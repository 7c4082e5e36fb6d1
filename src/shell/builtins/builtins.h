#pragma once

#include "shell/interpreter.h"

namespace atl::shell::builtins {

// One function a builtin; the table in table.cc names them.
int colon(Interpreter&, const Args&);
int false_(Interpreter&, const Args&);
int alias(Interpreter&, const Args&);
int unalias(Interpreter&, const Args&);
int break_(Interpreter&, const Args&);
int builtin(Interpreter&, const Args&);
int caller(Interpreter&, const Args&);
int cd(Interpreter&, const Args&);
int command(Interpreter&, const Args&);
int compgen(Interpreter&, const Args&);
int complete(Interpreter&, const Args&);
int compopt(Interpreter&, const Args&);
int continue_(Interpreter&, const Args&);
int declare(Interpreter&, const Args&);
int dirs(Interpreter&, const Args&);
int disown(Interpreter&, const Args&);
int echo(Interpreter&, const Args&);
int enable(Interpreter&, const Args&);
int eval(Interpreter&, const Args&);
int exec(Interpreter&, const Args&);
int exit(Interpreter&, const Args&);
int export_(Interpreter&, const Args&);
int fc(Interpreter&, const Args&);
int fg(Interpreter&, const Args&);
int getopts(Interpreter&, const Args&);
int hash(Interpreter&, const Args&);
int help(Interpreter&, const Args&);
int history(Interpreter&, const Args&);
int jobs(Interpreter&, const Args&);
int kill(Interpreter&, const Args&);
int let(Interpreter&, const Args&);
int local(Interpreter&, const Args&);
int mapfile(Interpreter&, const Args&);
int popd(Interpreter&, const Args&);
int printf(Interpreter&, const Args&);
int pushd(Interpreter&, const Args&);
int pwd(Interpreter&, const Args&);
int read(Interpreter&, const Args&);
int readonly(Interpreter&, const Args&);
int return_(Interpreter&, const Args&);
int set(Interpreter&, const Args&);
int shift(Interpreter&, const Args&);
int shopt(Interpreter&, const Args&);
int source(Interpreter&, const Args&);
int test(Interpreter&, const Args&);
int times(Interpreter&, const Args&);
int trap(Interpreter&, const Args&);
int type(Interpreter&, const Args&);
int ulimit(Interpreter&, const Args&);
int umask(Interpreter&, const Args&);
int unset(Interpreter&, const Args&);
int wait(Interpreter&, const Args&);
int bind(Interpreter&, const Args&);

// Parses a whole number; false if the text is not one.
bool parse_int(const std::string& text, std::int64_t& value);
// "name: -x: invalid option" and the usage line; 2.
int bad_option(Interpreter&, const Args&, std::string_view option);
int usage(Interpreter&, const Args&);

}  // namespace atl::shell::builtins
