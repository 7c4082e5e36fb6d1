#include "sandbox/native/client.h"

#include <boost/asio/post.hpp>
#include <iterator>

#include "base/log.h"
#include "os/message.h"

namespace atl::sandbox::native {
namespace {

Error gone() {
  return Error(Code::provider_failed, "the spawner is gone");
}

Error interrupted() {
  return Error(Code::unavailable, "the connection to the spawner was lost and is made again: try again");
}

// Verbs that have the same effect when they are sent twice.
bool may_be_repeated(Verb verb) {
  return verb == Verb::destroy || verb == Verb::thaw || verb == Verb::discard;
}

}  // namespace

SpawnerClient::SpawnerClient(boost::asio::any_io_executor executor, os::Fd socket)
    : executor_(std::move(executor)), socket_(executor_, socket.release()) {}

void SpawnerClient::start(std::function<void(const std::string&, const std::string&)> on_ended,
                          std::function<void()> on_lost, std::function<void(const Names&)> on_again) {
  on_ended_ = std::move(on_ended);
  on_lost_ = std::move(on_lost);
  on_again_ = std::move(on_again);
  listen();
}

Result<void> SpawnerClient::add_spare() {
  wants_spare_ = true;
  Answer answer = TRY(call_now(Request{.ask = ask::SecondConnection{}}));
  if (answer.fds.empty())
    return fail(Code::resource_exhausted, "too many files are open for a second connection to the spawner");
  spare_ = std::move(answer.fds.front());
  return {};
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
    hear_of_zygotes(*reply);
    if (reply->verb == Verb::zygotes) continue;
    if (reply->verb == Verb::ended) {
      if (on_ended_) on_ended_(reply->name, reply->as<answers::Ended>().why);
      if (!socket_.is_open()) return;
      continue;
    }
    if (message->fds_lost) {
      // The new sandbox has no owner here, so nobody could ever end it: end it now.
      if (reply->verb == Verb::create) tell(Request{.name = reply->name, .ask = ask::Destroy{}});
      reply->error = Error(Code::resource_exhausted,
                           "too many files are open: raise the limit (ulimit -n, LimitNOFILE)");
    }
    take(std::move(*reply), std::move(message->fds));
  }
  listen();
}

void SpawnerClient::hear_of_zygotes(const Reply& reply) {
  if (reply.error) return;
  std::string away;
  if (const auto* hello = std::get_if<answers::Hello>(&reply.answer))
    away = hello->zygotes_away;
  else if (const auto* zygotes = std::get_if<answers::Zygotes>(&reply.answer))
    away = zygotes->away;
  else
    return;
  if (away == zygotes_away_) return;
  if (!away.empty())
    log::warn("interpreters start cold: no zygote is ready", {{"reason", away}});
  else
    log::info("interpreters are forked from a zygote again");
  zygotes_away_ = std::move(away);
}

void SpawnerClient::take(Reply reply, std::vector<os::Fd> fds) {
  if (reply.token != 0 && reply.token == second_token_) {
    second_token_ = 0;
    if (!fds.empty()) spare_ = std::move(fds.front());
    return;
  }
  if (reply.token != 0 && reply.token == hello_token_) {
    hello_token_ = 0;
    // Log this only after an answer: a spawner that is ending does not answer.
    log::warn("the connection to the spawner was lost and made again");
    if (on_again_ && !reply.error) on_again_(reply.as<answers::Hello>().names);
    return;
  }
  auto node = pending_.extract(reply.token);
  if (node.empty()) {
    // The request was made on a connection that was lost since, and its caller was told so.
    if (reply.verb == Verb::create && !reply.error) tell(Request{.name = reply.name, .ask = ask::Destroy{}});
    return;
  }
  Pending& pending = *node.mapped();
  if (reply.error)
    pending.answer.emplace(fail(std::move(*reply.error)));
  else
    pending.answer.emplace(Answer{std::move(reply), std::move(fds)});
  pending.arrived.notify();
}

void SpawnerClient::fail_pending(const Error& error) {
  for (auto& [token, pending] : std::exchange(pending_, {})) {
    pending->answer.emplace(fail(error));
    pending->arrived.notify();
  }
}

void SpawnerClient::lose() {
  if (!socket_.is_open()) return;
  socket_.close();
  hello_token_ = second_token_ = 0;
  if (spare_.is_open()) return go_on_with_spare();
  fail_pending(gone());
  if (auto lost = std::exchange(on_lost_, nullptr)) lost();
}

// Guests speak to this process by sockets of their own: they notice nothing of this. If the spawner itself is
// gone, so is the other end of this one, and the next thing that is heard is that.
void SpawnerClient::go_on_with_spare() {
  socket_.assign(spare_.release());
  std::map<std::uint64_t, std::shared_ptr<Pending>> repeated;
  for (auto one = pending_.begin(); one != pending_.end();) {
    const auto next = std::next(one);
    if (!one->second->again.empty()) repeated.insert(pending_.extract(one));
    one = next;
  }
  fail_pending(interrupted());
  pending_ = std::move(repeated);
  hello_token_ = ask_for(ask::Hello{});
  second_token_ = ask_for(ask::SecondConnection{});
  for (const auto& [token, pending] : pending_)
    (void)os::send_message(socket_.native_handle(), pending->again);
  listen();
}

std::uint64_t SpawnerClient::ask_for(Ask what) {
  const Request request{.token = next_token_++, .name = {}, .ask = std::move(what)};
  return os::send_message(socket_.native_handle(), encode(request)) ? request.token : 0;
}

void SpawnerClient::close() {
  on_ended_ = nullptr;
  on_lost_ = nullptr;
  on_again_ = nullptr;
  wants_spare_ = false;
  spare_.reset();
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
  if (may_be_repeated(request.verb())) pending->again = bytes;
  if (bytes.size() > os::kMessageBytesMax) {
    pending_.erase(request.token);
    co_return fail(Code::too_large, "the sandbox's description is too large");
  }
  const std::span<const int> fds(&beside, beside >= 0 ? 1 : 0);
  if (auto sent = os::send_message(socket_.native_handle(), bytes, fds); !sent) {
    // Answers to other calls may still be there to be read; the reader notices that the spawner has ended.
    pending_.erase(request.token);
    if (sent.error().code() != Code::unavailable) co_return fail(std::move(sent).error());
    co_return fail(spare_.is_open() ? interrupted() : gone());
  }
  if (wants_spare_ && !spare_.is_open() && second_token_ == 0)
    second_token_ = ask_for(ask::SecondConnection{});
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
    hear_of_zygotes(reply);
    if (reply.token != request.token) continue;
    if (reply.error) return fail(std::move(*reply.error));
    if (message.fds_lost) return fail(Code::resource_exhausted, "too many files are open");
    return Answer{std::move(reply), std::move(message.fds)};
  }
}

}  // namespace atl::sandbox::native
