#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/commands/jq/value.h"

namespace atl::shell::yq {

// The documents of a YAML stream as JSON values: scalars by YAML 1.2's core rules, anchors expanded, "<<"
// merged, keys as texts. Comments and tags are not kept. Bounded; an error names line and column.
Result<std::vector<jq::Value>> read_yaml(std::string_view text, const std::string& name);

// One value in block style with a line end behind it.
void write_yaml(std::string& out, const jq::Value& value, int indent);

}  // namespace atl::shell::yq
