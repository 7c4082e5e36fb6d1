#include "shell/program_start.h"

#include <fmt/format.h>

#include "shell/programs.h"
#include "shell/runner.h"

namespace atl::shell {

namespace {

struct Refusal {
  std::string_view why;
  int status = 0;
};

Refusal refusal_of_path(ShellRunner& shell, const std::string& program) {
  auto where = shell.descriptors().path_of(program);
  if (!where)
    return {vfs::strerror(where.error().code()), where.error().code() == Code::not_found ? 127 : 126};
  auto stat = shell.machine().fs.find(*where);
  if (!stat) {
    // Commands of ours are found by name where a file of theirs was removed.
    if (holds_commands(program.substr(0, program.rfind('/')))) return {};
    return {"No such file or directory", 127};
  }
  if (stat->is_directory() || !shell.descriptors().permitted(*stat, 1)) return {"Permission denied", 126};
  return {};
}

}  // namespace

int refuse_start(Invocation& call, const std::string& program, std::string_view called) {
  ShellRunner& shell = call.runner();
  Refusal refusal;
  if (program.find('/') != std::string::npos) {
    refusal = refusal_of_path(shell, program);
  } else {
    std::string shown;
    if (!shell.names().find_in_path(program, &shown) && shown.empty() && !find_builtin(program))
      refusal = {"No such file or directory", 127};
  }
  if (refusal.status != 0)
    call.complain(fmt::format("{}: {}", fmt::format(fmt::runtime(called), program), refusal.why));
  return refusal.status;
}

}  // namespace atl::shell
