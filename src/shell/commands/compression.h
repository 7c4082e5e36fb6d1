#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "shell/command.h"

namespace atl::shell {

// Whole texts in memory. Inflating stops with Code::too_large at 1 GiB or at an absurd ratio.
std::string deflate_gzip(Invocation& call, std::string_view text, int level);
Result<std::string> inflate_gzip(Invocation& call, std::string_view data);
std::string deflate_zstd(Invocation& call, std::string_view text, int level);
Result<std::string> inflate_zstd(Invocation& call, std::string_view data);
std::string deflate_bzip2(Invocation& call, std::string_view text, int level);
Result<std::string> inflate_bzip2(Invocation& call, std::string_view data);
std::string deflate_xz(Invocation& call, std::string_view text, int level);
// .xz and .lzma.
Result<std::string> inflate_xz(Invocation& call, std::string_view data);

}  // namespace atl::shell
