#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/command.h"

namespace atl::shell {

// What a walk shows of each entry. `shown` is the path as the user would see it.
struct Visit {
  std::string shown;
  vfs::Path path;
  vfs::Type type;
  int depth;
};

// What `each` answers: go into the directory, leave it out, or end the walk.
enum class Step : unsigned char { into, over, stop };

// Everything below `shown` (inclusive), directories before what they hold, names in byte order, without
// recursion. `each` says whether to go into a directory. `failed` hears of directories that cannot be listed.
// False if stopped.
bool walk(Invocation& call, const std::string& shown, bool follow_links,
          const std::function<Step(const Visit&)>& each,
          const std::function<void(const std::string& shown, const Error&)>& failed);

// The shown path of an entry below a shown directory: "." gives "./name", "/" gives "/name".
std::string join_shown(std::string_view directory, std::string_view name);
// fnmatch without FNM_PATHNAME unless `path`: * ? [..] and backslash.
bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case = false, bool path = false,
                bool leading_period = false);

}  // namespace atl::shell
