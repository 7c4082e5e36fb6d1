#include "egress/proxy.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>

#include "base/log.h"
#include "egress/connection.h"
#include "egress/dns.h"
#include "egress/proxy_state.h"

namespace atl::egress {
namespace {

namespace asio = boost::asio;
constexpr std::size_t kConnectionsMax = 256;
constexpr std::uint16_t kDnsPort = 53;

}  // namespace

Proxy::Proxy(asio::any_io_executor executor, std::shared_ptr<const Rules> rules, Outside outside,
             Observer observer)
    : state_(std::make_shared<State>(
          State{std::move(executor), std::move(rules), std::move(outside), std::move(observer), {}})) {}

Proxy::~Proxy() {
  state_->observer = nullptr;
  for (const auto& connection : std::list(state_->connections)) connection->cut();
}

void Proxy::serve(std::unique_ptr<ByteStream> client) {
  if (state_->connections.size() >= kConnectionsMax) {
    state_->report(
        "", 0, false,
        fmt::format("{} clients are being served, as many as one session may have", kConnectionsMax));
    return;  // the stream is dropped: the client sees a reset
  }
  auto connection = std::make_shared<Connection>(state_, std::move(client));
  const auto at = state_->connections.insert(state_->connections.end(), connection);
  auto run = [](std::shared_ptr<Connection> self) -> asio::awaitable<void> { co_await self->run(); };
  asio::co_spawn(state_->executor, run(connection),
                 asio::bind_cancellation_slot(connection->slot(),
                                              [state = state_, at](const std::exception_ptr& thrown) {
                                                if (thrown)
                                                  log::debug("egress connection ended by cancellation");
                                                state->connections.erase(at);
                                              }));
}

void Proxy::set_rules(std::shared_ptr<const Rules> rules) {
  state_->rules = std::move(rules);
  for (const auto& connection : std::list(state_->connections)) {
    if (!connection->is_allowed(*state_->rules)) connection->cut();
  }
}

std::size_t Proxy::open_connections() const {
  return state_->connections.size();
}

// A lookup is an attempt like any other: what is asked for leaves the machine inside the question.
Task<std::string> Proxy::answer(std::string query) {
  const auto state = state_;
  const auto question = parse_dns_query(query);
  if (!question) co_return dns_malformed(query);
  const auto host = parse_host(question->name);
  const auto* name = host ? std::get_if<std::string>(&*host) : nullptr;
  if (name == nullptr) {
    state->report("", kDnsPort, false, host ? "an address is no name" : host.error().message());
    co_return dns_refusal(*question, DnsCode::no_such_name);
  }
  const auto decision = state->rules->check_lookup(*name);
  state->report(*name, kDnsPort, decision.allowed, decision.reason);
  if (!decision.allowed) co_return dns_refusal(*question, DnsCode::no_such_name);
  // No other record is told: text, mail and service records carry messages, and the rest leads elsewhere.
  const std::vector<Address> none;
  if (question->type != DnsQuestion::kA && question->type != DnsQuestion::kAaaa)
    co_return dns_answer(*question, none);
  auto addresses = co_await state->outside.resolver->resolve(*name);
  if (!addresses) {
    const bool unknown = addresses.error().code() == Code::not_found;
    co_return dns_refusal(*question, unknown ? DnsCode::no_such_name : DnsCode::failed);
  }
  std::erase_if(*addresses, [&](const Address& address) { return !state->rules->may_tell(*name, address); });
  co_return dns_answer(*question, *addresses);
}

}  // namespace atl::egress
