#include "cli/settings.h"

#include <CLI/CLI.hpp>

namespace atl::cli {

void SettingFlags::add_to(CLI::App& app) {
  app.add_option("--listen", listen_, "address of the API: HOST:PORT or unix:PATH (default 127.0.0.1:8000)");
  app.add_option("--data", data_, "data directory (default: the XDG data directory)");
  app.add_option("--config", config_, "configuration file (YAML)");
  app.add_option("--set", set_, "any other setting: KEY=VALUE; `atoll config` lists them")
      ->allow_extra_args(false);
}

Result<config::Configuration> SettingFlags::load() const {
  config::Sources sources;
  sources.file = file();
  sources.environment = config::atoll_environment();
  if (!listen_.empty()) sources.flags["listen"] = listen_;
  if (!data_.empty()) sources.flags["data"] = data_;
  for (const std::string& pair : set_) {
    auto equals = pair.find('=');
    if (equals == std::string::npos)
      return fail(Code::invalid_argument, "--set needs KEY=VALUE, got '" + pair + "'");
    sources.flags[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return config::Configuration::load(sources);
}

}  // namespace atl::cli
