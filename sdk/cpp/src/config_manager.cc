#include "atoll/config_manager.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/configuration.h"

namespace atl::client {
namespace {

constexpr const char* kConfigHint = "`atoll config` lists the settings";

std::string shown(const config::Setting& setting, const config::Value& value) {
  if (setting.secret && !value.text.empty()) return "(set)";
  return value.text;
}

std::string explained(const ConfigValue& one) {
  return fmt::format("{} = {}  [{}]  {}", one.key, one.value.empty() ? "(empty)" : one.value, one.origin,
                     one.help);
}

}  // namespace

ConfigManager::ConfigManager(ConfigSources sources) {
  config::Sources from;
  from.environment = sources.environment ? *sources.environment : config::atoll_environment();
  // The client's own variables: no settings of the service, and no mistakes either.
  for (const char* name : {"ATOLL_URL", "ATOLL_PROGRAM"}) from.environment.erase(name);
  const std::string named = sources.file.value_or("");
  from.file = sources.environment ? config::find_file(named, from.environment) : config::find_file(named);
  from.flags = std::move(sources.arguments);
  auto loaded = config::Configuration::load(from);
  if (!loaded) throw ConfigurationError(loaded.error().message(), kConfigHint);
  for (const config::Setting& setting : config::settings()) {
    const config::Value& value = loaded->value(setting.key);
    values_.push_back(
        {std::string(setting.key), shown(setting, value), value.origin, std::string(setting.help)});
  }
  std::ranges::sort(values_, {}, &ConfigValue::key);
  file_ = from.file;
  warnings_ = loaded->warnings();
}

const ConfigValue& ConfigManager::value(const std::string& key) const {
  auto found = std::ranges::lower_bound(values_, key, {}, &ConfigValue::key);
  if (found == values_.end() || found->key != key)
    throw ConfigurationError(fmt::format("there is no setting '{}'", key), kConfigHint);
  return *found;
}

std::string ConfigManager::explain(const std::string& key) const {
  if (!key.empty()) return explained(value(key));
  std::string all;
  for (const ConfigValue& one : values_) all += (all.empty() ? "" : "\n") + explained(one);
  return all;
}

}  // namespace atl::client
