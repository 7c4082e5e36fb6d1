#pragma once

#include <string>
#include <vector>

#include "shell/command.h"

namespace atl::shell {

struct CopySettings {
  bool recursive = false, preserve = false, force = false, ask = false, clobber = true, update = false, verbose = false;
  bool backup = false, parents = false, hard_links = false, symbolic_links = false, no_target_directory = false;
  bool follow = true;          // a link named as the source
  bool follow_set = false;
  bool follow_inside = false;  // links inside a tree (-L)
  bool links_inside = false;
  std::string suffix = "~", target_directory;
};

// What cp and mv share: where each source goes, whether it may, and doing it.
int copy_operands(Invocation& call, std::vector<std::string> operands, const CopySettings& settings, bool move);

}  // namespace atl::shell
