#pragma once

#include <string>
#include <string_view>
#include <vector>

// The commands of the program as plain facts, read off the same definitions that --help shows. Completion,
// the manual and the answers to mistakes are made from them, so that none of the three can name a flag that
// is not there.
namespace atl::cli {

struct OptionFacts {
  std::vector<std::string> names;  // "-m", "--memory"; one word without dashes for a positional argument
  std::string value;               // what stands for its value: "TEXT", "FILE", "a|b"; empty: a flag
  std::string about;
  std::string default_text;
  bool positional = false;
  bool required = false;
  bool repeats = false;

  bool takes_value() const { return !value.empty(); }
  // What its value is where none is given: "2" of "[SECONDS=2]"; empty: it must be given.
  std::string_view value_left_out() const;
  bool is_called(std::string_view name) const;
  // The longest of its names.
  const std::string& name() const;
};

struct CommandFacts {
  std::string name;
  std::string about;
  std::string notes;  // examples and what else is good to know; ends the help
  std::vector<OptionFacts> options;
  std::vector<CommandFacts> commands;
  bool hidden = false;
  bool arguments_end_options =
      false;  // what follows the first argument is not for us, whatever it looks like

  const CommandFacts* find(std::string_view word) const;
  // An option or flag, by any of its names, such as "--memory" or "-m".
  const OptionFacts* option(std::string_view name) const;
  // Its own, or that of a command below it.
  const OptionFacts* option_anywhere(std::string_view name) const;
  // Those that stand without a flag, in order.
  std::vector<const OptionFacts*> arguments() const;
};

// The commands that lead to one, outermost first; the program itself is the first.
using CommandPath = std::vector<const CommandFacts*>;
// As typed: "atoll keys list".
std::string typed(const CommandPath& path);
// "[OPTIONS] ID [LOCAL]": what follows the command's name.
std::string usage_of(const CommandFacts& command);
// An option that holds at the end of this path: the command's own or one of those above it.
const OptionFacts* option_on(const CommandPath& path, std::string_view name);

}  // namespace atl::cli
