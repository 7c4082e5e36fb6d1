#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atl::auth {

// What a call is for. Every route of every dialect and every call of the session service names one; what a
// credential may do is decided by these and by nothing else. The words of to_string() are the API's, the
// store's and those of roles in YAML.
enum class Permission : std::uint8_t {
  unset,  // a route that forgot to say: the service does not start with it
  none,   // nothing of anybody's is shown or changed: health, version, who am I
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
  secrets_use,
  secrets_write,
  history_read,
  metrics_read,
  usage_read,
  tools_run,
  audit_read,
  keys,
  quotas,
  tenants,
  tenants_look,
  cluster,
};

inline constexpr std::array<std::string_view, 25> kPermissionWords = {
    "unset",        "none",         "catalog:read", "sessions:read", "sessions:write",
    "execute",      "files:read",   "files:write",  "terminal",      "ports",
    "snapshots",    "templates",    "volumes",      "secrets:use",   "secrets:write",
    "history:read", "metrics:read", "usage:read",   "tools:run",     "audit:read",
    "keys",         "quotas",       "tenants",      "tenants:look",  "cluster"};
static_assert(kPermissionWords.size() == static_cast<std::size_t>(Permission::cluster) + 1);

constexpr std::string_view to_string(Permission permission) {
  return kPermissionWords[static_cast<std::size_t>(permission)];
}

// Nothing for a word that names no permission; "none" and "unset" cannot be granted and name none.
constexpr std::optional<Permission> parse_permission(std::string_view word) {
  for (std::size_t at = 2; at < kPermissionWords.size(); ++at)
    if (kPermissionWords[at] == word) return static_cast<Permission>(at);
  return std::nullopt;
}

// Some of the permissions. An empty one allows nothing but Permission::none.
class PermissionSet {
 public:
  constexpr PermissionSet() = default;
  constexpr PermissionSet(std::initializer_list<Permission> permissions) {
    for (const Permission one : permissions) add(one);
  }
  static constexpr PermissionSet all() {
    PermissionSet set;
    for (std::size_t at = 2; at < kPermissionWords.size(); ++at) set.add(static_cast<Permission>(at));
    return set;
  }

  constexpr void add(Permission permission) { bits_ |= bit(permission); }
  constexpr void remove(Permission permission) { bits_ &= ~bit(permission); }
  // Permission::none is allowed to everybody, Permission::unset to nobody.
  constexpr bool has(Permission permission) const {
    return permission == Permission::none ||
           (permission != Permission::unset && (bits_ & bit(permission)) != 0);
  }
  constexpr bool contains(PermissionSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr bool has_any(PermissionSet other) const { return (other.bits_ & bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(std::popcount(bits_)); }
  // The first in the order of the table; Permission::unset of an empty set.
  constexpr Permission first() const {
    return bits_ == 0 ? Permission::unset : static_cast<Permission>(std::countr_zero(bits_));
  }
  constexpr PermissionSet operator&(PermissionSet other) const { return PermissionSet(bits_ & other.bits_); }
  constexpr PermissionSet operator|(PermissionSet other) const { return PermissionSet(bits_ | other.bits_); }
  // What this one has and the other has not.
  constexpr PermissionSet operator-(PermissionSet other) const { return PermissionSet(bits_ & ~other.bits_); }
  bool operator==(const PermissionSet&) const = default;

  // In the order of the table.
  std::vector<std::string> words() const {
    std::vector<std::string> words;
    for (std::size_t at = 2; at < kPermissionWords.size(); ++at)
      if (has(static_cast<Permission>(at))) words.emplace_back(kPermissionWords[at]);
    return words;
  }

 private:
  constexpr explicit PermissionSet(std::uint64_t bits) : bits_(bits) {}
  static constexpr std::uint64_t bit(Permission permission) {
    return std::uint64_t{1} << static_cast<unsigned>(permission);
  }
  std::uint64_t bits_ = 0;
};

// Rights over the machine and over tenants. Only principals of the tenant `default` ever have them, whatever
// their role says.
inline constexpr PermissionSet kMachinePermissions = {Permission::metrics_read, Permission::tenants,
                                                      Permission::tenants_look, Permission::cluster};
// What somebody may do who looks into another tenant (Permission::tenants_look): read facts, not contents.
inline constexpr PermissionSet kLookPermissions = {Permission::sessions_read, Permission::history_read,
                                                   Permission::usage_read, Permission::audit_read};
// What a session's own secret opens, for that session alone.
inline constexpr PermissionSet kDataPlanePermissions = {Permission::sessions_read, Permission::execute,
                                                        Permission::files_read,    Permission::files_write,
                                                        Permission::terminal,      Permission::ports};
// What makes sense for a key that is bound to some sessions or to one environment; it never has more.
inline constexpr PermissionSet kSessionPermissions = {
    Permission::catalog_read, Permission::sessions_read, Permission::sessions_write, Permission::execute,
    Permission::files_read,   Permission::files_write,   Permission::terminal,       Permission::ports,
    Permission::snapshots,    Permission::history_read,  Permission::secrets_use,    Permission::tools_run};

}  // namespace atl::auth
