#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "shell/shell.h"

namespace atl::shell {

// Runs a script under limits that end every input soon. Ends the process where the shell found a defect of
// its own.
inline void fuzz_run(std::string_view script, std::string_view input = {},
                     std::vector<std::pair<std::string, std::string>> environment = {}) {
  vfs::VirtualOptions room;
  room.quota = {.bytes_max = 1 << 20, .nodes_max = 1000};
  vfs::VirtualFileSystem fs(base_snapshot(), room);
  ShellOptions options;
  options.limits.commands = 2000;
  options.limits.work = 5'000'000;
  options.limits.memory_bytes = 16 << 20;
  options.limits.output_bytes = 1 << 20;
  options.limits.expansion_bytes = 1 << 16;
  options.limits.expansion_fields = 10'000;
  options.limits.brace_items = 10'000;
  options.limits.call_depth = 100;
  options.limits.processes = 32;
  options.limits.wall_time = std::chrono::seconds(2);
  options.environment = std::move(environment);
  SandboxShell shell(fs, std::move(options));
  Executed done = shell.execute(script, input);
  if (done.limit != Limit::defect) return;
  std::fprintf(stderr, "%s\n", done.err.c_str());
  std::abort();
}

}  // namespace atl::shell
