#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/command.h"
#include "cli/mistakes.h"
#include "config/checked.h"

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

// Whoever asks about a command learns of the options of the commands above it, too: they hold there as well.
class HelpText final : public CLI::Formatter {
  std::string make_footer(const CLI::App* app) const override {
    std::string text;
    for (const CLI::App* above = app->get_parent(); above != nullptr && above->get_parent() != nullptr;
         above = above->get_parent()) {
      text += fmt::format("\nOptions of every `{}`:\n", path_of_app(*above));
      for (const CLI::Option* option :
           above->get_options([](const CLI::Option* one) { return one->nonpositional(); }))
        if (option != above->get_help_ptr()) text += make_option(option, false);
    }
    return text + CLI::Formatter::make_footer(app);
  }
  static std::string path_of_app(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name()
                                       : path_of_app(*app.get_parent()) + " " + app.get_name();
  }
};

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (names.empty()) names.push_back(option.get_name());
  return names;
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts;
  facts.names = names_of(option);
  facts.positional = option.get_positional();
  if (option.get_expected_max() > 0) {
    facts.value = option.get_type_name() == kAnyText ? "TEXT" : option.get_type_name();
    if (facts.value.empty()) facts.value = "TEXT";
    facts.repeats = option.get_expected_max() > 1 || option.get_allow_extra_args();
  }
  facts.about = option.get_description();
  facts.default_text = option.get_default_str();
  facts.required = option.get_required();
  return facts;
}

CommandFacts facts_of(const CLI::App& app) {
  CommandFacts facts;
  facts.name = app.get_name();
  facts.about = app.get_description();
  facts.notes = app.get_footer();
  facts.hidden = app.get_group().empty();
  facts.arguments_end_options = app.get_positionals_at_end();
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; }))
    facts.options.push_back(facts_of(*option));
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    facts.commands.push_back(facts_of(*below));
  return facts;
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

Option Option::value(const std::string& word) {
  return Option(option_->type_name(word));
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

void Command::notes(const std::string& text) {
  app_->footer(text);
}

void Command::hide() {
  app_->group("");
}

CommandFacts Command::facts() const {
  return facts_of(*app_);
}

bool Command::was_chosen() const {
  return app_->parsed();
}

CommandLine::CommandLine(const std::string& name, const std::string& about, const std::string& version)
    : app_(std::make_unique<CLI::App>(about, name)) {
  app_->formatter(std::make_shared<HelpText>());
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

CommandFacts CommandLine::facts() const {
  return facts_of(*app_);
}

int CommandLine::answer(const std::vector<std::string>& words, const std::string& complaint) const {
  const CommandFacts program = facts();
  const CommandPath path = path_of(program, words);
  fmt::print(stderr, "atoll: {}\nwrite `{} {}`; `{} --help` says more\n", complaint, typed(path),
             usage_of(*path.back()), typed(path));
  return 2;
}

int CommandLine::run(int argc, char** argv) {
  guard(*app_);
  std::vector<std::string> words;
  try {
    const CommandFacts program = facts();
    words = put_in_order(program, std::vector<std::string>(argv + 1, argv + std::max(argc, 1)));
    if (words.empty()) words.emplace_back("--help");
    if (const auto mistake = mistake_in(program, words)) {
      fmt::print(stderr, "{}", *mistake);
      return 2;
    }
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as the library wants them
    app_->parse(std::move(reversed));
  } catch (const CLI::Success& asked) {
    (void)app_->exit(asked);
    std::cout.flush();
    return flush_output() ? 0 : 2;
  } catch (const CLI::ParseError& error) {
    return answer(words, error.what());
  }
  return flush_output() || status_ != 0 ? status_ : 1;
}

}  // namespace atl::cli
