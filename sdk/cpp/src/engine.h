#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "atoll/async.h"
#include "atoll/errors.h"
#include "atoll/options.h"

// How calls reach the service: connections, time-outs, repetitions, cancellation. Everything above works with
// whole answers and pieces of them and knows nothing of sockets; everything of Boost stays in engine.cc.
namespace atl::client::detail {

// Longer than any execution: what bounds a call is its own time.
inline constexpr Milliseconds kForever{std::chrono::hours(24 * 365)};

struct Head {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string header(std::string_view name) const;
};

// How the request's body goes: at once, or with write() and finish(), of a length that is not known or that
// the header Content-Length says.
enum class Body : std::uint8_t { whole, streamed, sized };

// One call whose bodies flow. Destroying it early closes the connection, and the service ends what it ran for
// this call alone. One operation at a time each way; after one that timed out or was canceled the connection
// is closed.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual Async<void> write(std::string bytes, CallOptions call) = 0;
  virtual Async<void> finish(CallOptions call) = 0;
  virtual Async<Head> head(CallOptions call) = 0;
  // At most 64 KiB of the answer; empty: the end. ConnectionLostError if it broke off.
  virtual Async<std::string> read(CallOptions call) = 0;
  // The rest of the answer.
  virtual Async<std::string> read_all(CallOptions call) = 0;
  // After a 101: bytes of the bare connection. Empty: the other side closed.
  virtual Async<std::string> read_raw(CallOptions call) = 0;
  virtual Async<void> write_raw(std::string bytes, CallOptions call) = 0;
};

// Calls of one client. Any thread; its own thread does the work and runs what waits for it.
class Engine {
 public:
  // ConfigurationError if the options cannot be used.
  static std::shared_ptr<Engine> make(ClientOptions options);
  virtual ~Engine() = default;

  virtual const ClientOptions& options() const = 0;
  // The whole answer. A status of 400 and above that `accepted` is not is thrown as its error. `usual` is the
  // call's time unless `call` has one.
  virtual Async<Answer> send(Request request, CallOptions call, std::optional<Milliseconds> usual = {},
                             int accepted = 0) = 0;
  // Connects and sends the head, and the body if it is whole. Never repeated once it was sent.
  virtual Async<std::shared_ptr<Exchange>> open(Request request, Body body, CallOptions call,
                                                std::optional<Milliseconds> usual = {}) = 0;
  // Ends every call under way.
  virtual void close() = 0;
  // Sends without anybody who waits for it; `failed` may be told on the engine's thread.
  virtual void send_and_forget(Request request, std::function<void(const std::string&)> failed) = 0;
};

}  // namespace atl::client::detail
