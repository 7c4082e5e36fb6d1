#pragma once

#include <string>
#include <vector>

#include "shell/command.h"
#include "shell/files/backup.h"

namespace atl::shell {

// What the options of cp, mv and install ask for.
struct CopySettings {
  enum class Links : unsigned char { unset, keep, follow, follow_arguments };  // -P, -L, -H
  bool recursive = false, force = false, ask = false, clobber = true, update = false, verbose = false;
  bool parents = false, hard_links = false, symbolic_links = false, no_target_directory = false,
       strip_slashes = false;
  bool remove_destination = false, attributes_only = false;
  bool keep_mode = false, keep_times = false, keep_owner = false, keep_links = false;
  bool plain_mode = false;  // --no-preserve=mode: as if the file were new
  Links links = Links::unset;
  Backup backup;
  std::string target_directory;
};

// What cp and mv share: finds where each source goes and whether it may, and copies or moves it. Goes on
// after a source that fails; returns 1 then, after a message for each.
int copy_operands(Invocation& call, std::vector<std::string> operands, const CopySettings& settings,
                  bool move);

}  // namespace atl::shell
