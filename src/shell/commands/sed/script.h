#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "shell/regex/regex.h"

namespace atl::shell::sed {

// When a command applies.
struct Address {
  enum class Kind : unsigned char { none, line, last, regex, step, zero, plus, multiple } kind = Kind::none;
  std::uint64_t first = 0, step = 0;
  std::unique_ptr<Regex> regex;  // null with kind regex: the last one used
};

// What replaces a match, cut into literals, group references and case changes.
struct Piece {
  enum class Kind : unsigned char { text, group, upper, lower, upper_once, lower_once, end_case } kind;
  std::string text;
  std::size_t group = 0;
};

// One command of a script. Which members mean something depends on its name.
struct Command {
  Address from, to;
  bool negate = false;
  char name = 0;
  std::size_t target = 0;   // of { b t T: index of a command
  std::string text;         // of a i c r w R W : y e, label
  std::int64_t number = 0;  // q Q l L
  // s
  std::unique_ptr<Regex> regex;  // null: the last one used
  std::vector<Piece> replacement;
  bool global = false, print = false, evaluate = false;
  std::uint64_t nth = 1;
  std::vector<std::string> map;  // y: what each byte becomes, when all are bytes
  std::unordered_map<std::string, std::string> wide_map;
  // range state
  bool active = false;
  std::uint64_t until = 0;
};

// A parsed script. Running it changes the range states in it.
struct Script {
  std::vector<Command> commands;
  bool quiet_by_first_line = false;  // #n
};

// -E, --posix and --sandbox.
struct ParseOptions {
  bool extended = false;
  bool posix = false;
  bool sandbox = false;
};

// The text of all -e and -f joined by newlines. Errors: "-e expression #1, char 5: ..." without the program's
// name.
// Code::invalid_argument; nothing has been run. The script borrows nothing.
Result<Script> parse(std::string_view text, const ParseOptions& options);

}  // namespace atl::shell::sed
