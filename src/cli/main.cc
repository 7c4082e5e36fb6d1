#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>

#include "cli/command.h"
#include "config/document.h"

namespace atl::cli {
namespace {

// In the order of `atoll --help`.
constexpr Define kCommands[] = {
    define_serve,
    define_check,
    define_config,
    define_env,
    define_keys,
    define_run,
    define_doctor,
    define_shell,
    define_version,
};

// CLI11 says of a word that it does not know only that a subcommand is required.
bool knows(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return true;
  const std::vector<std::string_view> known(names.begin(), names.end());
  fmt::print(stderr, "atoll: no command is called '{}'{}; `atoll --help` lists them\n", word,
             config::did_you_mean(word, known));
  return false;
}

int run(int argc, char** argv) {
  CLI::App app("Atoll: stateful sandboxes for AI agents", "atoll");
  app.require_subcommand(1);
  app.set_version_flag("--version", ATOLL_VERSION);
  int status = 0;
  for (Define define : kCommands) {
    // Each command adds exactly one subcommand to the application.
    Action action = define(app);
    CLI::App* command = app.get_subcommands([](CLI::App*) { return true; }).back();
    command->callback([action, &status] { status = action(); });
  }
  if (argc > 1 && !knows(app, argv[1])) return 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    int parsed = app.exit(error);
    return parsed == 0 ? 0 : 2;
  }
  return status;
}

}  // namespace

int report(const Error& error) {
  fmt::print(stderr, "atoll: {}\n", error.message());
  if (!error.detail().empty()) fmt::print(stderr, "atoll: ({})\n", error.detail());
  return row(error.code()).exit_status;
}

}  // namespace atl::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return atl::cli::run(argc, argv);
}
