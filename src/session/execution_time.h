#pragma once

#include <chrono>

#include "registry/registry.h"
#include "session/types.h"

namespace atl::session {

// What binds an execution in that language, or a foreground command (Language::shell), that names no time of
// its own: what somebody chose for the session, its agent or its environment, else what the registry has for
// the language.
inline std::chrono::milliseconds execution_time(const Session& session, const registry::Registry& registry,
                                                sandbox::Language language) {
  return session.wall_time_set ? session.limits.wall_time : registry.execution_time(language);
}

}  // namespace atl::session
