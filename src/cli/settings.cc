#include "cli/settings.h"

#include <fmt/format.h>

#include "config/checked.h"

namespace atl::cli {

void SettingFlags::add_to(Command& command) {
  command.add_option("--listen", listen_,
                     "address of the API: HOST:PORT or unix:PATH (default 127.0.0.1:8000)");
  command.add_option("--data", data_, "data directory (default: the XDG data directory)").value("DIR");
  command.add_option("--config", config_, "configuration file (YAML)").value("FILE");
  command.add_option("--set", set_, "any other setting: KEY=VALUE; `atoll config` lists them")
      .one_value_each();
}

Result<config::Configuration> SettingFlags::load(const std::map<std::string, std::string>& over) const {
  config::Sources sources;
  sources.file = file();
  sources.environment = config::atoll_environment();
  for (const std::string& pair : set_) {
    auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(config::Checked("--set", pair)
                      .wrong("is no setting", "write KEY=VALUE; `atoll config` lists the keys"));
    sources.flags[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  for (const auto& [key, given] : {std::pair("listen", &listen_), std::pair("data", &data_)}) {
    if (given->empty()) continue;
    sources.flags[key] = *given;
    sources.spelled[key] = fmt::format("--{}", key);
  }
  for (const auto& [key, value] : over) sources.flags[key] = value;
  return config::Configuration::load(sources);
}

}  // namespace atl::cli
