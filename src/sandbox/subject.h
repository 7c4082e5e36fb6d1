#pragma once

#include "base/log_subject.h"
#include "sandbox/spec.h"

namespace atl::sandbox {

// The tenant and session that a line of the log about this sandbox names; none for one that waits in a pool.
inline log::Subject subject_of(const Spec& spec) {
  return {spec.tenant, spec.session_id, spec.trace};
}

}  // namespace atl::sandbox
