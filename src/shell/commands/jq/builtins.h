#pragma once

#include <span>

#include "shell/commands/jq/machine.h"

namespace atl::shell::jq {

// Rows of the other files that hold builtins.
// Constant tables; find_builtin() searches all of them.
std::span<const BuiltinRow> value_builtins();
std::span<const BuiltinRow> text_builtins();
std::span<const BuiltinRow> stream_builtins();

// split/2 and splits: the pieces of the input between matches, as an array or (`stream`) one by one.
bool split_by_regex(Machine& m, const Node& n, const Env* env, const Value& in, const Out& out, bool stream);

// The head of a builtin, with the parameters of BuiltinRow::run; a builtin may leave any of them unused.
#define ATOLL_JQ_BUILTIN(name)                                                                            \
  bool name([[maybe_unused]] Machine& m, [[maybe_unused]] const Node& n, [[maybe_unused]] const Env* env, \
            [[maybe_unused]] const Value& in, [[maybe_unused]] const Path* path,                          \
            [[maybe_unused]] const Out& out)

}  // namespace atl::shell::jq
