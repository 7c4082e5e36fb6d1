#pragma once

#include <string>
#include <string_view>

#include "shell/command.h"

namespace atl::shell {

// How ls, du and df show sizes: as -h, --si or --block-size said.
struct SizeStyle {
  int human = 0;              // 1024 or 1000: as human_size() does
  std::uint64_t unit = 1024;  // else whole ones of these, rounded up
  std::string suffix;         // behind them
  // "1.5K", "12", "3M".
  std::string text(std::uint64_t bytes) const;
};
// The value of --block-size: "4K", "M", "human-readable", ... False after a complaint that names `option`.
bool parse_block_size(Invocation& call, std::string_view option, std::string_view value, SizeStyle& style);

}  // namespace atl::shell
