#pragma once

#include <string>
#include <vector>

namespace atl::shell {

// What network commands may reach: URLs below `url_prefix` (scheme, host, port and whole path segments must
// agree) with one of these methods. "https://api.example.org/v1" covers /v1 and /v1/users, not /v10.
struct NetworkGrant {
  std::string url_prefix;
  std::vector<std::string> methods = {"GET", "HEAD"};
};

}  // namespace atl::shell
