#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/command.h"
#include "config/checked.h"
#include "config/document.h"

namespace atl::cli {
namespace {

constexpr const char* kAnyText = "ANY TEXT";

std::string objection_to(const std::string& value) {
  if (value.empty()) return "is empty; leave the option out or give it a value";
  for (const char c : value)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return fmt::format("'{}' holds a control character; leave it out", config::shown(value));
  return {};
}

// Values are checked in one place, before any subcommand sees them.
void guard(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; }))
    if (option->get_expected_max() > 0 && option->get_type_name() != kAnyText)
      option->check(CLI::Validator(objection_to, ""));
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) guard(*command);
}

}  // namespace

Option Option::required() {
  return Option(option_->required());
}

Option Option::with_default_shown() {
  return Option(option_->capture_default_str());
}

Option Option::one_value_each() {
  return Option(option_->allow_extra_args(false));
}

Option Option::any_text() {
  return Option(option_->type_name(kAnyText));
}

Option Option::existing_directory() {
  const auto objection = [](const std::string& value) -> std::string {
    // What no value may be is said before what this one is not.
    if (std::string general = objection_to(value); !general.empty()) return general;
    std::error_code none;
    if (std::filesystem::is_directory(value, none)) return {};
    return fmt::format("'{}' is no directory that is there", value);
  };
  return Option(option_->check(CLI::Validator(objection, "")));
}

bool Option::was_given() const {
  return option_->count() > 0;
}

Command Command::add_command(const std::string& name, const std::string& about) {
  return Command(app_->add_subcommand(name, about));
}

Option Command::add_option(const std::string& names, std::string& into, const std::string& about) {
  return Option(app_->add_option(names, into, about));
}

Option Command::add_option(const std::string& names, std::vector<std::string>& into,
                           const std::string& about) {
  return Option(app_->add_option(names, into, about));
}

void Command::add_flag(const std::string& names, bool& into, const std::string& about) {
  app_->add_flag(names, into, about);
}

void Command::require_command() {
  app_->require_subcommand(1);
  app_->fallthrough();
}

void Command::end_options_at_arguments() {
  app_->positionals_at_end();
}

bool Command::was_chosen() const {
  return app_->parsed();
}

CommandLine::CommandLine(const std::string& name, const std::string& about, const std::string& version)
    : app_(std::make_unique<CLI::App>(about, name)) {
  app_->require_subcommand(1);
  app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

void CommandLine::add(Action (*define)(Command& top)) {
  Command program = top();
  actions_.push_back(std::make_unique<Action>(define(program)));
  // Each command adds exactly one subcommand to the application.
  CLI::App* command = app_->get_subcommands([](CLI::App*) { return true; }).back();
  command->callback([this, action = actions_.back().get()] { status_ = (*action)(); });
}

// The library says of a word that it does not know only that a subcommand is required.
bool CommandLine::knows(std::string_view word) const {
  std::vector<std::string> names;
  for (const CLI::App* command : std::as_const(*app_).get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return true;
  const std::vector<std::string_view> known(names.begin(), names.end());
  fmt::print(stderr, "atoll: no command is called '{}'{}; `atoll --help` lists them\n", config::shown(word),
             config::did_you_mean(word, known));
  return false;
}

int CommandLine::run(int argc, char** argv) {
  guard(*app_);
  try {
    if (argc > 1 && !knows(argv[1])) return 2;
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int parsed = app_->exit(error);
    std::cout.flush();
    return parsed == 0 && flush_output() ? 0 : 2;
  }
  return flush_output() || status_ != 0 ? status_ : 1;
}

}  // namespace atl::cli
