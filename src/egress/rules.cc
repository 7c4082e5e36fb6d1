#include "egress/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace atl::egress {
namespace {

// Splits ":port" off. A bare IPv6 address has more than one colon and no port.
Result<std::pair<std::string_view, std::optional<std::uint16_t>>> split_port(std::string_view text) {
  const auto colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const bool plain_v6 = !bracketed && std::ranges::count(text, ':') > 1;
  if (colon == std::string_view::npos || plain_v6 || (bracketed && text.back() == ']'))
    return std::pair{text, std::nullopt};
  const auto digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || port == 0) {
    return fail(Code::invalid_argument,
                fmt::format("'{}' has no port from 1 to 65535 after the colon", text));
  }
  return std::pair{text.substr(0, colon), std::optional(port)};
}

std::string_view without_brackets(std::string_view text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') return text.substr(1, text.size() - 2);
  return text;
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

}  // namespace

bool Rules::Rule::covers_name(std::string_view host) const {
  if (everything) return true;
  if (range) return false;
  if (!wildcard) return host == name;
  return host.size() > name.size() + 1 && host.ends_with(name) && host[host.size() - name.size() - 1] == '.';
}

bool Rules::Rule::matches_name(std::string_view host, std::uint16_t to) const {
  return (!port || *port == to) && covers_name(host);
}

bool Rules::Rule::matches_address(const Address& address, std::uint16_t to) const {
  if (port && *port != to) return false;
  return everything || (range && range->contains(address));
}

Result<Rules::Rule> Rules::compile_rule(std::string_view text) {
  const auto [target, port] = TRY(split_port(text));
  Rule rule;
  rule.text = std::string(text);
  rule.port = port;
  if (target == "*") {
    rule.everything = true;
    return rule;
  }
  if (auto range = Cidr::parse(without_brackets(target))) {
    if (range->is_everything())
      rule.everything = true;
    else
      rule.range = *range;
    return rule;
  }
  rule.wildcard = target.starts_with("*.");
  const auto host =
      TRY_CONTEXT(fmt::format("rule '{}'", text), parse_host(rule.wildcard ? target.substr(2) : target));
  if (const auto* address = std::get_if<Address>(&host)) {
    rule.range = TRY(Cidr::parse(address->to_string()));
    rule.wildcard = false;
  } else {
    rule.name = std::get<std::string>(host);
  }
  return rule;
}

Result<Rules> Rules::compile(const RuleTexts& texts, std::shared_ptr<const InternalAddresses> internal) {
  Rules rules;
  if (internal) rules.internal_ = std::move(internal);
  for (const auto& text : texts.allow) rules.allow_.push_back(TRY(compile_rule(text)));
  for (const auto& text : texts.deny) rules.deny_.push_back(TRY(compile_rule(text)));
  for (const auto& [domain, headers] : texts.inject)
    rules.inject_.push_back(
        TRY_CONTEXT(fmt::format("headers for '{}'", domain), compile_headers(domain, headers)));
  const auto closer = [](const HeaderRule& a, const HeaderRule& b) {
    return a.target.closeness() > b.target.closeness();
  };
  std::ranges::stable_sort(rules.inject_, closer);
  // One without headers is there to keep those of a wildcard away.
  if (std::ranges::all_of(rules.inject_, [](const HeaderRule& rule) { return rule.headers.empty(); }))
    rules.inject_.clear();
  if (texts.proxy) rules.proxy_ = TRY(Upstream::parse(*texts.proxy));
  return rules;
}

Result<void> Rules::check_internal() const {
  for (const Rule& rule : allow_) {
    if (!rule.range) continue;
    if (const auto objection = internal_->objection(*rule.range))
      return fail(Code::invalid_argument, fmt::format("'{}' {}", rule.text, *objection));
  }
  return {};
}

Result<Rules::HeaderRule> Rules::compile_headers(const std::string& domain,
                                                 const std::map<std::string, std::string>& headers) {
  HeaderRule rule;
  rule.target = TRY(compile_rule(domain));
  if (rule.target.everything || rule.target.port || domain.find('/') != std::string::npos)
    return fail(Code::invalid_argument, "headers belong to a name or to '*.name', without a port");
  for (const auto& [name, value] : headers) {
    if (!is_header_name(name)) return fail(Code::invalid_argument, fmt::format("'{}' is not a header", name));
    rule.headers.emplace(name, TRY_CONTEXT(name, HeaderValue::parse(value)));
  }
  return rule;
}

