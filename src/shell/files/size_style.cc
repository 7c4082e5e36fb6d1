#include "shell/files/size_style.h"

#include <fmt/format.h>

#include "shell/files/file_names.h"
#include "shell/text/numbers.h"

namespace atl::shell {

std::string SizeStyle::text(std::uint64_t bytes) const {
  if (human) return human_size(bytes, human);
  return std::to_string(bytes / unit + (bytes % unit ? 1 : 0)) + suffix;
}

bool parse_block_size(Invocation& call, std::string_view option, std::string_view value, SizeStyle& style) {
  style = {};
  if (value == "human-readable" || value == "si") {
    style.human = value == "si" ? 1000 : 1024;
    return true;
  }
  std::string_view text = value.starts_with('\'') ? value.substr(1) : value;
  bool number = !text.empty() && text[0] >= '0' && text[0] <= '9';
  if (!parse_size(text, style.unit) || style.unit == 0) {
    call.complain(fmt::format("invalid {}{} argument '{}'", number && style.unit != 0 ? "suffix in " : "",
                              option, value));
    return false;
  }
  // A unit alone is shown behind each size.
  if (!number) style.suffix = text == "KB" || text == "kB" ? "kB" : text == "k" ? "K" : std::string(text);
  return true;
}

}  // namespace atl::shell
