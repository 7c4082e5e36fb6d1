#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/address.h"
#include "egress/header_value.h"
#include "egress/internal.h"
#include "egress/upstream.h"

namespace atl::egress {

// What an operator or an agent's owner writes. An entry is a name ("api.example.com"), a wildcard
// ("*.example.com": every name below it, not itself), an address or a CIDR range; each may end in ":port".
struct RuleTexts {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  // Requests to these names (wildcards as above) get these headers, set by the proxy; the values, in which
  // ${secrets.NAME} stands for a secret, never enter the sandbox.
  std::map<std::string, std::map<std::string, std::string>> inject;
  std::optional<UpstreamText> proxy;  // everything that is allowed goes through it

  bool operator==(const RuleTexts&) const = default;
};

struct Decision {
  bool allowed = false;
  std::string reason;  // "allow *.example.com", "deny 10.0.0.0/8", "internal address", "no rule allows it"
  bool named = false;  // by a rule that names the target, not by "everything"
};

// Compiled rules: immutable, shared, cheap to ask. Nothing is allowed that no rule allows; an internal
// address needs an operator who opened it and a rule that names it (an address or range, not "everything").
// Among names the closest rule
// wins, and allow wins over deny of the same name; an allowed name or range beats a denied range; a deny rule
// beats "everything". A name that no rule could allow is not even resolved: a question to a name server
// carries whatever the name says.
class Rules {
 public:
  // Nothing is allowed.
  Rules() = default;
  // `internal` null: special-purpose ranges only, nothing opened.
  static Result<Rules> compile(const RuleTexts& texts,
                               std::shared_ptr<const InternalAddresses> internal = {});
  // The first rule in `allow` that names what is internal here and not opened: Code::invalid_argument with
  // its text and the reason. Such a rule has no effect; whoever writes one is told, where it can still be
  // changed.
  Result<void> check_internal() const;

  // Before resolving: may a connection to this host be tried at all?
  Decision check_host(const Host& host, std::uint16_t port) const;
  // After resolving `name`: may this address of it be dialled? The name's own decision must have been
  // `allowed`.
  Decision check_address(const std::string& name, const Address& address, std::uint16_t port) const;
  // May a name be looked up, whatever port will be asked for?
  Decision check_lookup(const std::string& name) const;
  // Which of its addresses may be told, whatever port will be asked for?
  bool may_tell(const std::string& name, const Address& address) const;
  // Headers to set on requests to `host`; null if none.
  const Headers* headers_for(const Host& host) const;
  bool sets_headers() const;
  bool allows_nothing() const { return allow_.empty(); }
  // What connections go through; unset: they go straight.
  const std::optional<Upstream>& proxy() const { return proxy_; }

 private:
  struct Rule {
    std::string text;
    std::optional<Cidr> range;
    std::string name;  // without "*."
    bool wildcard = false;
    bool everything = false;  // "*", 0.0.0.0/0, ::/0: everything public
    std::optional<std::uint16_t> port;

    std::size_t closeness() const;
    bool covers_name(std::string_view host) const;
    bool matches_name(std::string_view host, std::uint16_t to) const;
    bool matches_address(const Address& address, std::uint16_t to) const;
  };
  struct HeaderRule {
    Rule target;
    Headers headers;
  };
  static Result<Rule> compile_rule(std::string_view text);
  // `port` unset: a lookup, which some port must be allowed for and no port-less rule deny.
  Decision decide_name(const std::string& name, std::optional<std::uint16_t> port) const;
  static Result<HeaderRule> compile_headers(const std::string& domain,
                                            const std::map<std::string, std::string>& headers);

  std::vector<Rule> allow_, deny_;
  std::vector<HeaderRule> inject_;  // names before wildcards, the longest of those first
  std::optional<Upstream> proxy_;
  std::shared_ptr<const InternalAddresses> internal_ = std::make_shared<const InternalAddresses>();
};

}  // namespace atl::egress
