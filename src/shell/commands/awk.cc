#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/awk/machine.h"
#include "shell/files/inputs.h"

namespace atl::shell::awk_program {

namespace {

constexpr Option kOptions[] = {
    {'F', 'F', "field-separator", Arg::required},
    {'v', 'v', "assign", Arg::required},
    {'f', 'f', "file", Arg::required},
    {'e', 'e', "source", Arg::required},
    {'b', 'b', "characters-as-bytes"},
    {'P', 'P', "posix"},
    {'r', 'r', "re-interval"},
    {'S', 'S', "sandbox"},
    {'n', 'n', "non-decimal-data"},
    {'E', 'E', "exec", Arg::required},
};

}  // namespace

int run_awk(Invocation& call) {
  CommandLine options(call, kOptions, {.permute = false, .status = 2});
  if (options.stopped()) return options.status();
  std::string source;
  bool given = false;
  std::string separator;
  bool has_separator = false;
  std::vector<std::pair<std::string, std::string>> assignments;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'F':
        separator = value;
        has_separator = true;
        break;
      case 'v': {
        std::size_t equals = value.find('=');
        if (equals == std::string::npos || equals == 0)
          return call.fail(fmt::format("fatal: `{}' is not a legal variable name", value), 2);
        assignments.emplace_back(value.substr(0, equals), value.substr(equals + 1));
        break;
      }
      case 'f':
      case 'E': {
        std::unique_ptr<Input> opened;
        Input* in = &call.in();
        if (value != "-") {
          auto file = call.open_input(value);
          if (!file)
            return call.fail(fmt::format("fatal: cannot open source file `{}' for reading: {}", value,
                                         reason(file.error())),
                             2);
          opened = std::move(*file);
          in = opened.get();
        }
        source += in->read_all() + "\n";
        given = true;
        break;
      }
      case 'e':
        source += value + "\n";
        given = true;
        break;
      default: break;
    }
  }
  auto& operands = options.operands();
  if (!given) {
    if (operands.empty()) {
      call.err().write(
          "Usage: awk [POSIX or GNU style options] -f progfile [--] file ...\n"
          "Usage: awk [POSIX or GNU style options] [--] 'program' file ...\n");
      return 1;
    }
    source = operands.front();
    operands.erase(operands.begin());
  }
  auto program = awk::parse(source);
  if (!program) {
    call.err().write(fmt::format("awk: cmd. line:{}\n", program.error().message()));
    return 1;
  }
  awk::Machine machine(call, **program);
  if (has_separator) machine.assign_text("FS", separator == "t" ? "\t" : separator);
  for (auto& [name, value] : assignments) machine.assign_text(name, value);
  machine.set_arguments(operands);
  return machine.run();
}

}  // namespace atl::shell::awk_program
