#include "sandbox/gvisor/client.h"

#include "os/message.h"

namespace atl::sandbox::gvisor {

BrokerClient::BrokerClient(boost::asio::any_io_executor executor, os::Fd socket)
    : executor_(executor), socket_(executor, socket.release()) {}

void BrokerClient::start() {
  listen();
}

void BrokerClient::listen() {
  if (!socket_.is_open()) return;
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [weak = weak_from_this()](boost::system::error_code error) {
                       const auto self = weak.lock();
                       if (!error && self) self->receive();
                     });
}

void BrokerClient::receive() {
  while (socket_.is_open()) {
    auto message = os::receive_message(socket_.native_handle(), os::Wait::no);
    if (!message && message.error().code() == Code::unavailable) break;
    if (!message || message->bytes.empty()) return lose();
    auto reply = decode_reply(message->bytes);
    if (!reply) continue;
    const auto found = pending_.find(reply->token);
    if (found == pending_.end()) continue;
    const auto pending = found->second;
    pending_.erase(found);
    if (reply->error)
      pending->answer.emplace(fail(std::move(*reply->error)));
    else if (message->fds_lost)
      pending->answer.emplace(fail(Code::resource_exhausted, "the service has too many files open"));
    else
      pending->answer.emplace(Answer{std::move(*reply), std::move(message->fds)});
    pending->arrived.notify();
  }
  listen();
}

void BrokerClient::lose() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  for (auto& [token, pending] : std::exchange(pending_, {})) {
    pending->answer.emplace(fail(Code::provider_failed, "the broker of runsc has ended"));
    pending->arrived.notify();
  }
}

void BrokerClient::close() {
  lose();
}

void BrokerClient::tell(Request request) {
  request.token = 0;
  if (socket_.is_open()) (void)os::send_message(socket_.native_handle(), encode(request));
}

Task<BrokerClient::Answer> BrokerClient::call(Request request) {
  const auto self = shared_from_this();
  if (!socket_.is_open()) co_return fail(Code::provider_failed, "the broker of runsc has ended");
  request.token = next_token_++;
  const auto pending = std::make_shared<Pending>(executor_);
  pending_.emplace(request.token, pending);
  if (auto sent = os::send_message(socket_.native_handle(), encode(request)); !sent) {
    pending_.erase(request.token);
    co_return fail(std::move(sent).error().context("ask the broker of runsc"));
  }
  // Whoever gives up waiting leaves the answer to nobody; what it brings is closed.
  while (!pending->answer) CO_CHECK(co_await pending->arrived.wait());
  co_return std::move(*pending->answer);
}

Result<BrokerClient::Answer> BrokerClient::call_now(Request request) {
  request.token = next_token_++;
  TRY(os::send_message(socket_.native_handle(), encode(request)));
  os::Message message = TRY(os::receive_message(socket_.native_handle()));
  if (message.bytes.empty()) return fail(Code::not_found, "the broker is ending");
  Reply reply = TRY(decode_reply(message.bytes));
  if (reply.error) return fail(std::move(*reply.error));
  return Answer{std::move(reply), std::move(message.fds)};
}

}  // namespace atl::sandbox::gvisor
