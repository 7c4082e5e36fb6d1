#pragma once

#include "sandbox/limit_table.h"

namespace atl::registry {

// The registry's files and requests name limits as patches over those beneath.
using sandbox::apply;
using sandbox::LimitsPatch;
using sandbox::merge;

}  // namespace atl::registry
