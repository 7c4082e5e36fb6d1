#pragma once

#include <string>

// The sandbox that is made for one call of a tool. It may reach more than its tenant otherwise does, and has
// headers with secrets added to its requests: only the call itself uses it, others may look at it and end it.
namespace atl::session {

// The attribute of such a session, with the tool's name. Clients set no attributes.
inline constexpr const char* kToolAttribute = "atoll.tool";

// Principal::role of the call that the session was made for. No role is called so: names have no colon.
inline std::string tool_role(const std::string& session_id) {
  return "tool:" + session_id;
}

}  // namespace atl::session
