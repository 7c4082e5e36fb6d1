#pragma once

#include <string_view>

#include "net/http.h"

// What a request's head must keep to beyond what the parser checks, so that no two programs in a row can read
// two different requests out of the same bytes. Internal to the room.
namespace atl::net {

// A header line that goes on in the next one (RFC 9112 5.2 forbids it). `head` are bytes of a head, from the
// start of a line.
bool has_folded_line(std::string_view head);

// Checks how the request says where its body ends and whom it is for; splits the target into path and query.
// A target in absolute form replaces Host. `version` is 10 or 11. The error is for the client.
Result<void> check_head(Request& request, int version);

}  // namespace atl::net
