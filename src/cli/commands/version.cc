#include "cli/version.h"

#include <fmt/format.h>

#include "cli/command.h"

namespace atl::cli {

Action define_version(Command& top) {
  Command command = top.add_command("version", "Print the version");
  auto json = std::make_unique<bool>(false);
  command.add_flag("--json", *json, "As JSON");
  return [json = std::move(json)] {
    if (*json)
      fmt::print("{{\"name\":\"atoll\",\"version\":\"{}\"}}\n", version());
    else
      fmt::print("atoll {}\n", version());
    return 0;
  };
}

}  // namespace atl::cli
