#include "cli/command.h"

namespace atl::cli {

// Only its place in the list: `atoll help NAME` is read as `atoll NAME --help` (mistakes.h).
Action define_help(Command& top) {
  Command command = top.add_command("help", "Say what a command does: atoll help run");
  auto words = std::make_unique<std::vector<std::string>>();
  command.add_option("NAME", *words, "The command").value("COMMAND");
  return [words = std::move(words)] { return 0; };
}

}  // namespace atl::cli
