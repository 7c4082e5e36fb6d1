#pragma once

#include <string>
#include <vector>

#include "shell/command.h"
#include "shell/commands/backup.h"

namespace atl::shell {

struct CopySettings {
  enum class Links : unsigned char { unset, keep, follow, follow_arguments };  // -P, -L, -H
  bool recursive = false, force = false, ask = false, clobber = true, update = false, verbose = false;
  bool parents = false, hard_links = false, symbolic_links = false, no_target_directory = false, strip_slashes = false;
  bool remove_destination = false, attributes_only = false;
  bool keep_mode = false, keep_times = false, keep_owner = false, keep_links = false;
  bool plain_mode = false;  // --no-preserve=mode: as if the file were new
  Links links = Links::unset;
  Backup backup;
  std::string target_directory;
};

// What cp and mv share: where each source goes, whether it may, and doing it.
int copy_operands(Invocation& call, std::vector<std::string> operands, const CopySettings& settings, bool move);

}  // namespace atl::shell
