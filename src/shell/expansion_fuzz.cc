#include <cstdint>
#include <string>

#include "shell/shell.h"

// The input is a script run under small limits: lexer, parser, expansion, arithmetic, patterns, builtins.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 2048) return 0;
  using namespace atl;
  vfs::VirtualOptions room;
  room.quota = {.bytes_max = 1 << 20, .nodes_max = 1000};
  vfs::VirtualFileSystem fs(shell::base_snapshot(), room);
  shell::ShellOptions options;
  options.limits.commands = 2000;
  options.limits.work = 10'000'000;
  options.limits.memory_bytes = 16 << 20;
  options.limits.expansion_bytes = 1 << 16;
  options.limits.expansion_fields = 10'000;
  options.limits.brace_items = 10'000;
  options.limits.call_depth = 100;
  options.limits.processes = 32;
  options.limits.wall_time = std::chrono::seconds(2);
  shell::SandboxShell sh(fs, options);
  sh.execute(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
