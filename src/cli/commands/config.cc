#include <fmt/format.h>

#include <boost/json.hpp>

#include "cli/command.h"
#include "cli/settings.h"

namespace atl::cli {
namespace {

// Secrets are told as set or not.
int show_json(const config::Configuration& configuration) {
  boost::json::object all;
  for (const config::Setting& setting : config::settings()) {
    const config::Value& value = configuration.value(setting.key);
    const bool hidden = setting.secret && !value.text.empty();
    all[setting.key] = boost::json::object{
        {"value", hidden ? "(set)" : value.text}, {"origin", value.origin}, {"help", setting.help}};
  }
  fmt::print("{}\n", boost::json::serialize(all));
  return flush_output() ? 0 : 1;
}

int show(const SettingFlags& flags, bool json) {
  auto configuration = flags.load();
  if (!configuration) return report(configuration.error());
  for (const std::string& warning : configuration->warnings()) fmt::print(stderr, "atoll: {}\n", warning);
  if (json) return show_json(*configuration);
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
  struct ConfigFlags {
    SettingFlags settings;
    bool json = false;
  };
  auto flags = std::make_unique<ConfigFlags>();
  flags->settings.add_to(command);
  command.add_flag("--json", flags->json, "As JSON");
  return [flags = std::move(flags)] { return show(flags->settings, flags->json); };
}

}  // namespace atl::cli
