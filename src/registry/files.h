#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

// Which files an operator's directory has, and whether they changed. Internal to the room.
namespace atl::registry {

using FileMarks = std::map<std::string, std::pair<std::int64_t, std::uint64_t>>;  // time of change, size

// The YAML files of environments/, by their name there.
FileMarks environment_files(const std::string& directory);
// The YAML files of every kind, by their path.
FileMarks all_files(const std::string& directory);

}  // namespace atl::registry
