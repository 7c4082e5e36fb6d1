#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "shell/shell.h"

namespace {

// Commands with a language of their own, each told to run $P on its standard input.
constexpr std::array<const char*, 10> commands = {
    "awk -- \"$P\"",       "sed -- \"$P\"",   "sed -E -n -- \"$P\"", "jq -- \"$P\"",        "bc -l <<< \"$P\"",
    "dc -e \"$P\"",        "yq -- \"$P\"",    "find . $P",           "printf -- \"$P\" 1 a", "date -d \"$P\"",
};

}  // namespace

// The first byte chooses the command; the text up to a NUL is the program, the rest what it reads. They run.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 2048) return 0;
  using namespace atl;
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  std::size_t cut = text.find('\0');
  vfs::VirtualOptions room;
  room.quota = {.bytes_max = 1 << 20, .nodes_max = 1000};
  vfs::VirtualFileSystem fs(shell::base_snapshot(), room);
  shell::ShellOptions options;
  options.limits.commands = 2000;
  options.limits.work = 5'000'000;
  options.limits.memory_bytes = 16 << 20;
  options.limits.output_bytes = 1 << 20;
  options.limits.expansion_bytes = 1 << 16;
  options.limits.wall_time = std::chrono::seconds(2);
  options.environment.emplace_back("P", text.substr(0, cut));
  shell::SandboxShell sh(fs, options);
  std::string_view input = cut == std::string_view::npos ? "a b c\n1 2 3\n" : text.substr(cut + 1);
  sh.execute(commands[data[0] % commands.size()], input);
  return 0;
}
