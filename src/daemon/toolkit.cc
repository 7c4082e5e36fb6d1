#include "daemon/toolkit.h"

#include <fmt/format.h>

#include <filesystem>

#include "config/checked.h"
#include "config/configuration.h"
#include "os/file.h"
#include "storage/plugin_storage.h"
#include "storage/s3_storage.h"

namespace atl::daemon {

Result<skill::Declared> declared_skill(const registry::Entry& entry) {
  const config::Node& root = entry.document.root;
  skill::Declared one;
  one.name = entry.name;
  one.where = entry.where;
  one.directory = TRY(root.require<std::string>("directory"));
  if (!one.directory.starts_with('/'))
    return fail(root.find("directory")->error("'directory' is an absolute path"));
  one.digest = TRY(root.get_or<std::string>("digest", ""));
  if (one.digest.starts_with("sha256:")) one.digest.erase(0, 7);
  one.tenants = TRY(root.get_or<std::vector<std::string>>("tenants", {}));
  one.agents = TRY(root.get_or<std::vector<std::string>>("agents", {}));
  return one;
}

Result<std::vector<skill::Declared>> declared_skills(const registry::Registry& registry) {
  std::vector<skill::Declared> declared;
  for (const registry::Entry* entry : registry.entries("skills"))
    declared.push_back(TRY(declared_skill(*entry)));
  return declared;
}

Result<skill::Library::Options> skill_options(const config::Configuration& configuration,
                                              const std::string& data) {
  skill::Library::Options options;
  options.data = data + "/skills";
  std::error_code failed;
  if (const std::string& registry = configuration.text("registry"); !registry.empty())
    options.directories.push_back(std::filesystem::absolute(registry + "/skills", failed).lexically_normal());
  if (const std::string& directory = configuration.text("skills"); !directory.empty()) {
    if (!std::filesystem::is_directory(directory, failed))
      return fail(Error(Code::invalid_argument,
                        fmt::format("skills: '{}' is no directory that can be read; name one that has a "
                                    "directory with SKILL.md for each skill",
                                    config::shown(directory)))
                      .with_field("skills"));
    // What sandboxes are shown is named by its real path: no link on the way can be turned elsewhere later.
    options.directories.push_back(std::filesystem::canonical(directory, failed).string());
  }
  return options;
}

std::string plugin_sockets(const std::string& data) {
  return data + "/storage-plugins";
}

vfs::StorageKinds storage_kinds(const std::string& data) {
  vfs::StorageKinds kinds;
  kinds.add("s3", storage::s3_kind());
  kinds.add("plugin", storage::plugin_kind(plugin_sockets(data)));
  return kinds;
}

Result<std::vector<sandbox::emulated::StorageDeclaration>> declared_storages(
    const config::Configuration& configuration, const std::string& data) {
  const config::Value& setting = configuration.value("storages");
  const auto document = TRY(config::Document::parse(setting.text, "storages (" + setting.origin + ")"));
  return sandbox::emulated::parse_storages(document.root, storage_kinds(data), data + "/storages");
}

Result<std::vector<std::string>> plugin_mounts(const config::Configuration& configuration,
                                               const std::string& data) {
  std::vector<std::string> plugins = configuration.list("tools.plugins");
  if (plugins.empty()) return plugins;
  for (const std::string& directory : plugins) {
    std::error_code failed;
    if (!directory.starts_with('/') || !std::filesystem::is_directory(directory, failed))
      return fail(Error(Code::invalid_argument,
                        fmt::format("'{}' is no absolute path of a directory", config::shown(directory)))
                      .with_field("tools.plugins"));
  }
  const std::string place = data + "/plugin-host";
  TRY(os::make_directories(place, 0755));
  std::error_code failed;
  std::filesystem::copy_file("/proc/self/exe", place + "/atoll.new",
                             std::filesystem::copy_options::overwrite_existing, failed);
  if (!failed) std::filesystem::rename(place + "/atoll.new", place + "/atoll", failed);
  if (failed) return fail(errno_error(failed.value(), "put the program that loads plugins into its place"));
  plugins.push_back(place);
  return plugins;
}

}  // namespace atl::daemon
