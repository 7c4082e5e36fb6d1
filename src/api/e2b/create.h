#pragma once

#include "api/e2b/context.h"

namespace atl::api::e2b {

// The body of both generations of create, without its template. Code::invalid_argument in E2B's words.
Result<session::CreateRequest> create_request(const Object& message, bool second_generation);

}  // namespace atl::api::e2b
