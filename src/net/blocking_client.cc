#include "net/blocking_client.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>

namespace atl::net {

BlockingClient::BlockingClient(Url url, std::chrono::milliseconds wait, std::uint64_t body_bytes_max)
    : url_(std::move(url)), whole_(4 * wait) {
  options_.tries = 1;
  options_.connect_time = options_.head_time = options_.stall_time = wait;
  options_.body_bytes_max = body_bytes_max;
}

Result<ClientResponse> BlockingClient::send(ClientRequest request) {
  ClientResponse response;
  const Work work = [&](Client& client, Time&) -> Task<void> {
    CO_TRY(response, co_await client.send(std::move(request)));
    co_return Result<void>();
  };
  TRY(run(work));
  return response;
}

Result<ClientResponse> BlockingClient::send_for_head(ClientRequest request) {
  ClientResponse response;
  const Work work = [&](Client& client, Time&) -> Task<void> {
    // Nobody comes behind it who could use its connection.
    CO_TRY(const auto call, co_await client.open(std::move(request)));
    CO_TRY(response, co_await call->head());
    co_return Result<void>();
  };
  TRY(run(work));
  return response;
}

Result<void> BlockingClient::send_for_heads(const std::function<std::optional<ClientRequest>()>& next,
                                            const std::function<Result<void>(const ClientResponse&)>& took) {
  const Work work = [&](Client& client, Time& deadline) -> Task<void> {
    while (auto request = next()) {
      deadline = std::chrono::steady_clock::now() + whole_;
      CO_TRY(const ClientResponse answer, co_await client.send_for_head(std::move(*request)));
      CO_CHECK(took(answer));
    }
    co_return Result<void>();
  };
  return run(work);
}

// Client and loop live for one call: a loop that does not run between calls would not notice that a kept
// connection died, and a call that took too long ends with them.
Result<void> BlockingClient::run(const Work& work) {
  std::optional<Result<void>> result;
  boost::asio::io_context loop(1);
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return fail(Code::canceled, "stopping");
    loop_ = &loop;
  }
  Time deadline = std::chrono::steady_clock::now() + whole_;
  Client client(loop.get_executor(), url_, options_);
  boost::asio::co_spawn(loop, work(client, deadline),
                        [&](const std::exception_ptr& thrown, Result<void> value) {
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
