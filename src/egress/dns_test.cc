#include "egress/dns.h"

#include <gtest/gtest.h>

namespace atl::egress {
namespace {

using namespace std::string_literals;

const auto kHead = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"s;
const auto kQuestion =
    "\x01"
    "a\x03"
    "com\x00\x00\x01\x00\x01"s;

TEST(Dns, ReadsOnePlainQuestion) {
  const auto question = parse_dns_query(kHead + kQuestion + "trailing EDNS"s);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->id, 0x1234);
  EXPECT_EQ(question->name, "a.com");
  EXPECT_EQ(question->type, DnsQuestion::kA);
  EXPECT_TRUE(question->recursion_desired);
}

TEST(Dns, RefusesEverythingElse) {
  const auto whole = kHead + kQuestion;
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_FALSE(parse_dns_query(whole.substr(0, i))) << i;
  const auto changed = [&](std::size_t at, char to) {
    auto copy = whole;
    copy[at] = to;
    return copy;
  };
  EXPECT_FALSE(parse_dns_query(changed(2, '\x81')));   // an answer
  EXPECT_FALSE(parse_dns_query(changed(2, '\x28')));   // an update
  EXPECT_FALSE(parse_dns_query(changed(5, '\x02')));   // two questions
  EXPECT_FALSE(parse_dns_query(changed(7, '\x01')));   // a question with an answer
  EXPECT_FALSE(parse_dns_query(changed(12, '\xc0')));  // compressed
  EXPECT_FALSE(parse_dns_query(changed(13, '.')));
  EXPECT_FALSE(parse_dns_query(changed(13, '\0')));
  EXPECT_FALSE(parse_dns_query(changed(whole.size() - 1, '\x03')));  // class CH
  std::string long_name;
  for (int i = 0; i < 10; ++i) long_name += "\x3f" + std::string(63, 'x');
  EXPECT_FALSE(parse_dns_query(kHead + long_name + "\0\0\x01\0\x01"s));
}

TEST(Dns, AnswersWithTheTypeThatWasAskedFor) {
  const auto question = parse_dns_query(kHead + kQuestion).value();
  const std::vector<Address> addresses = {*Address::parse("1.2.3.4"), *Address::parse("2606::1"),
                                          *Address::parse("5.6.7.8")};
  const auto answer = dns_answer(question, addresses);
  EXPECT_EQ(answer.substr(0, 12), "\x12\x34\x81\x80\x00\x01\x00\x02\x00\x00\x00\x00"s);
  EXPECT_EQ(answer.substr(12, kQuestion.size()), kQuestion);
  EXPECT_TRUE(answer.ends_with("\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04\x05\x06\x07\x08"s));
  EXPECT_EQ(dns_refusal(question, DnsCode::no_such_name).substr(2, 2), "\x81\x83"s);
}

TEST(Dns, AnswersFitADatagram) {
  const auto question = parse_dns_query(kHead + kQuestion).value();
  EXPECT_LE(dns_answer(question, std::vector(100, *Address::parse("1.2.3.4"))).size(), 512U);
}

TEST(Dns, SaysWhatIsMalformedButDoesNotAnswerAnswers) {
  EXPECT_EQ(dns_malformed(kHead).substr(2, 2), "\x80\x01"s);
  EXPECT_EQ(dns_malformed("short"), "");
  EXPECT_EQ(dns_malformed("\x12\x34\x80\x00\x00\x01\x00\x00\x00\x00\x00\x00"s), "");
}

}  // namespace
}  // namespace atl::egress
