#pragma once

#include "api/e2b/context.h"
#include "api/e2b/egress.h"
#include "api/e2b/templates.h"

namespace atl::api::e2b {

// The body of both generations of create, without its template. Code::invalid_argument in E2B's words.
Result<session::CreateRequest> create_request(const Object& message, bool second_generation,
                                              const Seal& seal);

// What the template says, under what the request says.
void apply_template(const Template& made_from, session::CreateRequest& request);

}  // namespace atl::api::e2b
