#include <fmt/format.h>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"

namespace atl::shell::tee_program {

namespace {

enum Long { kOutputError = 256 };

constexpr Option kOptions[] = {
    {'a', 'a', "append"},
    {'i', 'i', "ignore-interrupts"},
    {'p', 'p', ""},
    {kOutputError, 0, "output-error", Arg::optional},
};

}  // namespace

int run_tee(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool append = false, gives_up = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'a') append = true;
    if (id == kOutputError) {
      // Writing to a pipe that nobody reads is an error like any other here, which "warn" and "warn-nopipe"
      // report.
      static constexpr Choice kWords[] = {{"warn", 0}, {"warn-nopipe", 1}, {"exit", 2}, {"exit-nopipe", 3}};
      auto word = value.empty() ? std::optional<int>(1) : choose(call, "--output-error", value, kWords);
      if (!word) return 1;
      gives_up = *word >= 2;
    }
  }
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
      if (gives_up) return 1;
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
      if (gives_up) return 1;
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

}  // namespace atl::shell::tee_program
