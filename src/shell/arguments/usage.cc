#include "shell/arguments/usage.h"

#include <fmt/format.h>

#include "shell/command.h"

namespace atl::shell {

std::string usage_hint(std::string_view name) {
  std::string_view base = name.substr(name.rfind('/') + 1);
  if (base.ends_with("grep"))
    return fmt::format("Usage: {0} [OPTION]... PATTERNS [FILE]...\nTry '{0} --help' for more information.\n",
                       name);
  if (base == "diff" || base == "cmp" || base == "patch")
    return fmt::format("{0}: Try '{0} --help' for more information.\n", name);
  if (base == "tar") return fmt::format("Try '{0} --help' or '{0} --usage' for more information.\n", name);
  if (base == "gzip" || base == "gunzip" || base == "zcat")
    return "Try `gzip --help' for more information.\n";
  if (base == "iconv") return fmt::format("Try `{0} --help' or `{0} --usage' for more information.\n", name);
  return fmt::format("Try '{} --help' for more information.\n", name);
}

int usage_error(Invocation& call, std::string_view message, int status) {
  call.complain(message);
  call.err().write(usage_hint(call.args()[0]));
  return status;
}

}  // namespace atl::shell
