#include <cstddef>
#include <cstdint>

#include "shell/fuzz_run.h"

// The input is a script: lexer, parser, expansion, arithmetic, patterns, builtins, fibers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size <= 2048) atl::shell::fuzz_run({reinterpret_cast<const char*>(data), size});
  return 0;
}
