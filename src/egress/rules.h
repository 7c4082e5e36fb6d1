#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/address.h"

namespace atl::egress {

// What an operator or an agent's owner writes. An entry is a name ("api.example.com"), a wildcard
// ("*.example.com": every name below it, not itself), an address or a CIDR range; each may end in ":port".
struct RuleTexts {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  // Requests to these names get these headers, set by the proxy; the values never enter the sandbox.
  std::map<std::string, std::map<std::string, std::string>> inject;
};

struct Decision {
  bool allowed = false;
  std::string reason;  // "allow *.example.com", "deny 10.0.0.0/8", "internal address", "no rule allows it"
};

// Compiled rules: immutable, shared, cheap to ask. Nothing is allowed that no rule allows; an internal
// address needs a rule that names it (an address or range, not "everything"). An allow rule that names the
// target beats a deny rule, a deny rule beats "everything", as E2B has it.
class Rules {
 public:
  // Nothing is allowed.
  Rules() = default;
  static Result<Rules> compile(const RuleTexts& texts);

  // Before resolving: may a connection to this host be tried at all?
  Decision check_host(const Host& host, std::uint16_t port) const;
  // After resolving `name`: may this address of it be dialled? The name's own decision must have been
  // `allowed`.
  Decision check_address(const std::string& name, const Address& address, std::uint16_t port) const;
  // Headers to set on requests to `host`; null if none.
  const std::map<std::string, std::string>* headers_for(const Host& host) const;
  bool allows_nothing() const { return allow_.empty(); }

 private:
  struct Rule {
    std::string text;
    std::optional<Cidr> range;
    std::string name;  // without "*."
    bool wildcard = false;
    bool everything = false;  // "*", 0.0.0.0/0, ::/0
    std::optional<std::uint16_t> port;

    bool matches_name(std::string_view host, std::uint16_t to) const;
    bool matches_address(const Address& address, std::uint16_t to) const;
  };
  static Result<Rule> compile_rule(std::string_view text);

  std::vector<Rule> allow_, deny_;
  std::map<std::string, std::map<std::string, std::string>> inject_;
};

}  // namespace atl::egress
