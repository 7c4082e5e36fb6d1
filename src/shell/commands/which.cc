#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/command_table.h"

namespace atl::shell::which_program {

int run_which(Invocation& call) {
  static constexpr Option kOptions[] = {{'a', 'a', "all"}, {'s', 's', ""}};
  CommandLine options(call, kOptions, {.status = 2});
  if (options.stopped()) return options.status();
  bool all = false, silent = false;
  for (auto& [id, value] : options.found()) (id == 'a' ? all : silent) = true;
  int status = options.operands().empty() ? 1 : 0;
  auto path = call.variable("PATH").value_or("/usr/bin:/bin");
  static constexpr std::string_view kBuiltinPrograms[] = {"echo", "printf", "test",  "[",
                                                          "pwd",  "true",   "false", "kill"};
  for (const std::string& name : options.operands()) {
    bool found = false;
    std::string_view rest = path;
    auto show = [&](const std::string& where) {
      if (!silent && (!found || all)) call.out().write(where + "\n");
      found = true;
    };
    bool ours = find_command(name) || std::find(std::begin(kBuiltinPrograms), std::end(kBuiltinPrograms),
                                                name) != std::end(kBuiltinPrograms);
    if (name.find('/') != std::string::npos) {
      auto target = call.resolve(name);
      auto stat = target ? call.fs().find(*target) : std::nullopt;
      if (stat && stat->is_file() && (stat->mode & 0111)) show(name);
      rest = {};
    }
    while (!rest.empty() && (!found || all)) {
      std::size_t colon = rest.find(':');
      std::string directory(rest.substr(0, colon));
      rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
      auto target = call.resolve(directory.empty() ? name : directory + "/" + name);
      auto stat = target ? call.fs().find(*target) : std::nullopt;
      if (stat && stat->is_file() && (stat->mode & 0111))
        show(directory + "/" + name);
      else if (ours && !stat && (directory == "/usr/bin" || directory == "/bin"))
        show(directory + "/" + name);
    }
    if (!found) status = 1;
  }
  return status;
}

}  // namespace atl::shell::which_program