// How closely a rule names a host: itself, a name above it (the longer the closer), everything.
std::size_t Rules::Rule::closeness() const {
  if (everything) return 0;
  return wildcard ? name.size() : std::string::npos;
}

Decision Rules::decide_name(const std::string& name, std::optional<std::uint16_t> port) const {
  const Rule *allowing = nullptr, *denying = nullptr;
  for (const Rule& rule : allow_) {
    const bool applies = (!port || !rule.port || *rule.port == *port) && rule.covers_name(name);
    if (applies && (allowing == nullptr || rule.closeness() > allowing->closeness())) allowing = &rule;
  }
  for (const Rule& rule : deny_) {
    const bool applies = (!rule.port || (port && *rule.port == *port)) && rule.covers_name(name);
    if (applies && (denying == nullptr || rule.closeness() > denying->closeness())) denying = &rule;
  }
  if (allowing == nullptr) return {false, denying ? "deny " + denying->text : "no rule allows it"};
  const bool denied = denying != nullptr && (denying->closeness() > allowing->closeness() ||
                                             (denying->everything && allowing->everything));
  if (denied) return {false, "deny " + denying->text};
  return {true, "allow " + allowing->text, !allowing->everything};
}

Decision Rules::check_host(const Host& host, std::uint16_t port) const {
  if (const auto* address = std::get_if<Address>(&host)) return check_address({}, *address, port);
  return decide_name(std::get<std::string>(host), port);
}

Decision Rules::check_lookup(const std::string& name) const {
  return decide_name(name, std::nullopt);
}

bool Rules::may_tell(const std::string& name, const Address& address) const {
  std::vector<std::uint16_t> ports = {0};  // stands for every port that no rule names
  for (const Rule& rule : allow_)
    if (rule.port) ports.push_back(*rule.port);
  return std::ranges::any_of(ports,
                             [&](std::uint16_t port) { return check_address(name, address, port).allowed; });
}

Decision Rules::check_address(const std::string& name, const Address& address, std::uint16_t port) const {
  const auto names_it = [&](const Rule& rule) { return rule.range && rule.matches_address(address, port); };
  const auto naming = std::ranges::find_if(allow_, names_it);
  // Asked each time: what was public when the rules were written may be this machine's own by now.
  if (internal_->contains(address) && (naming == allow_.end() || !internal_->is_opened(address)))
    return {false, "internal address"};
  if (naming != allow_.end()) return {true, "allow " + naming->text, true};
  const auto allows_name = [&](const Rule& rule) {
    return (!name.empty() && rule.matches_name(name, port)) || rule.matches_address(address, port);
  };
  // A rule that names the host beats a denied range; "everything" does not.
  const auto by_name =
      std::ranges::find_if(allow_, [&](const Rule& rule) { return !rule.everything && allows_name(rule); });
  if (by_name != allow_.end()) return {true, "allow " + by_name->text, true};
  const auto denies = [&](const Rule& rule) { return rule.matches_address(address, port); };
  if (const auto at = std::ranges::find_if(deny_, denies); at != deny_.end())
    return {false, "deny " + at->text};
  if (const auto at = std::ranges::find_if(allow_, allows_name); at != allow_.end())
    return {true, "allow " + at->text};
  return {false, "no rule allows it"};
}

bool Rules::sets_headers() const {
  return std::ranges::any_of(inject_, [](const HeaderRule& rule) { return !rule.headers.empty(); });
}

const Headers* Rules::headers_for(const Host& host) const {
  const auto* name = std::get_if<std::string>(&host);
  const auto* address = std::get_if<Address>(&host);
  for (const HeaderRule& rule : inject_) {
    if (name != nullptr ? rule.target.covers_name(*name)
                        : rule.target.range && rule.target.range->contains(*address))
      return rule.headers.empty() ? nullptr : &rule.headers;
  }
  return nullptr;
}

}  // namespace atl::egress
