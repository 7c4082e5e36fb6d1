#pragma once

#include <span>
#include <string>
#include <string_view>

#include "shell/args.h"

namespace atl::shell {

class ShellRunner;

// A command that works on the shell's own state. Rows live in a constant table (builtins/table.cc); pointers
// to them stay valid for the life of the program.
struct Builtin {
  std::string_view name;
  // Returns the exit status. May throw Abandoned (an error that ends the current complete command) and
  // Stopped.
  int (*run)(ShellRunner&, const Args&);
  bool special = false;      // POSIX: found before functions in posix mode; assignments before it stay
  bool declaration = false;  // takes assignments as arguments
  std::string_view synopsis;
};

// Null if there is no builtin of that name. Does not look at what `enable -n` switched off; see CommandNames.
const Builtin* find_builtin(std::string_view name);
// Every builtin, sorted by name.
std::span<const Builtin* const> all_builtins();

// test and [ : the expression's words. 0 true, 1 false, 2 error (which was reported).
int test_expression(ShellRunner& shell, std::string_view who, std::span<const std::string> args);
// One operator of test and of [[ ]]: -f, -z, ... on its operand.
bool test_unary(ShellRunner& shell, char op, const std::string& operand);
// -nt, -ot and -ef.
bool test_files(ShellRunner& shell, std::string_view op, const std::string& left, const std::string& right);

}  // namespace atl::shell
