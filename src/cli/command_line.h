#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_tree.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The library that reads the command line, behind the few calls that we need. It is 11,000 lines of
// templates: only command_line.cc includes it.
namespace atl::cli {

// What main keeps of a subcommand: called when it was chosen; gives the exit status.
using Action = std::move_only_function<int()>;

// One option or positional argument of a command. A handle: valid as long as its CommandLine.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  // The help shows the value that the variable has now.
  Option with_default_shown();
  // Of a list: every use of the option takes one value. Otherwise it takes all that follow.
  Option one_value_each();
  // Its value may be any text: a script, an argument of a command, a variable. Without this a value is
  // refused if it is empty or holds control characters, before a subcommand sees it.
  Option any_text();
  // What stands for its value in the help, and what completion offers for it: "FILE", "DIR", "SESSION",
  // "ENVIRONMENT", "COMMAND", words with | between them, or any other word to be read by people.
  // "[SECONDS=2]": a number that may be left out, and what it is then.
  Option value(const std::string& word);
  // Its value names a directory that is there.
  Option existing_directory();
  bool was_given() const;

 private:
  CLI::Option* option_;
};

// One command, or the program itself. A handle: valid as long as its CommandLine.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command add_command(const std::string& name, const std::string& about);
  // `names` is "-l,--language", "--language", or a word for a positional argument. `into` gets the value
  // while the command line is read and must live until then.
  Option add_option(const std::string& names, std::string& into, const std::string& about);
  Option add_option(const std::string& names, std::vector<std::string>& into, const std::string& about);
  void add_flag(const std::string& names, bool& into, const std::string& about);
  // Exactly one of its subcommands must follow; its own options may stand behind that, too.
  void require_command();
  // What follows the first positional argument is not read as an option.
  void end_options_at_arguments();
  // Examples and what else is good to know: the end of its help and of its page of the manual.
  void notes(const std::string& text);
  // Not listed in help, manual and completion: for programs, not for people.
  void hide();
  // Itself and all below it, as they are defined now.
  CommandFacts facts() const;
  bool was_chosen() const;

 private:
  CLI::App* app_;
};

// The command line of the program: commands are added, then it is read once.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& about, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command top() { return Command(app_.get()); }
  // Adds the command that `define` makes and gives what it does.
  void add(Action (*define)(Command& top));

  // Reads the words and runs the chosen command; gives the exit status. What is asked for (--help, --version)
  // goes to standard output, what is wrong to standard error with the line that works where we know it: then
  // the status is 2 and nothing ran. Exceptions of a command pass through.
  int run(int argc, char** argv);
  // All commands as they are defined now.
  CommandFacts facts() const;

 private:
  int answer(const std::vector<std::string>& words, const std::string& complaint) const;

  std::unique_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<Action>> actions_;
  int status_ = 0;
};

}  // namespace atl::cli
