#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "atoll/async.h"
#include "atoll/options.h"

/// @file
/// Calls of the service's description whose bodies flow. Session has friendlier forms of the usual ones
/// (files, commands, terminals); these are for whatever else streams, and for programs that move bytes they
/// do not hold.
namespace atl::client {

namespace detail {
class Exchange;
class EventSource;
}  // namespace detail

/// How the body of a request goes to the service: with the request, in pieces of which nobody knows how many
/// come, or in pieces of as many bytes as the request's header Content-Length says.
enum class BodyForm : std::uint8_t { whole, pieces, sized };

/// One call under way. One thread at a time writes, one reads. Destroying it before the end closes its
/// connection, and the service ends what it did for this call alone.
class Transfer {
 public:
  explicit Transfer(std::shared_ptr<detail::Exchange> exchange) : exchange_(std::move(exchange)) {}

  /// Returns when the connection has taken the bytes. After a failure head() may still tell why the service
  /// wanted no more.
  void write(std::string bytes, CallOptions call = {}) {
    write_async(std::move(bytes), std::move(call)).get();
  }
  Async<void> write_async(std::string bytes, CallOptions call = {});
  /// Ends the request's body.
  void finish(CallOptions call = {}) { finish_async(std::move(call)).get(); }
  Async<void> finish_async(CallOptions call = {});
  /// Status and headers, without a body; a refusal is a ServiceError. Once, before read().
  Answer head(CallOptions call = {}) { return head_async(std::move(call)).get(); }
  Async<Answer> head_async(CallOptions call = {});
  /// The next piece, at most 64 KiB; empty at the end. ConnectionLostError if the answer was cut short.
  std::string read(CallOptions call = {}) { return read_async(std::move(call)).get(); }
  Async<std::string> read_async(CallOptions call = {});

 private:
  std::shared_ptr<detail::Exchange> exchange_;
};

/// One event of a stream, as it came.
struct StreamEvent {
  std::string id;    ///< of the last event that had one; where to go on: the header Last-Event-ID
  std::string name;  ///< message if it has none
  std::string data;
};

/// Events as the service sends them, or the one answer that it gave instead.
class EventStream {
 public:
  EventStream(std::shared_ptr<detail::EventSource> source, std::string answer)
      : source_(std::move(source)), answer_(std::move(answer)) {}

  /// The next event; nothing at the end. Waits for it without an end unless `call` says otherwise; after
  /// RequestTimeoutError and CallCanceledError the stream is over. ConnectionLostError if it was cut.
  std::optional<StreamEvent> next(CallOptions call = {}) { return next_async(std::move(call)).get(); }
  Async<std::optional<StreamEvent>> next_async(CallOptions call = {});
  /// The JSON that the service answered with instead of a stream, because there was nothing to follow: a
  /// policy's no, for example. Empty if it streams.
  const std::string& answer() const { return answer_; }

 private:
  std::shared_ptr<detail::EventSource> source_;  // null: it answered at once
  std::string answer_;
};

}  // namespace atl::client
