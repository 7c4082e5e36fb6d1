#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shell/command.h"

namespace atl::shell {

// Whether an option takes a value. An optional one must stand in the same word.
enum class Arg : unsigned char { none, required, optional };

// One spelling of an option. `id` is what the command switches on; by convention the short letter, or a value
// from 256 on for options that have none. Several rows may share an id.
struct Option {
  int id;
  char letter;                 // 0: none
  std::string_view long_name;  // empty: none
  Arg arg = Arg::none;
};

// Where a command differs from getopt_long's habits.
struct OptionRules {
  bool permute = true;            // false: the first operand ends the options (env, xargs, timeout)
  int status = 1;                 // of a bad option
  bool digits = false;            // -5 is reported as option '0' with value "5" (head, tail, fold)
  bool negative_numbers = false;  // an argument like -5 or -.5 is an operand (seq)
  const std::vector<std::string>* args = nullptr;  // instead of the call's own
};

// Parses arguments as GNU getopt_long does: permutation, abbreviations of long names, "--". Complains on err
// about what it does not know. `--help` and `--version` are answered for every command.
class CommandLine {
 public:
  // found() also holds the operands in their places, under this id, when the rules gave their own arguments.
  static constexpr int kOperand = -1;

  struct Found {
    int id;
    std::string value;
  };

  CommandLine(Invocation& call, std::span<const Option> table, OptionRules rules = {});

  // True when the command should return status() at once.
  bool stopped() const { return stopped_; }
  int status() const { return status_; }

  // The options in the order in which they were given.
  const std::vector<Found>& found() const { return found_; }
  std::vector<std::string>& operands() { return operands_; }

 private:
  void parse_long(std::size_t& index);
  void parse_short(std::size_t& index);
  void refuse(std::string_view message);
  void answer(std::string_view what);

  Invocation& call_;
  std::span<const std::string> args_;
  std::span<const Option> table_;
  OptionRules rules_;
  std::vector<Found> found_;
  std::vector<std::string> operands_;
  bool stopped_ = false;
  int status_ = 0;
};

}  // namespace atl::shell
