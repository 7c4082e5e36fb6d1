#include "egress/dns.h"

#include <fmt/format.h>

namespace atl::egress {
namespace {

constexpr std::size_t kHeader = 12, kNameMax = 255, kLabelMax = 63, kMessageMax = 512;
constexpr std::uint16_t kClassIn = 1;
constexpr std::uint32_t kTimeToLive = 5;
constexpr std::uint16_t kResponse = 0x8000, kOpcode = 0x7800, kRecursionDesired = 0x0100,
                        kRecursionAvailable = 0x0080;

std::uint16_t read16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8 |
                                    static_cast<unsigned char>(bytes[at + 1]));
}

void put16(std::string& out, std::uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}

std::unexpected<Error> bad(std::string_view why) {
  return fail(Code::invalid_argument, fmt::format("bad DNS query: {}", why));
}

// Labels joined by dots. `at` is moved behind the name.
Result<std::string> read_name(std::string_view message, std::size_t& at) {
  std::string name;
  for (;;) {
    if (at >= message.size()) return bad("the name is cut off");
    const auto length = static_cast<unsigned char>(message[at++]);
    if (length == 0) return name;
    if (length > kLabelMax) return bad("a compressed or too long label");
    if (at + length > message.size()) return bad("the name is cut off");
    const auto label = message.substr(at, length);
    if (label.find_first_of(std::string_view(".\0", 2)) != std::string_view::npos)
      return bad("a dot or a NUL inside a label");
    at += length;
    if (!name.empty()) name += '.';
    name += label;
    if (name.size() > kNameMax) return bad("the name is too long");
  }
}

std::string head(const DnsQuestion& question, DnsCode code, std::uint16_t answers) {
  std::string out;
  put16(out, question.id);
  put16(out, static_cast<std::uint16_t>(kResponse | kRecursionAvailable |
                                        (question.recursion_desired ? kRecursionDesired : 0) |
                                        static_cast<std::uint16_t>(code)));
  put16(out, 1);
  put16(out, answers);
  put16(out, 0);
  put16(out, 0);
  return out + question.wire;
}

}  // namespace

Result<DnsQuestion> parse_dns_query(std::string_view message) {
  if (message.size() < kHeader) return bad("too short");
  const auto flags = read16(message, 2);
  if ((flags & (kResponse | kOpcode)) != 0) return bad("not a plain query");
  if (read16(message, 4) != 1 || read16(message, 6) != 0) return bad("not exactly one question");
  DnsQuestion question;
  question.id = read16(message, 0);
  question.recursion_desired = (flags & kRecursionDesired) != 0;
  std::size_t at = kHeader;
  question.name = TRY(read_name(message, at));
  if (at + 4 > message.size()) return bad("the question is cut off");
  question.type = read16(message, at);
  if (read16(message, at + 2) != kClassIn) return bad("a class other than IN");
  question.wire = message.substr(kHeader, at + 4 - kHeader);
  return question;
}

std::string dns_answer(const DnsQuestion& question, const std::vector<Address>& addresses) {
  std::string records;
  std::uint16_t count = 0;
  for (const auto& address : addresses) {
    const auto type = address.is_v4() ? DnsQuestion::kA : DnsQuestion::kAaaa;
    const std::uint16_t length = address.is_v4() ? 4 : 16;
    if (type != question.type) continue;
    if (kHeader + question.wire.size() + records.size() + 12 + length > kMessageMax) break;
    put16(records, 0xc000 | kHeader);  // the name of the question
    put16(records, type);
    put16(records, kClassIn);
    put16(records, 0);
    put16(records, kTimeToLive);
    put16(records, length);
    records.append(reinterpret_cast<const char*>(address.bytes().data()), length);
    ++count;
  }
  return head(question, DnsCode::ok, count) + records;
}

std::string dns_refusal(const DnsQuestion& question, DnsCode code) {
  return head(question, code, 0);
}

std::string dns_malformed(std::string_view message) {
  if (message.size() < kHeader || (read16(message, 2) & kResponse) != 0) return {};
  std::string out(message.substr(0, 2));
  put16(out, kResponse | static_cast<std::uint16_t>(DnsCode::malformed));
  out.append(8, '\0');
  return out;
}

}  // namespace atl::egress
