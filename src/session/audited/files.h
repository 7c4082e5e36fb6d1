#pragma once

#include <memory>
#include <string>

#include "sandbox/files.h"
#include "session/audited/trail.h"

namespace atl::session::audited {

// The files of a session, with an entry for every call. Objects are "<session>:<path>".
std::shared_ptr<sandbox::Files> with_entries(std::shared_ptr<sandbox::Files> files, Trail trail,
                                             std::string session_id);

}  // namespace atl::session::audited
