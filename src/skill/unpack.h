#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

// How skills come in from outside and are copied. Internal to the room; all of it blocks.
namespace atl::skill {

// Unpacks a tar, compressed or not, or a git bundle into `place`/tree by the secure extraction of src/layer.
// Code::invalid_argument for what is neither, and for links, devices and names that must not be in an
// archive; Code::too_large beyond the bound.
Result<void> unpack(int archive, const std::string& place, std::uint64_t bytes_max);
// The directories in `tree` that are skills: the tree's only directory or those beneath it, or, if the tree
// itself has a SKILL.md, the tree under the name that the file gives it. Code::invalid_argument if there is
// none.
Result<std::vector<std::string>> find_skills(const std::string& tree);
// Files and directories; symbolic links and whatever else are left out.
Result<void> copy_tree(const std::string& from, const std::string& to);
// Nobody may write, everybody may read.
Result<void> make_read_only(const std::string& directory);

}  // namespace atl::skill
