#include "auth/role.h"

#include <fmt/format.h>

#include <filesystem>

#include "auth/principal.h"
#include "config/checked.h"
#include "config/document.h"

namespace atl::auth {
namespace {

constexpr std::size_t kNameMax = 64;

constexpr PermissionSet kViewerPermissions = {Permission::catalog_read, Permission::sessions_read,
                                              Permission::files_read, Permission::history_read,
                                              Permission::usage_read};
constexpr PermissionSet kDeveloperPermissions =
    kViewerPermissions | PermissionSet{Permission::sessions_write, Permission::execute,
                                       Permission::files_write,    Permission::terminal,
                                       Permission::ports,          Permission::snapshots,
                                       Permission::templates,      Permission::volumes,
                                       Permission::secrets_use,    Permission::tools_run};
// Looks after what others run, and after the machine where its tenant may; grants nothing to anybody.
constexpr PermissionSet kOperatorPermissions =
    kDeveloperPermissions | PermissionSet{Permission::secrets_write, Permission::metrics_read,
                                          Permission::audit_read, Permission::tenants_look,
                                          Permission::cluster};

// The permissions of shipped roles that a role has too.
Result<PermissionSet> read_extended(const config::Node& root, const Roles& shipped) {
  PermissionSet permissions;
  const config::Node* list = root.find("extends");
  if (list == nullptr || list->is_null()) return permissions;
  TRY(list->expect(config::Kind::sequence));
  for (const config::Node& item : list->items()) {
    const auto found = shipped.find(kDefaultTenant, item.text());
    if (!found)
      return fail(item.error(fmt::format("'{}' is no shipped role: viewer, developer, operator or admin",
                                         config::shown(item.text()))));
    permissions = permissions | *found;
  }
  return permissions;
}

Result<Role> parse_role(const config::Document& document, const Roles& shipped) {
  const config::Node& root = document.root;
  TRY(root.check_keys({"name", "tenant", "description", "permissions", "extends"}));
  Role role;
  role.name = TRY(root.require<std::string>("name"));
  role.tenant = TRY(root.get_or<std::string>("tenant", ""));
  for (const auto& [key, text] : {std::pair("name", &role.name), std::pair("tenant", &role.tenant)}) {
    const config::Node* node = root.find(key);
    if (node == nullptr || node->is_null()) continue;
    if (auto good = config::Checked(key, *text).name(kNameMax); !good)
      return fail(node->error(good.error().message()));
  }
  role.permissions = TRY(read_extended(root, shipped));
  const config::Node* list = root.find("permissions");
  if (list == nullptr && root.find("extends") != nullptr) return role;
  if (list == nullptr || !list->is_sequence())
    return fail(root.error("missing key 'permissions', a list such as [sessions:read, execute]"));
  for (const config::Node& item : list->items()) {
    const auto permission = parse_permission(item.text());
    if (!permission) {
      const std::span<const std::string_view> known(kPermissionWords.begin() + 2, kPermissionWords.end());
      return fail(item.error(fmt::format("'{}' is no permission{}", config::shown(item.text()),
                                         config::did_you_mean(item.text(), known))));
    }
    role.permissions.add(*permission);
  }
  return role;
}

}  // namespace

Roles::Roles() {
  const auto ship = [&](std::string_view name, PermissionSet permissions) {
    shipped_.emplace(std::string(name), Role{std::string(name), permissions, ""});
  };
  ship(kViewer, kViewerPermissions);
  ship(kDeveloper, kDeveloperPermissions);
  ship(kOperator, kOperatorPermissions);
  ship(kAdmin, PermissionSet::all());
}

Result<Roles::Marks> Roles::look(const std::string& directory) {
  Marks marks;
  std::error_code failed;
  if (!std::filesystem::is_directory(directory, failed)) return marks;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    const auto extension = entry.path().extension();
    std::error_code gone;
    if (extension == ".yaml" || extension == ".yml")
      marks[entry.path().string()] = {entry.file_size(gone), entry.last_write_time(gone)};
  }
  if (failed)
    return fail(Code::invalid_argument, fmt::format("{}: cannot be read: {}", directory, failed.message()));
  return marks;
}

bool Roles::is_outdated(const std::string& directory) const {
  const auto now = look(directory);
  return !now || *now != marks_;
}

Result<void> Roles::load(const std::string& directory) {
  Roles read;
  read.marks_ = TRY(look(directory));
  for (const auto& [path, mark] : read.marks_) {
    const config::Document document = TRY(config::Document::load(path));
    Role role = TRY(parse_role(document, read));
    if (auto added = read.add(std::move(role)); !added)
      return fail(document.root.error(added.error().message()));
  }
  own_ = std::move(read.own_);
  marks_ = std::move(read.marks_);
  return {};
}

Result<void> Roles::add(Role role) {
  if (shipped_.contains(role.name))
    return fail(Code::invalid_argument,
                fmt::format("'{}' is a shipped role; choose another name", role.name));
  auto place = std::pair(role.tenant, role.name);
  const std::string name = role.name, tenant = role.tenant;
  if (!own_.emplace(std::move(place), std::move(role)).second)
    return fail(Code::already_exists, fmt::format("tenant {} has a role '{}' already", tenant, name));
  return {};
}

std::optional<PermissionSet> Roles::find(std::string_view tenant, std::string_view name) const {
  if (const auto shipped = shipped_.find(name); shipped != shipped_.end())
    return in_tenant(shipped->second.permissions, tenant);
  auto own = own_.find(std::pair(std::string(tenant), std::string(name)));
  if (own == own_.end()) own = own_.find(std::pair(std::string(), std::string(name)));
  if (own == own_.end()) return std::nullopt;
  return in_tenant(own->second.permissions, tenant);
}

std::vector<Role> Roles::of(std::string_view tenant) const {
  std::vector<Role> roles;
  for (const auto& [name, role] : shipped_) {
    roles.push_back(role);
    roles.back().permissions = in_tenant(role.permissions, tenant);
  }
  for (const auto& [place, role] : own_) {
    if (!place.first.empty() && place.first != tenant) continue;
    roles.push_back(role);
    roles.back().permissions = in_tenant(role.permissions, tenant);
  }
  return roles;
}

}  // namespace atl::auth
