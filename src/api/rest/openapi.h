#pragma once

#include <string>

namespace atl::api::rest {

// sdk/openapi.yaml as JSON; made once.
const std::string& openapi_json();

}  // namespace atl::api::rest
