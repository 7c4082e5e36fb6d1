#include "session/session_networks.h"

#include <fmt/format.h>

#include "egress/authority.h"
#include "session/metered_connector.h"
#include "session/subject.h"

namespace atl::session {
namespace {

constexpr std::size_t kRulesMax = 1000;

Error wrong_network(std::string message) {
  return Error(Code::invalid_argument, std::move(message)).with_field("network");
}

// Our certificate authority is trusted only as long as a rule needs it.
Task<void> take_back_trust(LivePtr live) {
  if (!live->egress().trusts_authority) co_return Result<void>();
  std::string nobody;
  CO_CHECK(co_await live->sandbox()->trust(std::move(nobody)));
  live->egress().trusts_authority = false;
  co_return Result<void>();
}

}  // namespace

Result<SessionNetworks::RulesPtr> SessionNetworks::compile(const egress::RuleTexts& texts) const {
  auto rules = egress::Rules::compile(texts, dependencies_.outside.internal);
  if (!rules) return fail(std::move(rules).error().with_field("network"));
  return std::make_shared<const egress::Rules>(std::move(*rules));
}

Result<void> SessionNetworks::check_rules(sandbox::Network mode, const egress::RuleTexts& texts) const {
  if (mode == sandbox::Network::none) {
    if (texts != egress::RuleTexts{}) return fail(wrong_network("rules need the network mode 'egress'"));
    return {};
  }
  if (dependencies_.outside.resolver == nullptr)
    return fail(Error(Code::unsupported, "this service has no way out").with_field("network"));
  if (texts.allow.size() + texts.deny.size() + texts.inject.size() > kRulesMax)
    return fail(wrong_network(fmt::format("at most {} network rules", kRulesMax)));
  const RulesPtr rules = TRY(compile(texts));
  if (auto named = rules->check_internal(); !named)
    return fail(std::move(named).error().with_field("network.allow"));
  return {};
}

// An upstream proxy that cannot be found is refused before there is a sandbox, which would reach nothing at
// all.
Task<void> SessionNetworks::check(sandbox::Network mode, egress::RuleTexts texts) const {
  CO_CHECK(check_rules(mode, texts));
  if (!texts.proxy) co_return Result<void>();
  CO_TRY(const auto proxy, egress::Upstream::parse(*texts.proxy));
  auto found = co_await proxy.locate(dependencies_.outside);
  if (!found) co_return fail(wrong_network(std::string(found.error().message())));
  co_return Result<void>();
}

std::shared_ptr<egress::Proxy> SessionNetworks::make_proxy(const LivePtr& live) const {
  egress::Outside outside = dependencies_.outside;
  if (dependencies_.secrets) outside.secrets = dependencies_.secrets(live->facts().tenant);
  if (dependencies_.dials != nullptr) outside.dials = dependencies_.dials->account(live->facts().tenant);
  if (dependencies_.controller != nullptr && outside.connector != nullptr) {
    const Session& facts = live->facts();
    outside.own_connector =
        std::make_shared<MeteredConnector>(*outside.connector, *dependencies_.controller,
                                           quota::Holder{facts.tenant, facts.key_id}, facts.session_id);
    outside.connector = outside.own_connector.get();
  }
  // Weak: the session owns the proxy.
  auto observe = [weak = std::weak_ptr(live), clock = dependencies_.clock,
                  observer = dependencies_.observer](const egress::Attempt& attempt) {
    const auto self = weak.lock();
    if (!self) return;
    self->network_log().add(attempt, clock->now());
    if (observer != nullptr) observer->reached(self->facts(), attempt);
    self->mark_changed();
  };
  // With empty rules: nothing is allowed until everything is in place.
  return std::make_shared<egress::Proxy>(dependencies_.executor, std::make_shared<const egress::Rules>(),
                                         std::move(outside), std::move(observe));
}

Task<void> SessionNetworks::open_with(LivePtr live, RulesPtr rules) {
  const auto sandbox = live->sandbox();
  EgressState& egress = live->egress();
  if (!egress.proxy) {
    auto proxy = make_proxy(live);
    CO_CHECK(co_await sandbox->open_network(proxy));
    egress.proxy = std::move(proxy);
  }
  const bool sets_headers = rules->sets_headers();
  if (sets_headers && dependencies_.outside.authority != nullptr && !egress.trusts_authority) {
    CO_CHECK(co_await sandbox->trust(dependencies_.outside.authority->certificate_pem()));
    egress.trusts_authority = true;
  }
  egress.proxy->set_rules(std::move(rules));
  if (!sets_headers) CO_CHECK(co_await take_back_trust(live));
  live->refresh_isolation();
  co_return Result<void>();
}

Task<void> SessionNetworks::open(LivePtr live) {
  CO_TRY(auto rules, compile(live->facts().egress));
  auto opened = co_await open_with(live, std::move(rules));
  if (!opened) co_return fail(std::move(opened).error().context("open the network"));
  co_return opened;
}

Task<void> SessionNetworks::reopen(LivePtr live) {
  if (!std::exchange(live->egress().open_on_resume, false)) co_return Result<void>{};
  auto rules = compile(live->facts().egress);
  auto opened = rules ? co_await open_with(live, std::move(*rules)) : fail(rules.error());
  if (!opened) {
    log::error(subject_of(*live), "a network could not be opened again",
               {{"error", opened.error().message()}});
    live->refresh_isolation();
  }
  co_return Result<void>{};
}

Task<NetworkFacts> SessionNetworks::network(Principal who, std::string id) const {
  CO_TRY(const Session session, co_await dependencies_.table->get(std::move(who), id));
  NetworkFacts facts;
  facts.mode = session.network;
  facts.rules = session.egress;
  if (const LivePtr live = dependencies_.table->find(id)) {
    const auto& proxy = live->egress().proxy;
    facts.open_connections = proxy ? proxy->open_connections() : 0;
    facts.decisions = live->network_log().decisions();
    facts.forgotten = live->network_log().forgotten();
    co_return facts;
  }
  std::string kind(kNetworkLogKind);
  auto row = co_await dependencies_.store->get_document(std::move(kind), session.tenant, session.session_id);
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

Task<NetworkFacts> SessionNetworks::update(Principal who, std::string id, NetworkRequest request) {
  CO_TRY(LivePtr found, co_await dependencies_.table->live(who, id));
  CO_CHECK(co_await check(request.mode, request.rules));
  if (request.mode != sandbox::Network::none && !found->traits().network)
    co_return fail(found->lacks("network").with_field("network"));
  CO_TRY(auto hold, co_await found->take_turn());
  if (found->state() != State::running) co_return fail(found->wrong_state(id));
  if (request.mode == sandbox::Network::egress) {
    CO_TRY(auto rules, compile(request.rules));
    CO_CHECK(co_await open_with(found, std::move(rules)));
  } else if (found->egress().proxy) {
    found->egress().proxy->set_rules(std::make_shared<const egress::Rules>());
    CO_CHECK(co_await take_back_trust(found));
  }
  found->set_network(request.mode, std::move(request.rules));
  CO_CHECK(co_await dependencies_.table->save(found));
  co_return co_await network(std::move(who), found->facts().session_id);
}

}  // namespace atl::session
