#pragma once

#include <string>

#include "session/live.h"

// Where the skills of a session are whose image decides about its working directory.
namespace atl::session {

// The directory in which programs of this session's sandbox begin; `otherwise` where no image decides.
std::string working_directory_of(const Live& live, std::string otherwise);

// Tells programs inside where the session's skills are. Nothing without skills, or where a session's own
// variables say it already. Its sandbox runs.
void lead_to_skills(const Live& live);

}  // namespace atl::session
