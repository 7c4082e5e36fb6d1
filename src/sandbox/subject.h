#pragma once

#include "base/log_subject.h"
#include "sandbox/spec.h"

namespace atl::sandbox {

// Whom a line of the log about this sandbox is about. One that waits in a pool is nobody's.
inline log::Subject subject_of(const Spec& spec) {
  return {spec.tenant, spec.session_id, spec.trace};
}

}  // namespace atl::sandbox
