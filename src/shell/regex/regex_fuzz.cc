#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shell/regex/regex.h"

// The first byte chooses the syntax, the text up to a NUL is the pattern, the rest the subject.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  std::size_t cut = text.find('\0');
  std::string_view subject = cut == std::string_view::npos ? std::string_view() : text.substr(cut + 1);
  auto regex = atl::shell::Regex::compile(text.substr(0, cut), static_cast<atl::shell::Syntax>(data[0] % 5));
  std::vector<atl::shell::Regex::Span> spans;
  if (regex) (void)regex->search(subject, 0, spans);
  return 0;
}
