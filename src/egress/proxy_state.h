#pragma once

#include <list>
#include <memory>
#include <string>

#include "egress/proxy.h"

namespace atl::egress {

// What a proxy and its connections share. Connections keep it alive.
struct Proxy::State {
  boost::asio::any_io_executor executor;
  std::shared_ptr<const Rules> rules;
  Outside outside;
  Observer observer;
  std::list<std::shared_ptr<Connection>> connections;  // each also held by the coroutine that serves it

  void report(std::string host, std::uint16_t port, bool allowed, std::string reason) const {
    if (observer) observer({std::move(host), port, allowed, std::move(reason)});
  }
};

}  // namespace atl::egress
