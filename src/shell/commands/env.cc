#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/command_table.h"
#include "shell/program_start.h"
#include "shell/runner.h"
#include "shell/text/quotes.h"

namespace atl::shell::env_program {

namespace {

// As `env -S` reads a string: blanks separate, quotes of both kinds and backslashes protect.
std::optional<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool any = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      any = true;
    } else if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? '\0' : c;
      any = true;
    } else if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      if (any) words.push_back(std::exchange(word, {}));
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (quote) return std::nullopt;
  if (any) words.push_back(word);
  return words;
}

}  // namespace

int run_env(Invocation& call) {
  static constexpr Option kOptions[] = {{'i', 'i', "ignore-environment"},
                                        {'0', '0', "null"},
                                        {'u', 'u', "unset", Arg::required},
                                        {'C', 'C', "chdir", Arg::required},
                                        {'S', 'S', "split-string", Arg::required}};
  CommandLine options(call, kOptions, {.permute = false, .status = 125});
  if (options.stopped()) return options.status();
  auto environment = call.environment();
  char end = '\n';
  std::optional<vfs::Path> directory;
  auto operands = options.operands();
  if (!operands.empty() && operands[0] == "-") {
    environment.clear();
    operands.erase(operands.begin());
  }
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'i': environment.clear(); break;
      case '0': end = '\0'; break;
      case 'u':
        if (value.empty() || value.find('=') != std::string::npos)
          return call.fail(fmt::format("cannot unset {}: Invalid argument", quote_operand(value)), 125);
        std::erase_if(environment, [&](const auto& row) { return row.first == value; });
        break;
      case 'C': {
        auto path = call.resolve(value);
        if (!path || !call.fs().is_directory(*path))
          return call.fail(
              fmt::format("cannot change directory to {}: No such file or directory", quote_operand(value)),
              125);
        directory = *path;
        break;
      }
      case 'S': {
        auto words = split_words(value);
        if (!words) return call.fail("no terminating quote in -S string", 125);
        operands.insert(operands.begin(), words->begin(), words->end());
        break;
      }
      default: break;
    }
  }
  std::size_t at = 0;
  for (; at < operands.size(); ++at) {
    std::size_t equals = operands[at].find('=');
    if (equals == std::string::npos || equals == 0) break;
    std::string name = operands[at].substr(0, equals), value = operands[at].substr(equals + 1);
    auto found = std::find_if(environment.begin(), environment.end(),
                              [&](const auto& row) { return row.first == name; });
    if (found != environment.end())
      found->second = value;
    else
      environment.emplace_back(name, value);
  }
  if (at == operands.size()) {
    std::string out;
    for (auto& [name, value] : environment) out += fmt::format("{}={}{}", name, value, end);
    call.out().write(out);
    return 0;
  }
  // Without PATH, programs are looked for in the default places.
  bool has_path = std::any_of(environment.begin(), environment.end(),
                              [](const auto& row) { return row.first == "PATH"; });
  if (!has_path && operands[at].find('/') == std::string::npos && find_command(operands[at]))
    operands[at] = "/usr/bin/" + operands[at];
  Invocation::Redirects redirects;
  redirects.environment = &environment;
  if (directory) redirects.cwd = &*directory;
  const std::string& program = operands[at];
  auto path = std::find_if(environment.begin(), environment.end(),
                           [](const auto& row) { return row.first == "PATH"; });
  bool same_path = path == environment.end() || call.runner().variables().get_value("PATH") == path->second;
  if (same_path && !directory)
    if (int status = refuse_start(call, program, "'{}'"); status != 0) return status;
  return call.run(
      std::vector<std::string>(operands.begin() + static_cast<std::ptrdiff_t>(at), operands.end()),
      redirects);
}

int run_printenv(Invocation& call) {
  static constexpr Option kOptions[] = {{'0', '0', "null"}};
  CommandLine options(call, kOptions, {.permute = false, .status = 2});
  if (options.stopped()) return options.status();
  char end = options.found().empty() ? '\n' : '\0';
  std::string out;
  int status = 0;
  if (options.operands().empty())
    for (auto& [name, value] : call.environment()) out += fmt::format("{}={}{}", name, value, end);
  for (const std::string& name : options.operands()) {
    auto value = call.variable(name);
    if (value)
      out += *value + end;
    else
      status = 1;
  }
  call.out().write(out);
  return status;
}

}  // namespace atl::shell::env_program
