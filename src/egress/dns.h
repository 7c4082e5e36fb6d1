#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "egress/address.h"

namespace atl::egress {

// One question to a resolver, parsed strictly: a plain query with exactly one question of class IN whose name
// is not compressed. What comes after the question (EDNS, cookies) is passed over.
struct DnsQuestion {
  static constexpr std::uint16_t kA = 1, kAaaa = 28;

  std::uint16_t id = 0;
  bool recursion_desired = false;
  std::string name;  // as asked, labels joined by dots; a label with a dot or a NUL in it is refused
  std::uint16_t type = 0;
  std::string wire;  // the question as it was sent
};
Result<DnsQuestion> parse_dns_query(std::string_view message);

enum class DnsCode : std::uint8_t { ok = 0, malformed = 1, failed = 2, no_such_name = 3, refused = 5 };

// Answers with the addresses of the type that was asked for; at most 512 bytes. The time to live is short:
// rules may change.
std::string dns_answer(const DnsQuestion& question, const std::vector<Address>& addresses);
std::string dns_refusal(const DnsQuestion& question, DnsCode code);
// To a message that is no question. Empty if it is too short to be answered at all.
std::string dns_malformed(std::string_view message);

}  // namespace atl::egress
