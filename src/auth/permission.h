#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace atl::auth {

// What a call is for. Every route names one; what a credential may do is decided by these and by nothing
// else.
enum class Permission : std::uint8_t {
  none,  // nothing of anybody's is shown or changed: health, version
  catalog_read,
  sessions_read,
  sessions_write,
  execute,
  files_read,
  files_write,
  terminal,
  ports,
  snapshots,
  templates,
  volumes,
  secrets_write,
  history_read,
  metrics_read,
  keys,
  cluster,
};

constexpr std::string_view to_string(Permission permission) {
  constexpr std::array<std::string_view, 17> kWords = {
      "none",          "catalog:read", "sessions:read", "sessions:write", "execute",   "files:read",
      "files:write",   "terminal",     "ports",         "snapshots",      "templates", "volumes",
      "secrets:write", "history:read", "metrics:read",  "keys",           "cluster"};
  return kWords[static_cast<std::size_t>(permission)];
}

}  // namespace atl::auth
