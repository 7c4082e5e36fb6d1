#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "config/configuration.h"

namespace atl::cli {

// The flags that set configuration values: --config FILE, --listen, --data, and --set KEY=VALUE for all
// others.
class SettingFlags {
 public:
  void add_to(Command& command);
  // File, environment and flags together; `over` stands above all of them.
  Result<config::Configuration> load(const std::map<std::string, std::string>& over = {}) const;
  std::string file() const { return config::find_file(config_); }
  // Whether --data was given.
  bool name_a_data_directory() const { return !data_.empty(); }

 private:
  std::string config_, listen_, data_;  // never empty when given: main refuses that
  std::vector<std::string> set_;
};

}  // namespace atl::cli
