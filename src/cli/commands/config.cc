#include <fmt/format.h>

#include "cli/command.h"
#include "cli/settings.h"

namespace atl::cli {
namespace {

int show(const SettingFlags& flags) {
  auto configuration = flags.load();
  if (!configuration) return report(configuration.error());
  for (const std::string& warning : configuration->warnings()) fmt::print(stderr, "atoll: {}\n", warning);
  for (const config::Setting& setting : config::settings()) {
    const config::Value& value = configuration->value(setting.key);
    std::string shown = setting.secret && !value.text.empty() ? "(set)"
                        : value.text.empty()                  ? "\"\""
                                                              : value.text;
    fmt::print("{:<24} {:<24} # {}; {}\n", fmt::format("{}:", setting.key), shown, value.origin,
               setting.help);
  }
  return 0;
}

}  // namespace

Action define_config(Command& top) {
  Command command = top.add_command("config", "Show every setting, its value and where it came from");
  auto flags = std::make_unique<SettingFlags>();
  flags->add_to(command);
  return [flags = std::move(flags)] { return show(*flags); };
}

}  // namespace atl::cli
