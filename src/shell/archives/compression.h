#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "shell/command.h"

namespace atl::shell {

// Ends the script when `in` packed bytes have become more than its limits allow.
void check_unpacked(Invocation& call, std::uint64_t out, std::uint64_t in);

// Whole texts in memory, under the limits of archives.
// Deflating cannot fail. Inflating fails with invalid_argument if the data is damaged or cut off, and with
// unsupported if it does not begin as gzip or bzip2 data does. Both throw Stopped at the limits.
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
