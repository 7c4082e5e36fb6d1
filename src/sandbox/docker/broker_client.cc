#include "sandbox/docker/broker_client.h"

#include <utility>

#include "base/json.h"
#include "os/message.h"
#include "sandbox/docker/json_access.h"

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;

Error broker_gone() {
  return Error(Code::provider_failed,
               "the broker of the container engine is gone: the service must be started again");
}

Result<BrokerClient::Answer> answer_of(bj::object body, std::vector<os::Fd> fds) {
  if (const bj::value* error = body.if_contains("error"); error != nullptr && error->is_object()) {
    const bj::value* code = error->as_object().if_contains("code");
    const int number = code != nullptr && code->is_int64() ? static_cast<int>(code->as_int64()) : -1;
    if (number < 0 || number > static_cast<int>(Code::internal))
      return fail(Code::provider_failed, "the broker failed");
    return fail(Error(static_cast<Code>(number), text_in(error->as_object(), "message"))
                    .with_field(text_in(error->as_object(), "field"))
                    .with_detail(text_in(error->as_object(), "detail")));
  }
  BrokerClient::Answer answer;
  answer.body = std::move(body);
  if (!fds.empty()) answer.fd = std::move(fds.front());
  return answer;
}

}  // namespace

BrokerClient::BrokerClient(boost::asio::any_io_executor executor, os::Fd socket)
    : executor_(executor), socket_(executor, socket.release()) {}

void BrokerClient::start(std::function<void(const std::string&, const std::string&)> on_ended,
                         std::function<void()> on_lost) {
  on_ended_ = std::move(on_ended);
  on_lost_ = std::move(on_lost);
  listen();
}

void BrokerClient::listen() {
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [weak = weak_from_this()](boost::system::error_code error) {
                       const auto self = weak.lock();
                       if (self && !error && self->socket_.is_open()) self->receive();
                     });
}

void BrokerClient::receive() {
  while (socket_.is_open()) {
    auto message = os::receive_message(socket_.native_handle(), os::Wait::no);
    if (!message && message.error().code() == Code::unavailable) return listen();
    if (!message || message->bytes.empty()) return lose();
    auto parsed = json::parse(message->bytes);
    if (!parsed || !parsed->is_object()) return lose();
    bj::object& body = parsed->as_object();
    if (text_in(body, "verb") == "ended") {
      if (on_ended_) on_ended_(text_in(body, "name"), text_in(body, "why"));
      continue;
    }
    const bj::value* token = body.if_contains("token");
    if (token == nullptr || !token->is_number()) continue;
    auto node = pending_.extract(token->to_number<std::uint64_t>());
    if (node.empty()) {
      // Whoever asked for this sandbox does not wait any more, so nobody would ever end it.
      if (!message->fds.empty()) tell({{"verb", "destroy"}, {"name", text_in(body, "name")}});
      continue;
    }
    if (message->fds_lost)
      node.mapped()->answer.emplace(fail(
          Code::resource_exhausted, "too many files are open: raise the limit (ulimit -n, LimitNOFILE)"));
    else
      node.mapped()->answer.emplace(answer_of(std::move(body), std::move(message->fds)));
    node.mapped()->arrived.notify();
  }
}

void BrokerClient::lose() {
  if (!socket_.is_open()) return;
  socket_.close();
  for (auto& [token, pending] : std::exchange(pending_, {})) {
    pending->answer.emplace(fail(broker_gone()));
    pending->arrived.notify();
  }
  if (auto lost = std::exchange(on_lost_, nullptr)) lost();
}

Result<void> BrokerClient::send(bj::object& request, std::uint64_t token) {
  if (!socket_.is_open()) return fail(broker_gone());
  request["token"] = token;
  const std::string bytes = bj::serialize(request);
  if (bytes.size() > os::kMessageBytesMax)
    return fail(Code::too_large, "the variables of the session are too large for this provider");
  return os::send_message(socket_.native_handle(), bytes);
}

Task<BrokerClient::Answer> BrokerClient::call(bj::object request) {
  const auto self = shared_from_this();
  const std::uint64_t token = next_token_++;
  CO_CHECK(send(request, token));
  const auto pending = std::make_shared<Pending>(executor_);
  pending_[token] = pending;
  while (!pending->answer) {
    auto waited = co_await pending->arrived.wait();
    if (!waited) {
      pending_.erase(token);
      co_return fail(std::move(waited).error());
    }
  }
  co_return std::move(*pending->answer);
}

void BrokerClient::tell(bj::object request) {
  (void)send(request, next_token_++);
}

Result<BrokerClient::Answer> BrokerClient::call_now(bj::object request) {
  TRY(send(request, next_token_++));
  os::Message message = TRY(os::receive_message(socket_.native_handle()));
  if (message.bytes.empty()) return fail(broker_gone());
  boost::json::value parsed = TRY(json::parse(message.bytes));
  if (!parsed.is_object()) return fail(broker_gone());
  return answer_of(std::move(parsed.as_object()), std::move(message.fds));
}

void BrokerClient::close() {
  on_ended_ = nullptr, on_lost_ = nullptr;
  lose();
}

}  // namespace atl::sandbox::docker
