#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace atl::daemon {

// How commands on this machine reach the running service of a data directory: its address and a key that only
// the process and the file know. Whoever may read the file owns the data directory and could change
// everything in it anyway. The key is an admin's of `default`, is in force while the service runs, and is
// recorded like every other.
struct LocalAccess {
  std::string address;  // "http://127.0.0.1:8000", "unix:/path"
  std::string key;
};

// Into `directory`/daemon.json, mode 0600.
Result<void> write_local_access(const std::string& directory, const LocalAccess& access);
// Nothing if no service left one, or what it left cannot be read. The service may be gone all the same.
std::optional<LocalAccess> read_local_access(const std::string& directory);
void remove_local_access(const std::string& directory);

}  // namespace atl::daemon
