#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "net/http.h"

// Bodies of requests and answers, for handlers of every dialect. All of it belongs to the loop thread and
// keeps at most one piece in memory, but for read_body().
namespace atl::api::http {

// Gives the next piece of some content; empty at its end.
using Source = std::function<Task<std::string>()>;
// Takes the next piece of some content.
using Sink = std::function<Task<void>(std::string)>;

// Writes the content as the body of an answer that was started, and finishes the answer. `promised` is the
// length given to start(): content that grew meanwhile is cut there, content that became shorter is
// Code::data_loss, so that the client sees a broken answer. A HEAD request gets no body.
Task<void> send_content(net::Exchange& exchange, Source next, std::optional<std::uint64_t> promised);

// Hands the body of the request to `write`, piece by piece, to its end.
Task<void> receive_content(net::Exchange& exchange, Sink write);

// Reads the whole body and what it says, with `read` (Result<Wanted>(const std::string&)). The body's memory
// is given back before this returns, because the call that follows may last for hours.
template <class Wanted, class Read>
Task<Wanted> read_body(net::Exchange& exchange, Read read) {
  CO_TRY(const net::WholeBody body, co_await exchange.read_whole());
  co_return read(body.text);
}

}  // namespace atl::api::http
