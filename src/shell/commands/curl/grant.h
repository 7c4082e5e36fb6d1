#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/network.h"

namespace atl::shell::curl {

// A URL taken apart and brought to one form, so that two spellings of one place compare equal.
struct Target {
  std::string scheme;  // "http" or "https"
  std::string host;    // small letters; an IPv6 address without brackets
  std::uint16_t port = 80;
  std::string path;   // begins with '/', dot segments resolved, percent signs in one form
  std::string query;  // with its '?', or empty
  std::string user;   // "name:password", or empty

  std::string text() const;  // without user
};

// invalid_argument with curl's words for a URL that cannot be read; unsupported for a scheme other than
// http(s).
Result<Target> parse_url(std::string_view text);
// Where a Location header leads.
Result<Target> follow(const Target& from, std::string_view location);

bool granted(const std::vector<NetworkGrant>& grants, std::string_view method, const Target& target);

}  // namespace atl::shell::curl
