#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "net/client.h"

namespace atl::cli {

// Where a service speaks MCP, and what opens it.
struct McpService {
  std::string address;  // "http://127.0.0.1:8000", "unix:/path"
  std::string key;      // empty: none is shown
};

// Carries the messages of an MCP client that speaks over lines to a service that speaks over HTTP, and its
// answers back. Every revision passes through: what a client says decides which headers a request gets.
// Belongs to the loop thread. Requests under way share its state and may end after it.
class McpBridge {
 public:
  // Takes one message for the client.
  using Write = std::function<void(std::string line)>;
  // Finds a service when the one that was used is gone; Code::unavailable if there is none.
  using Find = std::function<Task<McpService>()>;

  McpBridge(boost::asio::any_io_executor executor, McpService service, Find find, Write write);
  ~McpBridge();

  // Takes one line of the client and returns when the next may come: at once for requests; for `initialize`
  // and notifications after the service has answered, because later requests rely on them.
  boost::asio::awaitable<void> take(std::string line);
  // The client has closed its end: waits for the answers of what runs, then ends the connection.
  boost::asio::awaitable<void> finish();
  // Whatever runs is given up.
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace atl::cli
