#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/text/quotes.h"

namespace atl::shell::basename_program {

int run_basename(Invocation& call) {
  static constexpr Option kOptions[] = {
      {'a', 'a', "multiple"}, {'s', 's', "suffix", Arg::required}, {'z', 'z', "zero"}};
  CommandLine options(call, kOptions, {.permute = false});
  if (options.stopped()) return options.status();
  bool multiple = false;
  std::string suffix;
  char end = '\n';
  for (auto& [id, value] : options.found()) {
    if (id == 'a') multiple = true;
    if (id == 's') suffix = value, multiple = true;
    if (id == 'z') end = '\0';
  }
  auto& operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing operand");
  if (!multiple) {
    if (operands.size() > 2)
      return usage_error(call, fmt::format("extra operand {}", quote_operand(operands[2])));
    if (operands.size() == 2) suffix = operands[1];
    operands.resize(1);
  }
  std::string out;
  for (const std::string& operand : operands) {
    std::string_view name = base_name(operand);
    if (!suffix.empty() && name.size() > suffix.size() && name.ends_with(suffix))
      name.remove_suffix(suffix.size());
    out += name;
    out += end;
  }
  call.out().write(out);
  return 0;
}

int run_dirname(Invocation& call) {
  static constexpr Option kOptions[] = {{'z', 'z', "zero"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  if (options.operands().empty()) return usage_error(call, "missing operand");
  std::string out;
  for (const std::string& operand : options.operands()) {
    out += dir_name(operand);
    out += options.found().empty() ? '\n' : '\0';
  }
  call.out().write(out);
  return 0;
}

}  // namespace atl::shell::basename_program
