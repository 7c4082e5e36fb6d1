#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shell/commands/awk/ast.h"
#include "shell/commands/jq/ast.h"
#include "shell/commands/sed/script.h"

// The parsers of awk, jq and sed on any text; the first byte chooses.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0: (void)atl::shell::awk::parse(text); break;
    case 1: (void)atl::shell::jq::parse(text, {}); break;
    case 2: (void)atl::shell::sed::parse(text, {}); break;
    default: (void)atl::shell::jq::parse_json(text);
  }
  return 0;
}
