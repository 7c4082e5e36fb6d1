// The network of a session: its rules, its proxy, its log.
#include <fmt/format.h>

#include "egress/authority.h"
#include "sandbox/proxy_endpoint.h"
#include "session/local_service.h"
#include "session/network.h"

namespace atl::session {
namespace {

constexpr std::size_t kRulesMax = 1000;

Error wrong(std::string message) {
  return Error(Code::invalid_argument, std::move(message)).with_field("network");
}

}  // namespace

Result<std::shared_ptr<const egress::Rules>> compile_rules(const egress::RuleTexts& texts,
                                                           const egress::Outside& outside) {
  auto rules = egress::Rules::compile(texts, outside.internal);
  if (!rules) return fail(std::move(rules).error().with_field("network"));
  return std::make_shared<const egress::Rules>(std::move(*rules));
}

Result<void> check_network(sandbox::Network mode, const egress::RuleTexts& texts,
                           const egress::Outside& outside) {
  if (mode == sandbox::Network::none) {
    if (texts != egress::RuleTexts{}) return fail(wrong("rules need the network mode 'egress'"));
    return {};
  }
  if (outside.resolver == nullptr)
    return fail(Error(Code::unsupported, "this service has no way out").with_field("network"));
  if (texts.allow.size() + texts.deny.size() + texts.inject.size() > kRulesMax)
    return fail(wrong(fmt::format("at most {} network rules", kRulesMax)));
  const auto rules = TRY(compile_rules(texts, outside));
  if (auto named = rules->check_internal(); !named)
    return fail(std::move(named).error().with_field("network.allow"));
  return {};
}

// Before there is a sandbox, because it would be deaf and dumb otherwise.
Task<void> LocalService::check_proxy(const egress::RuleTexts& texts) {
  if (!texts.proxy) co_return Result<void>();
  CO_TRY(const auto proxy, egress::Upstream::parse(*texts.proxy));
  auto found = co_await proxy.locate(parts_.outside);
  if (!found) co_return fail(wrong(std::string(found.error().message())));
  co_return Result<void>();
}

// Our authority is trusted only where a rule needs it.
static Task<void> take_back_trust(std::shared_ptr<Live> live) {
  if (!live->trusts_authority) co_return Result<void>();
  std::string nobody;
  CO_CHECK(co_await live->sandbox->trust(std::move(nobody)));
  live->trusts_authority = false;
  co_return Result<void>();
}

Task<void> LocalService::open_network(LivePtr live, std::shared_ptr<const egress::Rules> rules) {
  const auto sandbox = live->sandbox;
  if (!live->proxy) {
    egress::Outside outside = parts_.outside;
    if (parts_.secrets) outside.secrets = parts_.secrets(live->facts.tenant);
    if (parts_.dials) outside.dials = parts_.dials->account(live->facts.tenant);
    auto observe = [weak = std::weak_ptr(live), clock = parts_.clock](const egress::Attempt& attempt) {
      const auto self = weak.lock();
      if (!self) return;
      self->network_log->add(attempt, clock->now());
      self->unsaved = true;
    };
    // Nothing is allowed until the ports stand.
    auto proxy = std::make_shared<egress::Proxy>(parts_.executor, std::make_shared<const egress::Rules>(),
                                                 std::move(outside), std::move(observe));
    CO_CHECK(co_await sandbox->open_network(proxy));
    live->proxy = std::move(proxy);
  }
  if (rules->sets_headers() && parts_.outside.authority != nullptr && !live->trusts_authority) {
    CO_CHECK(co_await sandbox->trust(parts_.outside.authority->certificate_pem()));
    live->trusts_authority = true;
  }
  const bool sets_headers = rules->sets_headers();
  live->proxy->set_rules(std::move(rules));
  if (!sets_headers) CO_CHECK(co_await take_back_trust(live));
  live->facts.isolation = sandbox->isolation();
  co_return Result<void>();
}

Task<void> LocalService::save_network_log(LivePtr live) {
  store::DocumentRow row;
  row.kind = kNetworkLogKind;
  row.tenant = live->facts.tenant;
  row.id = live->facts.session_id;
  row.body = live->network_log->to_json();
  row.created_at = live->facts.created_at;
  row.updated_at = parts_.clock->now();
  return parts_.store->put_document(std::move(row));
}

Task<NetworkFacts> LocalService::network(Principal who, std::string id) {
  CO_TRY(const Session session, co_await get(who, id));
  NetworkFacts facts;
  facts.mode = session.network;
  facts.rules = session.egress;
  if (const LivePtr live = find(id)) {
    facts.open_connections = live->proxy ? live->proxy->open_connections() : 0;
    facts.decisions = live->network_log->decisions();
    facts.forgotten = live->network_log->forgotten();
    co_return facts;
  }
  std::string kind(kNetworkLogKind);
  auto row = co_await parts_.store->get_document(std::move(kind), session.tenant, session.session_id);
  if (!row) {
    if (row.error().code() != Code::not_found) co_return fail(std::move(row).error());
    co_return facts;
  }
  NetworkLog log;
  log.read_json(row->body);
  facts.decisions = log.decisions();
  facts.forgotten = log.forgotten();
  co_return facts;
}

Task<NetworkFacts> LocalService::update_network(Principal who, std::string id, NetworkRequest request) {
  CO_TRY(LivePtr found, co_await live(who, id));
  CO_CHECK(check_network(request.mode, request.rules, parts_.outside));
  CO_CHECK(co_await check_proxy(request.rules));
  if (request.mode != sandbox::Network::none && !found->provider->traits().network) {
    co_return fail(
        Error(Code::unsupported, fmt::format("provider {} lacks the trait 'network'", found->facts.provider))
            .with_field("network"));
  }
  CO_TRY(auto hold, co_await found->lifecycle.take());
  if (found->facts.state != State::running) {
    co_return fail(Code::conflict, fmt::format("session {} is {}", id, to_string(found->facts.state)));
  }
  if (request.mode == sandbox::Network::egress) {
    CO_TRY(auto rules, compile_rules(request.rules, parts_.outside));
    CO_CHECK(co_await open_network(found, std::move(rules)));
  } else if (found->proxy) {
    found->proxy->set_rules(std::make_shared<const egress::Rules>());
    CO_CHECK(co_await take_back_trust(found));
  }
  found->facts.network = request.mode;
  found->facts.egress = std::move(request.rules);
  sandbox::say_network(found->facts.isolation, request.mode);
  CO_CHECK(co_await save(found));
  co_return co_await network(std::move(who), found->facts.session_id);
}

}  // namespace atl::session
