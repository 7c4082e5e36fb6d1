#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command_tree.h"

// Completion in shells. A shell's script asks the program itself what may follow, so that it knows every
// command and flag of this very version, and what runs now.
namespace atl::cli {

struct Candidate {
  std::string word;
  std::string about;
};

struct Completion {
  enum class Files : unsigned char { none, files, directories };
  std::vector<Candidate> words;
  Files files = Files::none;  // the shell adds names of these
};

// What may be named where a value is called `kind` ("SESSION", "ENVIRONMENT"). Nothing where nobody knows.
using Names = std::function<std::vector<Candidate>(std::string_view kind)>;

// What may stand where `current` is being typed behind the words `before` (without the program's name).
Completion complete(const CommandFacts& program, const std::vector<std::string>& before,
                    const std::string& current, const Names& names);

// The script that bash, zsh or fish reads. Code::invalid_argument for another shell.
Result<std::string> completion_script(const std::string& shell);

}  // namespace atl::cli
