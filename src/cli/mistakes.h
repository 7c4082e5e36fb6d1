#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_tree.h"

// What people type and do not mean, answered with the line that works.
namespace atl::cli {

using Words = std::vector<std::string>;  // without the program's own name

// Flags mean the same before and after the names of commands: those that stand before are moved behind the
// last name. `help NAME...` becomes `NAME... --help`. What follows "--", and values of options, stay as they
// are.
Words put_in_order(const CommandFacts& program, Words words);

// The commands that the first words name.
CommandPath path_of(const CommandFacts& program, const Words& words);

// What is wrong with the words, in full lines for a person, if it is one of the mistakes that we know: an
// unknown command or flag, a program without "--" before it. Nothing if the words look good. The words are in
// order.
std::optional<std::string> mistake_in(const CommandFacts& program, const Words& words);

// One word as a shell takes it.
std::string quoted_for_shell(std::string_view word);

}  // namespace atl::cli
