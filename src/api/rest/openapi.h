#pragma once

#include <string>

#include "base/result.h"
#include "config/document.h"

namespace atl::api::rest {

// sdk/openapi.yaml as JSON; made once.
const std::string& openapi_json();
// A YAML document as JSON: plain scalars become numbers, booleans and null as YAML 1.2 reads them.
std::string yaml_as_json(const config::Node& node);

}  // namespace atl::api::rest
