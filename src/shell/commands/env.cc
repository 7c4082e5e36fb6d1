#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/table.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

int run_env(Invocation& call) {
  static constexpr Option kOptions[] = {{'i', 'i', "ignore-environment"}, {'0', '0', "null"}, {'u', 'u', "unset", Arg::required},
                                        {'C', 'C', "chdir", Arg::required}, {'S', 'S', "split-string", Arg::required}, {'v', 'v', "debug"}};
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
      case 'u': std::erase_if(environment, [&](const auto& row) { return row.first == value; }); break;
      case 'C': {
        auto path = call.resolve(value);
        if (!path || !call.fs().is_directory(*path)) return call.fail(fmt::format("cannot change directory to {}: No such file or directory", quoted(value)), 125);
        directory = *path;
        break;
      }
      case 'S': {
        std::vector<std::string> words;
        std::string word;
        for (char c : value + " ") {
          if (c != ' ' && c != '\t') {
            word += c;
          } else if (!word.empty()) {
            words.push_back(word);
            word.clear();
          }
        }
        operands.insert(operands.begin(), words.begin(), words.end());
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
    auto found = std::find_if(environment.begin(), environment.end(), [&](const auto& row) { return row.first == name; });
    if (found != environment.end()) found->second = value;
    else environment.emplace_back(name, value);
  }
  if (at == operands.size()) {
    std::string out;
    for (auto& [name, value] : environment) out += fmt::format("{}={}{}", name, value, end);
    call.out().write(out);
    return 0;
  }
  // Without PATH, programs are looked for in the default places.
  bool has_path = std::any_of(environment.begin(), environment.end(), [](const auto& row) { return row.first == "PATH"; });
  if (!has_path && operands[at].find('/') == std::string::npos && find_command(operands[at])) operands[at] = "/usr/bin/" + operands[at];
  Invocation::Redirects redirects;
  redirects.environment = &environment;
  if (directory) redirects.cwd = &*directory;
  return call.run(std::vector<std::string>(operands.begin() + static_cast<std::ptrdiff_t>(at), operands.end()), redirects);
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
    if (value) out += *value + end;
    else status = 1;
  }
  call.out().write(out);
  return status;
}

}  // namespace atl::shell
