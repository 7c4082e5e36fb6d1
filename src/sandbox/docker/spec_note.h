#pragma once

#include <boost/json/value.hpp>

#include "sandbox/spec.h"

namespace atl::sandbox::docker {

// Limits and specs as the broker carries them: limits to the engine, specs to a later daemon. What is missing
// has its default.
boost::json::value to_json(const Limits& limits);
Limits limits_of(const boost::json::value& value);
boost::json::value to_json(const Spec& spec);
Spec spec_of(const boost::json::value& value);

}  // namespace atl::sandbox::docker
