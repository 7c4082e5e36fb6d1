#pragma once

#include <span>

#include "shell/commands/jq/machine.h"

namespace atl::shell::jq {

// Rows of the other files that hold builtins.
std::span<const BuiltinRow> value_builtins();
std::span<const BuiltinRow> text_builtins();

bool split_by_regex(Machine& m, const Node& n, const Env* env, const Value& in, const Out& out, bool stream);

}  // namespace atl::shell::jq
