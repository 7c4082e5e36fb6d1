#pragma once

#include <memory>
#include <string>

#include "api/rest/context.h"
#include "sandbox/files.h"

namespace atl::api::rest {

// The bounds of a listing, whose memory counts as this request's.
sandbox::ListBounds list_bounds(Request& request);
// {"path","entries":[...]}; a long one is written piece by piece.
Task<void> send_directory(net::Exchange& exchange, std::shared_ptr<sandbox::Files> files, std::string path,
                          std::uint32_t depth, std::string user);
// The content of a file, or the range that the request asks for, with flat memory.
Task<void> send_file(net::Exchange& exchange, std::shared_ptr<sandbox::Files> files, sandbox::FileInfo info,
                     std::string path, std::string user);

}  // namespace atl::api::rest
