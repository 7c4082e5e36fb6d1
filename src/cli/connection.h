#pragma once

#include <string>

#include "cli/command_line.h"
#include "cli/settings.h"

namespace atl::cli {

// Where a service is and what to show it.
struct Endpoint {
  std::string url;  // "http://127.0.0.1:8000", "https://host", "unix:/path"
  std::string
      origin;       // who says so: "--url", "ATOLL_URL", "the running service of DIR", "the setting listen"
  std::string key;  // empty: none is known
};

// The flags of every command that talks to a service: --url and --key-file, and those that name a
// configuration.
class ConnectionFlags {
 public:
  void add_to(Command& command);
  // By --url, ATOLL_URL, the running service of the data directory, the setting `listen`, in this order. The
  // key by
  // --key-file, ATOLL_API_KEY, or what the running service left for commands of its owner. A file that cannot
  // be read, or that holds no key, is an error; a service that does not run is not, yet.
  Result<Endpoint> find() const;
  // Whether --url or ATOLL_URL name a service: for commands that look at the files of this machine otherwise.
  bool name_a_service() const;
  const SettingFlags& settings() const { return settings_; }

 private:
  SettingFlags settings_;
  std::string url_, key_file_;
};

}  // namespace atl::cli
