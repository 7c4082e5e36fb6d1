#pragma once

#include <functional>
#include <set>
#include <string>

#include "api/mcp/call.h"

namespace atl::api::mcp {

// What somebody wants to be told of.
struct Watched {
  bool tools = false, prompts = false, resources = false;
  std::set<std::string> uris;
};

// Puts a notification into the call's outbox whenever something of that changes for the caller. `watched` is
// asked again and again, because it may change; `finish` gives each notification its last touch. Ends only by
// being canceled, or when the outbox is closed.
boost::asio::awaitable<void> watch(CallPtr call, std::function<Watched()> watched,
                                   std::function<void(bj::object& params)> finish);

}  // namespace atl::api::mcp
