#include "net/blocking_client.h"

#include <boost/asio/co_spawn.hpp>
#include <optional>

namespace atl::net {

BlockingClient::BlockingClient(Url url, std::chrono::milliseconds wait) : url_(std::move(url)) {
  options_.tries = 1;
  options_.connect_time = options_.head_time = options_.stall_time = wait;
  options_.body_bytes_max = 1U << 20;
}

// The client lives for one call: a loop that does not run between calls would not notice that a kept
// connection died.
Result<ClientResponse> BlockingClient::send(ClientRequest request) {
  std::optional<Result<ClientResponse>> result;
  loop_.restart();
  if (stopped_) return fail(Code::canceled, "stopping");
  Client client(loop_.get_executor(), url_, options_);
  boost::asio::co_spawn(loop_, client.send(std::move(request)),
                        [&](const std::exception_ptr& thrown, Result<ClientResponse> value) {
                          if (thrown) value = fail(Code::internal, "the call failed");
                          result.emplace(std::move(value));
                        });
  while (!result && !stopped_ && loop_.run_one() > 0) {
  }
  if (!result) return fail(Code::canceled, "stopping");
  return std::move(*result);
}

void BlockingClient::stop() {
  stopped_ = true;
  loop_.stop();
}

}  // namespace atl::net
