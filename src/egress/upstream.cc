#include "egress/upstream.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "egress/buffered.h"
#include "egress/http_request.h"
#include "egress/proxy.h"
#include "egress/socks.h"

namespace atl::egress {
namespace {

namespace asio = boost::asio;
// It dials far away before it answers.
constexpr auto kAnswerTime = std::chrono::seconds(30);

asio::awaitable<void> time_out() {
  asio::steady_timer timer(co_await asio::this_coro::executor, kAnswerTime);
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

std::unexpected<Error> failed(std::string_view what) {
  return fail(Code::unavailable, fmt::format("the egress proxy {}", what));
}

}  // namespace

Result<Upstream> Upstream::parse(const UpstreamText& text) {
  const auto target = parse_authority(text.address, 0);  // which has no port is told by the 0
  if (!target || target->port == 0)
    return fail(Code::invalid_argument,
                fmt::format("the egress proxy '{}' is not 'host:port', such as 'proxy.example.com:1080'",
                            text.address));
  if (text.username.size() > kCredentialMax)
    return fail(Code::invalid_argument,
                fmt::format("the user name of the egress proxy has more than {} bytes", kCredentialMax));
  if (text.username.empty() && !text.sealed_password.empty())
    return fail(Code::invalid_argument, "the egress proxy has a password without a user name");
  Upstream made;
  made.host_ = target->host;
  made.port_ = target->port;
  made.username_ = text.username;
  made.sealed_password_ = text.sealed_password;
  return made;
}

Task<std::vector<Address>> Upstream::locate(const Outside& outside) const {
  std::vector<Address> addresses;
  if (const auto* address = std::get_if<Address>(&host_)) {
    addresses.push_back(*address);
  } else {
    auto found = co_await outside.resolver->resolve(std::get<std::string>(host_));
    if (!found || found->empty()) co_return failed(fmt::format("'{}' has no address", to_string(host_)));
    addresses = std::move(*found);
  }
  static const InternalAddresses special_only;
  const InternalAddresses& internal = outside.internal ? *outside.internal : special_only;
  const auto is_closed = [&](const Address& address) {
    if (!internal.contains(address) || internal.is_opened(address)) return false;
    return std::ranges::none_of(outside.internal_proxies,
                                [&](const Cidr& range) { return range.contains(address); });
  };
  std::erase_if(addresses, is_closed);
  if (addresses.empty())
    co_return fail(
        Code::permission_denied,
        fmt::format("the egress proxy '{}' is at an internal address: whoever operates this service can "
                    "allow it with network.proxies",
                    to_string(host_)));
  co_return addresses;
}

Task<std::unique_ptr<ByteStream>> Upstream::connect(const Outside& outside, Address address,
                                                    std::uint16_t port) const {
  using namespace asio::experimental::awaitable_operators;
  CO_TRY(const auto places, co_await locate(outside));
  Result<std::unique_ptr<ByteStream>> stream = failed("cannot be reached");
  for (const Address& place : places) {
    stream = co_await outside.connector->connect(place, port_);
    if (stream) break;
  }
  if (!stream) co_return failed(fmt::format("cannot be reached: {}", stream.error().message()));
  auto outcome = co_await (ask(outside, std::move(*stream), address, port) || time_out());
  if (outcome.index() == 1) co_return failed("did not answer");
  co_return std::get<0>(std::move(outcome));
}

// RFC 1928 and RFC 1929 from the client's side.
Task<std::unique_ptr<ByteStream>> Upstream::ask(const Outside& outside, std::unique_ptr<ByteStream> stream,
                                                Address address, std::uint16_t port) const {
  auto proxy = std::make_unique<Buffered>(std::move(stream));
  const bool has_user = !username_.empty();
  std::string greeting(has_user ? kSocksWithUser : kSocksWithout);
  CO_CHECK(co_await proxy->write(std::move(greeting)));
  auto chosen = co_await proxy->need(2);
  if (!chosen) co_return failed("does not speak SOCKS5");
  const std::string method = proxy->take(2);
  if (method == kSocksPasswordPlease && has_user) {
    std::string password;
    if (!sealed_password_.empty()) {
      if (!outside.secrets) co_return failed("has a password that cannot be opened here");
      CO_TRY(password, co_await outside.secrets->unseal(sealed_password_));
    }
    std::string credentials = socks_credentials(username_, password);
    CO_CHECK(co_await proxy->write(std::move(credentials)));
    auto judged = co_await proxy->need(2);
    if (!judged || proxy->take(2)[1] != '\0') co_return failed("refuses the user name or password");
  } else if (method != kSocksWelcome) {
    co_return failed(method[0] != '\x05' ? "does not speak SOCKS5"
                     : has_user          ? "refuses authentication by user name"
                                         : "wants a user name");
  }
  std::string request = socks_request(address, port);
  CO_CHECK(co_await proxy->write(std::move(request)));
  // Version, answer, a zero, and the address it dialled from, which has a length of its own.
  auto answered = co_await proxy->need(5);
  if (!answered) co_return failed("closed the connection");
  const std::string_view answer = proxy->buffered();
  if (answer[0] != '\x05') co_return failed("does not speak SOCKS5");
  if (answer[1] != '\0')
    co_return failed(
        fmt::format("cannot reach {}:{}: {}", address.to_string(), port, socks_failure(answer[1])));
  const std::size_t size = socks_answer_size(answer);
  if (size == 0) co_return failed("does not speak SOCKS5");
  auto whole = co_await proxy->need(size);
  if (!whole) co_return failed("closed the connection");
  proxy->take(size);
  co_return std::move(proxy);
}

}  // namespace atl::egress
