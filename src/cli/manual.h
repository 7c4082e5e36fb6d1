#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/command_tree.h"

// The manual: a page for the program and one for each command, in the form that man(1) reads.
namespace atl::cli {

struct ManualPage {
  std::string file;  // "atoll-keys-list.1"
  std::string text;
};

// One page for every command that people use, the program's own first.
std::vector<ManualPage> manual(const CommandFacts& program, const std::string& version);

// What an exit status means, from the one table of errors and what commands add to it.
std::vector<std::pair<std::string, std::string>> exit_statuses();

}  // namespace atl::cli
