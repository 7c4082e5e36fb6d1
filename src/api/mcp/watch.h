#pragma once

#include <functional>
#include <set>
#include <string>

#include "api/mcp/call.h"

namespace atl::api::mcp {

// What a client wants notifications of.
struct Watched {
  bool tools = false, prompts = false, resources = false;
  std::set<std::string> uris;
};

// Puts a notification into the call's outbox whenever something watched changes for the caller. `watched` is
// called before each look, because a client may subscribe meanwhile; `finish` may add members to each
// notification's parameters. Runs until it is canceled or the outbox is closed.
boost::asio::awaitable<void> watch(CallPtr call, std::function<Watched()> watched,
                                   std::function<void(bj::object& params)> finish);

}  // namespace atl::api::mcp
