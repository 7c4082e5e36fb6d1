#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <system_error>

#include "cli/command.h"
#include "config/checked.h"
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
  fmt::print(stderr, "atoll: no command is called '{}'{}; `atoll --help` lists them\n", config::shown(word),
             config::did_you_mean(word, known));
  return false;
}

constexpr const char* kAnyText = "ANY TEXT";

std::string objection_to(const std::string& value) {
  if (value.empty()) return "is empty; leave the option out or give it a value";
  for (const char c : value)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return fmt::format("'{}' holds a control character; leave it out", config::shown(value));
  return {};
}

// Before any subcommand sees a value: the same for all of them.
void guard(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; }))
    if (option->get_expected_max() > 0 && option->get_type_name() != kAnyText)
      option->check(CLI::Validator(objection_to, ""));
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) guard(*command);
}

// A descriptor that is closed when we start would be given to the first file that is opened, and what is
// meant for people would be written into that. Reading the first and writing the second fails, as it does
// with a closed one; what is said to a closed standard error is said to nobody.
void occupy_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == 1 ? O_RDONLY : O_WRONLY);
}

int run(int argc, char** argv) {
  occupy_standard_descriptors();
  CLI::App app("Atoll: stateful sandboxes for AI agents", "atoll");
  app.require_subcommand(1);
  app.set_version_flag("--version", "atoll " ATOLL_VERSION);
  int status = 0;
  for (Define define : kCommands) {
    // Each command adds exactly one subcommand to the application.
    Action action = define(app);
    CLI::App* command = app.get_subcommands([](CLI::App*) { return true; }).back();
    command->callback([action, &status] { status = action(); });
  }
  guard(app);
  try {
    if (argc > 1 && !knows(app, argv[1])) return 2;
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    int parsed = app.exit(error);
    std::cout.flush();
    return parsed == 0 && flush_output() ? 0 : 2;
  } catch (const std::system_error& error) {
    // What is printed and cannot be written comes as an exception of the library that prints. Standard error
    // may be what failed, so it is not printed to again.
    const std::string message = fmt::format("atoll: output cannot be written: {}\n", error.what());
    (void)!::write(STDERR_FILENO, message.data(), message.size());
    return 1;
  }
  return flush_output() || status != 0 ? status : 1;
}

}  // namespace

int report(const Error& error) {
  fmt::print(stderr, "atoll: {}\n", error.message());
  if (!error.detail().empty()) fmt::print(stderr, "atoll: ({})\n", error.detail());
  return row(error.code()).exit_status;
}

CLI::Option* take_any_text(CLI::Option* option) {
  return option->type_name(kAnyText);
}

bool flush_output() {
  // An earlier failure has left its mark, its reason is gone by now.
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed_before && std::cout) return true;
  fmt::print(stderr, "atoll: standard output cannot be written{}{}\n", errno != 0 ? ": " : "",
             errno != 0 ? std::strerror(errno) : "");
  std::clearerr(stdout);
  return false;
}

}  // namespace atl::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return atl::cli::run(argc, argv);
}
