#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace atl::cli {

Action define_version(CLI::App& app) {
  app.add_subcommand("version", "Print the version");
  return [] {
    fmt::print("atoll " ATOLL_VERSION "\n");
    return 0;
  };
}

}  // namespace atl::cli
