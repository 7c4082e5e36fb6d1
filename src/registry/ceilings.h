#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "registry/limits.h"

namespace atl::registry {

// The most that anybody gets, limit by limit, in the units in which a client writes them. A limit that is not
// among them has no maximum.
struct Ceiling {
  double most = 0;
  std::string reason;  // "this machine has that much", "the operator's limits.max.memory_mb"
};
using Ceilings = std::map<std::string, Ceiling, std::less<>>;

// Every limit there is, as a client writes it: "memory_mb", "cpu_cores", ...
std::vector<std::string_view> limit_names();

// What this machine has: memory, processors, disk and inodes where `directory` is, processes, files that one
// process may have open. What cannot be found out is not among them.
Ceilings machine_ceilings(const std::string& directory);

// Code::invalid_argument for what is asked for beyond a ceiling: field "limits.NAME", with the most there is
// and why.
Result<void> check(const LimitsPatch& asked, const Ceilings& ceilings);
// What nobody asked for by himself (an environment's, a default) is cut to what there is.
void clamp(sandbox::Limits& limits, const Ceilings& ceilings);

}  // namespace atl::registry
