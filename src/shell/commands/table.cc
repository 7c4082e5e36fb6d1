#include "shell/commands/table.h"

#include <algorithm>
#include <array>

#include "shell/nested.h"

namespace atl::shell {

namespace {

int run_cat(Invocation& call) {
  int status = 0;
  std::vector<std::string> names(call.args().begin() + 1, call.args().end());
  if (names.empty()) names.push_back("-");
  for (const std::string& name : names) {
    auto in = call.open_input(name);
    if (!in) {
      call.complain(name + ": " + std::string(vfs::strerror(in.error().code())));
      status = 1;
      continue;
    }
    while (true) {
      std::string_view bytes = (*in)->fill();
      if (bytes.empty()) break;
      call.out().write(bytes);
      (*in)->consume(bytes.size());
    }
  }
  return status;
}

constexpr std::array<Command, 3> rows = {{{"bash", run_shell, "run a script in a new shell"},
                                          {"cat", run_cat, "concatenate files"},
                                          {"sh", run_shell, "run a script in a new shell"}}};

}  // namespace

std::span<const Command> command_table() { return rows; }

const Command* find_command(std::string_view name) {
  const auto* it = std::lower_bound(rows.begin(), rows.end(), name, [](const Command& row, std::string_view n) { return row.name < n; });
  return it != rows.end() && it->name == name ? &*it : nullptr;
}

}  // namespace atl::shell
