#include "net/blocking_client.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <optional>

namespace atl::net {
namespace {

Task<ClientResponse> whole_answer(Client& client, ClientRequest request) {
  co_return co_await client.send(std::move(request));
}

Task<ClientResponse> head_of_answer(Client& client, ClientRequest request) {
  CO_TRY(const auto call, co_await client.open(std::move(request)));
  co_return co_await call->head();
}

}  // namespace

BlockingClient::BlockingClient(Url url, std::chrono::milliseconds wait, std::uint64_t body_bytes_max)
    : url_(std::move(url)), whole_(4 * wait) {
  options_.tries = 1;
  options_.connect_time = options_.head_time = options_.stall_time = wait;
  options_.body_bytes_max = body_bytes_max;
}

Result<ClientResponse> BlockingClient::send(ClientRequest request) {
  return run(whole_answer, std::move(request));
}

Result<ClientResponse> BlockingClient::send_for_head(ClientRequest request) {
  return run(head_of_answer, std::move(request));
}

// Client and loop live for one call: a loop that does not run between calls would not notice that a kept
// connection died, and a call that took too long ends with them.
Result<ClientResponse> BlockingClient::run(Call call, ClientRequest request) {
  std::optional<Result<ClientResponse>> result;
  boost::asio::io_context loop(1);
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return fail(Code::canceled, "stopping");
    loop_ = &loop;
  }
  const auto deadline = std::chrono::steady_clock::now() + whole_;
  Client client(loop.get_executor(), url_, options_);
  boost::asio::co_spawn(loop, call(client, std::move(request)),
                        [&](const std::exception_ptr& thrown, Result<ClientResponse> value) {
                          if (thrown) value = fail(Code::internal, "the call failed");
                          result.emplace(std::move(value));
                        });
  while (!result && loop.run_one_until(deadline) > 0) {
  }
  const std::lock_guard lock(mutex_);
  loop_ = nullptr;
  if (result) return std::move(*result);
  if (stopped_) return fail(Code::canceled, "stopping");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(whole_).count();
  return fail(Code::deadline_exceeded, fmt::format("no whole answer came within {} s", seconds));
}

void BlockingClient::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (loop_ != nullptr) loop_->stop();
}

}  // namespace atl::net
