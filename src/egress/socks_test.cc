#include "egress/socks.h"

#include <gtest/gtest.h>

namespace atl::egress {
namespace {

using namespace std::string_literals;

TEST(Socks, WaitsForAllOfIt) {
  const auto whole =
      "\x05\x01\x00\x03\x05"
      "a.com\x01\xbb"s;
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_EQ(parse_socks(std::string_view(whole).substr(0, i)).kind, SocksRequest::Kind::incomplete) << i;
  const auto request = parse_socks(whole + "more");
  ASSERT_EQ(request.kind, SocksRequest::Kind::connect);
  EXPECT_EQ(request.size, whole.size());
  EXPECT_EQ(to_string(request.host), "a.com");
  EXPECT_EQ(request.port, 443);
  EXPECT_EQ(socks_greeting("\x05"), 0U);
  EXPECT_EQ(socks_greeting("\x05\x02\x00"), 0U);
  EXPECT_EQ(socks_greeting("\x05\x02\x00\x01"s), 4U);
}

TEST(Socks, ReadsAddresses) {
  EXPECT_EQ(to_string(parse_socks("\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"s).host), "127.0.0.1");
  const auto mapped = "\x05\x01\x00\x04"s + std::string(10, '\0') + "\xff\xff\xa9\xfe\xa9\xfe\x00\x50"s;
  EXPECT_EQ(to_string(parse_socks(mapped).host), "169.254.169.254");
}

TEST(Socks, RefusesWhatItDoesNotSpeak) {
  EXPECT_EQ(parse_socks("\x04\x01\x00\x50\x00"s).refusal, SocksReply::bad_command);
  EXPECT_EQ(parse_socks("\x05\x02\x00\x01\x00"s).refusal, SocksReply::bad_command);  // bind
  EXPECT_EQ(parse_socks("\x05\x03\x00\x01\x00"s).refusal, SocksReply::bad_command);  // UDP
  EXPECT_EQ(parse_socks("\x05\x01\x00\x02\x00"s).refusal, SocksReply::bad_type);
  EXPECT_EQ(parse_socks("\x05\x01\x00\x03\x00\x00\x50"s).kind, SocksRequest::Kind::refused);  // no name
  EXPECT_EQ(parse_socks("\x05\x01\x00\x01\x01\x01\x01\x01\x00\x00"s).kind, SocksRequest::Kind::refused);
}

}  // namespace
}  // namespace atl::egress
