#include "cli/command_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace atl::cli {

bool OptionFacts::is_called(std::string_view name) const {
  return std::ranges::find(names, name) != names.end();
}

std::string_view OptionFacts::value_left_out() const {
  const std::string_view text = value;
  const std::size_t equals = text.find('=');
  if (!text.starts_with('[') || !text.ends_with(']') || equals == std::string_view::npos) return {};
  return text.substr(equals + 1, text.size() - equals - 2);
}

const std::string& OptionFacts::name() const {
  return *std::ranges::max_element(names, {}, &std::string::size);
}

const CommandFacts* CommandFacts::find(std::string_view word) const {
  const auto found = std::ranges::find(commands, word, &CommandFacts::name);
  return found == commands.end() ? nullptr : &*found;
}

const OptionFacts* CommandFacts::option(std::string_view wanted) const {
  for (const OptionFacts& one : options)
    if (!one.positional && one.is_called(wanted)) return &one;
  return nullptr;
}

const OptionFacts* CommandFacts::option_anywhere(std::string_view wanted) const {
  if (const OptionFacts* own = option(wanted)) return own;
  for (const CommandFacts& below : commands)
    if (const OptionFacts* found = below.option_anywhere(wanted)) return found;
  return nullptr;
}

std::vector<const OptionFacts*> CommandFacts::arguments() const {
  std::vector<const OptionFacts*> found;
  for (const OptionFacts& one : options)
    if (one.positional) found.push_back(&one);
  return found;
}

std::string typed(const CommandPath& path) {
  return fmt::format("{}", fmt::join(path | std::views::transform(&CommandFacts::name), " "));
}

std::string usage_of(const CommandFacts& command) {
  std::string text = "[OPTIONS]";
  if (!command.commands.empty()) text += " COMMAND";
  for (const OptionFacts* argument : command.arguments()) {
    // A program's own words stand behind the dashes, so that none of them is taken for an option.
    if (argument->name() == "command") {
      text += " -- COMMAND...";
      continue;
    }
    std::string word = argument->name();
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
    if (argument->repeats) word += "...";
    text += argument->required ? fmt::format(" {}", word) : fmt::format(" [{}]", word);
  }
  return text;
}

const OptionFacts* option_on(const CommandPath& path, std::string_view name) {
  for (const CommandFacts* command : path | std::views::reverse)
    if (const OptionFacts* found = command->option(name)) return found;
  return nullptr;
}

}  // namespace atl::cli
