#include "api/e2b/egress.h"

#include <fmt/format.h>

#include <algorithm>

namespace atl::api::e2b {
namespace {

constexpr const char* kEverything = "0.0.0.0/0";
constexpr std::string_view kOutward[] = {"allowOut", "denyOut", "rules", "egressProxy"};

bool is_address(const std::string& entry) {
  return egress::Cidr::parse(entry).has_value();
}

// Names that nobody here knows would be left out in silence.
bool has_only(const Object& object, std::initializer_list<std::string_view> names) {
  return std::ranges::all_of(object, [&](const auto& item) {
    return std::ranges::find(names, std::string_view(item.key())) != names.end();
  });
}

// ${e2b.secrets.NAME} is ${secrets.NAME}.
Result<std::string> header_value(std::string_view text) {
  constexpr std::string_view theirs = "${e2b.secrets.", ours = "${secrets.";
  if (text.find("${e2b.identity.") != std::string_view::npos)
    return fail(Code::unsupported, "identity tokens in header rules are not supported");
  std::string value;
  for (auto at = text.find(theirs); at != std::string_view::npos; at = text.find(theirs)) {
    value += text.substr(0, at);
    value += ours;
    text.remove_prefix(at + theirs.size());
  }
  return value + std::string(text);
}

// {"domain": [{"transform": {"headers": {"Name": "value"}}}]}
Result<void> read_rules(const Object& rules, egress::RuleTexts& texts) {
  for (const auto& domain : rules) {
    const auto* list = domain.value().if_array();
    if (list == nullptr)
      return fail(Code::invalid_argument,
                  fmt::format("rules.{} must be a list", std::string_view(domain.key())));
    // Also one that sets nothing: it keeps the headers of a wildcard away.
    auto& injected = texts.inject[domain.key()];
    for (const auto& rule : *list) {
      if (!rule.is_object() || !has_only(rule.get_object(), {"transform"}))
        return fail(Code::unsupported, "a network rule has a transform and nothing else");
      const Object* transform = TRY(object(rule.get_object(), "transform"));
      if (transform == nullptr) continue;
      if (!has_only(*transform, {"headers"}))
        return fail(Code::unsupported, "a transform has headers and nothing else");
      const auto headers = TRY(text_map(*transform, "headers"));
      for (const auto& [name, value] : headers) injected[name] = TRY(header_value(value));
    }
  }
  return {};
}

// {"address": "host:port", "username": "...", "password": "..."}, a SOCKS5 proxy.
Result<std::optional<egress::UpstreamText>> read_proxy(const Object& network, const Seal& seal) {
  const Object* given = TRY(object(network, "egressProxy"));
  if (given == nullptr) return std::nullopt;
  egress::UpstreamText proxy;
  proxy.address = TRY(text_or(*given, "address", ""));
  proxy.username = TRY(text_or(*given, "username", ""));
  const std::string password = TRY(text_or(*given, "password", ""));
  const auto wrong = [](std::string message) {
    return fail(Error(Code::invalid_argument, "egressProxy: " + std::move(message)).with_field("network"));
  };
  if (proxy.address.empty()) return wrong("address is required, as 'host:port'");
  if (!has_only(*given, {"address", "username", "password", "tls"}))
    return wrong("it has an address, a username and a password, and nothing else");
  // Not to be left out in silence: whoever asks for it does not want a password on the wire.
  const Object* tls = TRY(object(*given, "tls"));
  if (tls != nullptr && TRY(boolean_or(*tls, "enabled", true)))
    return wrong("tls to the proxy is not supported");
  if (password.size() > egress::Upstream::kCredentialMax)
    return wrong(fmt::format("the password has more than {} bytes", egress::Upstream::kCredentialMax));
  if (!password.empty() && proxy.username.empty()) return wrong("a password needs a username");
  if (!password.empty()) proxy.sealed_password = TRY(seal(password));
  return proxy;
}

}  // namespace

Result<session::NetworkRequest> read_egress(const Object& network, bool internet, const Seal& seal) {
  session::NetworkRequest request;
  egress::RuleTexts& texts = request.rules;
  texts.allow = TRY(text_list(network, "allowOut"));
  texts.deny = TRY(text_list(network, "denyOut"));
  if (!internet) texts.deny.emplace_back(kEverything);
  const bool closed = std::ranges::find(texts.deny, kEverything) != texts.deny.end();
  const auto name = std::ranges::find_if_not(texts.allow, is_address);
  if (name != texts.allow.end() && !closed) {
    return fail(
        Code::invalid_argument,
        fmt::format("allowOut names the domain '{}': then denyOut must contain '{}'", *name, kEverything));
  }
  if (const auto denied = std::ranges::find_if_not(texts.deny, is_address); denied != texts.deny.end())
    return fail(Code::invalid_argument, fmt::format("denyOut takes addresses and ranges, not '{}'", *denied));
  if (const Object* rules = TRY(object(network, "rules"))) TRY(read_rules(*rules, texts));
  texts.proxy = TRY(read_proxy(network, seal));
  if (closed && texts.allow.empty()) return session::NetworkRequest{};
  request.mode = sandbox::Network::egress;
  texts.allow.emplace_back("*");
  return request;
}

Object shown_network(Object network) {
  auto* proxy = network.if_contains("egressProxy");
  if (proxy != nullptr && proxy->is_object()) {
    proxy->get_object().erase("password");
  } else {
    network.erase("egressProxy");
  }
  return network;
}

Object updated_network(Object before, const Object& update) {
  for (const std::string_view name : kOutward) {
    before.erase(name);
    if (const auto* given = update.if_contains(name)) before[name] = *given;
  }
  return shown_network(std::move(before));
}

}  // namespace atl::api::e2b
