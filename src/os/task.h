#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/result.h"

namespace atl {

// An operation that waits: a coroutine of the event loop that ends with a value or an Error.
//
// The daemon has one loop thread; sessions, sandboxes and connections live on it and need no locks. What
// computes or blocks for long goes to a worker pool and comes back (docs/decisions/one-loop-thread.md).
// A canceled operation ends with Code::canceled.
//
// g++ 12 mishandles some temporaries inside a co_await expression: give braced initialisers, lambdas and
// strings built on the spot a name first.
template <class T>
using Task = boost::asio::awaitable<Result<T>>;

}  // namespace atl
