#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "registry/registry.h"
#include "sandbox/storages.h"
#include "skill/library.h"

namespace atl::config {
class Configuration;
}

// What the settings and the registry say about skills, storages and plugins.
namespace atl::daemon {

// A skill that the registry declares. Code::invalid_argument for a directory that is no absolute path.
Result<skill::Declared> declared_skill(const registry::Entry& entry);
Result<std::vector<skill::Declared>> declared_skills(const registry::Registry& registry);
// Where skills are looked for and kept. Code::invalid_argument if the setting `skills` names no directory.
Result<skill::Library::Options> skill_options(const config::Configuration& configuration,
                                              const std::string& data);
// The kinds that an operator can declare. A storage of one's own is one more line here.
vfs::StorageKinds storage_kinds(const std::string& data);
// Where the processes of storage plugins listen.
std::string plugin_sockets(const std::string& data);
// The setting `storages`. Code::invalid_argument that names what is wrong in it.
Result<std::vector<sandbox::emulated::StorageDeclaration>> declared_storages(
    const config::Configuration& configuration, const std::string& data);

// The directories of the host that sandboxes of plugins see: those of the setting `tools.plugins`, and one of
// the data directory that has this program in it, which is put there. None without the setting.
// Code::invalid_argument if it names something else than a directory.
Result<std::vector<std::string>> plugin_mounts(const config::Configuration& configuration,
                                               const std::string& data);

}  // namespace atl::daemon
