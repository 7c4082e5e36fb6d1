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

bool is_everything(std::string_view text) {
  return text == "*" || text == "0.0.0.0/0" || text == "::/0";
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

}  // namespace

bool Rules::Rule::matches_name(std::string_view host, std::uint16_t to) const {
  if (port && *port != to) return false;
  if (everything) return true;
  if (range) return false;
  if (!wildcard) return host == name;
  return host.size() > name.size() + 1 && host.ends_with(name) && host[host.size() - name.size() - 1] == '.';
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
  if (is_everything(target)) {
    rule.everything = true;
    return rule;
  }
  if (auto range = Cidr::parse(without_brackets(target))) {
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

Result<Rules> Rules::compile(const RuleTexts& texts) {
  Rules rules;
  for (const auto& text : texts.allow) rules.allow_.push_back(TRY(compile_rule(text)));
  for (const auto& text : texts.deny) rules.deny_.push_back(TRY(compile_rule(text)));
  for (const auto& [domain, headers] : texts.inject) {
    const auto host = TRY_CONTEXT(fmt::format("headers for '{}'", domain), parse_host(domain));
    for (const auto& [name, value] : headers) {
      if (!is_header_name(name) || value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
        return fail(Code::invalid_argument,
                    fmt::format("headers for '{}': '{}' is not a header", domain, name));
      }
    }
    rules.inject_[to_string(host)] = headers;
  }
  return rules;
}

Decision Rules::check_host(const Host& host, std::uint16_t port) const {
  if (const auto* address = std::get_if<Address>(&host)) return check_address({}, *address, port);
  const auto& name = std::get<std::string>(host);
  const auto matches = [&](const Rule& rule) { return rule.matches_name(name, port); };
  const auto names_it = [&](const Rule& rule) { return !rule.everything && matches(rule); };
  if (const auto at = std::ranges::find_if(allow_, names_it); at != allow_.end())
    return {true, "allow " + at->text};
  if (const auto at = std::ranges::find_if(deny_, names_it); at != deny_.end())
    return {false, "deny " + at->text};
  if (const auto at = std::ranges::find_if(allow_, matches); at != allow_.end())
    return {true, "allow " + at->text};
  // A name that only address ranges can allow is decided once its addresses are known.
  const bool by_address = std::ranges::any_of(
      allow_, [&](const Rule& rule) { return rule.range && (!rule.port || *rule.port == port); });
  if (by_address) return {true, "decided by address"};
  return {false, "no rule allows it"};
}

Decision Rules::check_address(const std::string& name, const Address& address, std::uint16_t port) const {
  const auto names_it = [&](const Rule& rule) { return rule.range && rule.matches_address(address, port); };
  if (const auto at = std::ranges::find_if(allow_, names_it); at != allow_.end())
    return {true, "allow " + at->text};
  if (address.is_internal()) return {false, "internal address"};
  const auto allows_name = [&](const Rule& rule) {
    return (!name.empty() && rule.matches_name(name, port)) || rule.matches_address(address, port);
  };
  // A rule that names the host beats a denied range; "everything" does not.
  const auto by_name =
      std::ranges::find_if(allow_, [&](const Rule& rule) { return !rule.everything && allows_name(rule); });
  if (by_name != allow_.end()) return {true, "allow " + by_name->text};
  const auto denies = [&](const Rule& rule) { return rule.matches_address(address, port); };
  if (const auto at = std::ranges::find_if(deny_, denies); at != deny_.end())
    return {false, "deny " + at->text};
  if (const auto at = std::ranges::find_if(allow_, allows_name); at != allow_.end())
    return {true, "allow " + at->text};
  return {false, "no rule allows it"};
}

const std::map<std::string, std::string>* Rules::headers_for(const Host& host) const {
  const auto at = inject_.find(to_string(host));
  return at == inject_.end() ? nullptr : &at->second;
}

}  // namespace atl::egress
