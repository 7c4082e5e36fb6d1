#include <array>
#include <cstddef>
#include <cstdint>

#include "shell/fuzz_run.h"

namespace {

// Commands with a language of their own, each told to run $P on its standard input.
constexpr std::array<const char*, 10> commands = {
    "awk -- \"$P\"", "sed -- \"$P\"", "sed -E -n -- \"$P\"", "jq -- \"$P\"",         "bc -l <<< \"$P\"",
    "dc -e \"$P\"",  "yq -- \"$P\"",  "find . $P",           "printf -- \"$P\" 1 a", "date -d \"$P\"",
};

}  // namespace

// The first byte chooses the command; the text up to a NUL is the program, the rest what it reads. They run.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 2048) return 0;
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  std::size_t cut = text.find('\0');
  std::string_view input = cut == std::string_view::npos ? "a b c\n1 2 3\n" : text.substr(cut + 1);
  atl::shell::fuzz_run(commands[data[0] % commands.size()], input, {{"P", std::string(text.substr(0, cut))}});
  return 0;
}
