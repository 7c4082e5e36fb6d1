#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

namespace {

constexpr Option kOptions[] = {
    {'a', 'a', "append"}, {'i', 'i', "ignore-interrupts"}, {'p', 'p', ""}, {256, 0, "output-error", Arg::optional},
};

}  // namespace

int run_tee(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool append = false;
  for (auto& [id, value] : options.found()) append |= id == 'a';
  int status = 0;
  struct Target {
    std::string name;
    std::unique_ptr<Output> out;
  };
  std::vector<Target> targets;
  for (const std::string& operand : options.operands()) {
    auto opened = call.open_output(operand, append);
    if (!opened) {
      call.complain(fmt::format("{}: {}", operand, reason(opened.error())));
      status = 1;
      continue;
    }
    targets.push_back({operand, std::move(*opened)});
  }
  bool standard = true;
  while (true) {
    std::string_view block = call.in().fill();
    if (block.empty()) break;
    call.charge(block.size() / 64 + 1);
    for (Target& target : targets) {
      if (!target.out || target.out->write(block)) continue;
      call.complain(fmt::format("{}: {}", target.name, target.out->error()));
      target.out.reset();
      status = 1;
    }
    if (standard && !call.out().write(block)) {
      call.complain(fmt::format("standard output: {}", call.out().error()));
      standard = false;
      status = 1;
    }
    call.in().consume(block.size());
  }
  for (Target& target : targets)
    if (target.out) target.out->flush();
  return status;
}

}  // namespace atl::shell
