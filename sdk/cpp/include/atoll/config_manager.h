#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "atoll/errors.h"

/// @file
/// Settings of the service: found, merged and explained by the rules of `atoll config`.
namespace atl::client {

/// One setting. `origin` is default, FILE:LINE, environment NAME or --set KEY. A secret's value is "(set)".
struct ConfigValue {
  std::string key;
  std::string value;
  std::string origin;
  std::string help;
};

/// Where values may come from besides the defaults.
struct ConfigSources {
  /// Else ATOLL_CONFIG, else the first that exists of $XDG_CONFIG_HOME/atoll/config.yaml and
  /// /etc/atoll/config.yaml.
  std::optional<std::string> file;
  std::optional<std::map<std::string, std::string>> environment;  ///< this process's unless given
  std::map<std::string, std::string> arguments;                   ///< by key; they win
};

/// Merges, in order of growing priority, defaults, a file, variables ATOLL_* and arguments. Immutable: any
/// thread.
class ConfigManager {
 public:
  /// ConfigurationError with place and hint for an unknown key, a wrong value or a file that cannot be read.
  explicit ConfigManager(ConfigSources sources = {});

  /// Each throws ConfigurationError if there is no such setting.
  const ConfigValue& value(const std::string& key) const;
  const std::string& get(const std::string& key) const { return value(key).value; }
  const std::string& origin(const std::string& key) const { return value(key).origin; }
  /// Every setting in the order of keys.
  const std::vector<ConfigValue>& values() const { return values_; }
  /// The file that was read; empty: none was there.
  const std::string& file() const { return file_; }
  /// Variables that look like ours and are not.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Each setting, or one: its value, where it comes from, what it is for.
  std::string explain(const std::string& key = {}) const;

 private:
  std::string file_;
  std::vector<ConfigValue> values_;
  std::vector<std::string> warnings_;
};

}  // namespace atl::client
