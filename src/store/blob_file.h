#pragma once

#include <string>

#include "base/result.h"

namespace atl::store {

// Where Blobs keeps the file of a digest.
std::string blob_path(const std::string& directory, const std::string& digest);
// At most so many bytes from the front of it. From any thread; blocks. Code::not_found.
Result<std::string> beginning_of_blob(const std::string& directory, const std::string& digest,
                                      std::size_t bytes);

}  // namespace atl::store
