#pragma once

#include <string>

#include "base/clock.h"
#include "net/http.h"

namespace atl::api::e2b {

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string to_http_date(WallTime time);

// What a client that has a copy wants, of something that was last changed at `modified`.
enum class Freshness {
  send,
  unchanged,  // 304: its copy is as new
  changed,    // 412: it wanted nothing newer
};
Freshness freshness_of(const net::Request& request, WallTime modified);
// Whether a Range still means what the client thinks (If-Range).
bool is_range_valid(const net::Request& request, WallTime modified);

}  // namespace atl::api::e2b
