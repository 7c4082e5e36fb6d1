#include "sandbox/native/client.h"

#include <boost/asio/post.hpp>

#include "os/message.h"

namespace atl::sandbox::native {
namespace {

Error gone() {
  return Error(Code::provider_failed, "the spawner is gone");
}

}  // namespace

SpawnerClient::SpawnerClient(boost::asio::any_io_executor executor, os::Fd socket)
    : executor_(std::move(executor)), socket_(executor_, socket.release()) {}

void SpawnerClient::start(std::function<void(const std::string&, const std::string&)> on_ended,
                          std::function<void()> on_lost) {
  on_ended_ = std::move(on_ended);
  on_lost_ = std::move(on_lost);
  listen();
}

void SpawnerClient::listen() {
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [weak = weak_from_this()](boost::system::error_code error) {
                       const auto self = weak.lock();
                       if (!self || error || !self->socket_.is_open()) return;
                       self->receive();
                     });
}

void SpawnerClient::receive() {
  for (int count = 0; count < 64; ++count) {
    auto message = os::receive_message(socket_.native_handle(), os::Wait::no);
    if (!message && message.error().code() == Code::unavailable) break;
    if (!message || message->bytes.empty()) return lose();
    auto reply = decode_reply(message->bytes);
    if (!reply) return lose();
    if (reply->verb == Verb::ended) {
      if (on_ended_) on_ended_(reply->name, reply->text);
      if (!socket_.is_open()) return;
      continue;
    }
    auto node = pending_.extract(reply->token);
    if (node.empty()) continue;
    Pending& pending = *node.mapped();
    if (reply->error)
      pending.answer.emplace(fail(std::move(*reply->error)));
    else
      pending.answer.emplace(Answer{std::move(*reply), std::move(message->fds)});
    pending.arrived.notify();
  }
  listen();
}

void SpawnerClient::lose() {
  if (!socket_.is_open()) return;
  socket_.close();
  for (auto& [token, pending] : std::exchange(pending_, {})) {
    pending->answer.emplace(fail(gone()));
    pending->arrived.notify();
  }
  if (auto lost = std::exchange(on_lost_, nullptr)) lost();
}

void SpawnerClient::close() {
  on_ended_ = nullptr;
  on_lost_ = nullptr;
  lose();
}

void SpawnerClient::close_behind(os::Fd last) {
  constexpr std::size_t at_once = 4;
  if (!closers_) closers_.emplace(at_once);
  boost::asio::post(*closers_, [fd = std::move(last)]() mutable { fd.reset(); });
}

Task<SpawnerClient::Answer> SpawnerClient::call(Request request, int beside) {
  const auto self = shared_from_this();
  if (!socket_.is_open()) co_return fail(gone());
  request.token = next_token_++;
  const auto pending = std::make_shared<Pending>(executor_);
  pending_.emplace(request.token, pending);
  const std::string bytes = encode(request);
  if (bytes.size() > os::kMessageBytesMax) {
    pending_.erase(request.token);
    co_return fail(Code::too_large, "the sandbox's description is too large");
  }
  const std::span<const int> fds(&beside, beside >= 0 ? 1 : 0);
  if (!os::send_message(socket_.native_handle(), bytes, fds)) {
    // Its last words to others may still be there to be read; whoever reads them notices its end.
    pending_.erase(request.token);
    co_return fail(gone());
  }
  while (!pending->answer) CO_CHECK(co_await pending->arrived.wait());
  co_return std::move(*pending->answer);
}

void SpawnerClient::tell(Request request) {
  if (!socket_.is_open()) return;
  request.token = 0;
  (void)os::send_message(socket_.native_handle(), encode(request));
}

Result<SpawnerClient::Answer> SpawnerClient::call_now(Request request) {
  request.token = next_token_++;
  TRY(os::send_message(socket_.native_handle(), encode(request)));
  for (;;) {
    os::Message message = TRY(os::receive_message(socket_.native_handle()));
    if (message.bytes.empty()) return fail(gone());
    Reply reply = TRY(decode_reply(message.bytes));
    if (reply.token != request.token) continue;
    if (reply.error) return fail(std::move(*reply.error));
    return Answer{std::move(reply), std::move(message.fds)};
  }
}

}  // namespace atl::sandbox::native
