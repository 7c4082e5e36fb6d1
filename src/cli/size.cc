#include "cli/size.h"

#include <charconv>
#include <string>

namespace atl::cli {

Result<std::uint64_t> parse_size(std::string_view text) {
  const Error wrong(Code::invalid_argument, "not a size: '" + std::string(text) + "' (write 256M or 1G)");
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return fail(wrong);
  std::string_view unit(end, text.size() - static_cast<std::size_t>(end - text.data()));
  if (unit.ends_with("iB"))
    unit.remove_suffix(2);
  else if (unit.ends_with("B"))
    unit.remove_suffix(1);
  double factor = 1;
  if (unit == "K" || unit == "k")
    factor = 1024.0;
  else if (unit == "M" || unit == "m")
    factor = 1024.0 * 1024;
  else if (unit == "G" || unit == "g")
    factor = 1024.0 * 1024 * 1024;
  else if (unit == "T" || unit == "t")
    factor = 1024.0 * 1024 * 1024 * 1024;
  else if (!unit.empty())
    return fail(wrong);
  const double bytes = number * factor;
  if (bytes > 1e18) return fail(wrong);
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace atl::cli
