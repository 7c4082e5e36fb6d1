#include <fmt/format.h>

#include "cli/command.h"

namespace atl::cli {

Action define_version(Command& top) {
  top.add_command("version", "Print the version");
  return [] {
    fmt::print("atoll " ATOLL_VERSION "\n");
    return 0;
  };
}

}  // namespace atl::cli
