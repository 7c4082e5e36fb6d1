#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/permission.h"
#include "base/result.h"

namespace atl::auth {

// A named set of permissions.
struct Role {
  std::string name;
  PermissionSet permissions;
  std::string tenant;  // whose it is; empty: every tenant has it
  bool operator==(const Role&) const = default;
};

inline constexpr std::string_view kViewer = "viewer", kDeveloper = "developer", kOperator = "operator",
                                  kAdmin = "admin";

// The shipped roles (viewer, developer, operator, admin) and those that tenants have of their own, which
// cannot have the name of a shipped one. Belongs to the loop thread.
class Roles {
 public:
  Roles();

  // Reads every *.yaml of `directory` (docs/guides/governance.md). A directory that is not there has none.
  // Code::invalid_argument naming file and key for what is wrong; then nothing is changed.
  Result<void> load(const std::string& directory);
  // Whether the files there are no longer those that load() read.
  bool is_outdated(const std::string& directory) const;
  // Code::already_exists, or Code::invalid_argument for a name that a shipped role has.
  Result<void> add(Role role);

  // Nothing if the tenant has no role of that name.
  std::optional<PermissionSet> find(std::string_view tenant, std::string_view name) const;
  // Those that keys of the tenant can have, by name.
  std::vector<Role> of(std::string_view tenant) const;

 private:
  // A file's path to its size and when it was changed.
  using Marks = std::map<std::string, std::pair<std::uint64_t, std::filesystem::file_time_type>>;
  static Result<Marks> look(const std::string& directory);

  Marks marks_;
  std::map<std::string, Role, std::less<>> shipped_;
  std::map<std::pair<std::string, std::string>, Role> own_;  // by tenant and name
};

// What remains of a role's permissions in this tenant: rights over the machine belong to `default`.
constexpr PermissionSet in_tenant(PermissionSet permissions, std::string_view tenant) {
  return tenant == "default" ? permissions : permissions - kMachinePermissions;
}

}  // namespace atl::auth
