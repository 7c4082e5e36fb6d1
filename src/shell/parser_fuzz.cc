#include <cstdint>
#include <string>

#include "shell/parser.h"

namespace {
class Context final : public atl::shell::ParserContext {
 public:
  bool extglob() const override { return true; }
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  Context context;
  atl::shell::Parser parser(std::string(reinterpret_cast<const char*>(data), size), context);
  try {
    while (parser.next()) {
    }
  } catch (const atl::shell::SyntaxError&) {
  }
  return 0;
}
