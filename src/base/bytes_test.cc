#include "base/bytes.h"

#include <gtest/gtest.h>

#include <set>

#include "base/ids.h"

namespace atl {
namespace {

using namespace std::string_literals;

TEST(Bytes, RefusesWhatIsNotHexOrBase64) {
  EXPECT_FALSE(from_hex("abc"));
  EXPECT_FALSE(from_hex("zz"));
  EXPECT_FALSE(from_base64("a"));
  EXPECT_FALSE(from_base64("a b="));
  EXPECT_FALSE(from_base64("ab-_"));
}

TEST(Bytes, RoundTripsEveryLength) {
  std::string data;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(from_base64(to_base64(data)).value(), data);
    EXPECT_EQ(from_hex(to_hex(data)).value(), data);
    data += static_cast<char>(i * 7);
  }
  EXPECT_EQ(to_base64("hi\n"), "aGkK");
  EXPECT_EQ(to_base64("a"), "YQ==");
  EXPECT_EQ(from_base64("YQ").value(), "a");
}

TEST(Bytes, DigestsMatchKnownVectors) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Bytes, ComparesSecrets) {
  EXPECT_TRUE(equal_in_constant_time("same", "same"));
  EXPECT_FALSE(equal_in_constant_time("same", "sama"));
  EXPECT_FALSE(equal_in_constant_time("same", "sam"));
}

TEST(Utf8, RefusesOverlongSurrogatesAndTruncation) {
  for (const auto& bad : {"\xC0\x80"s, "\xED\xA0\x80"s, "\xE2\x82"s, "\x80"s, "\xF4\x90\x80\x80"s, "\xFF"s}) {
    EXPECT_FALSE(is_utf8(bad));
    EXPECT_TRUE(is_utf8(to_valid_utf8(bad)));
  }
  EXPECT_TRUE(is_utf8("aé€😀\0"s));
  EXPECT_EQ(to_valid_utf8("a\xFF"
                          "b"),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(Ids, HaveTheirFormAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(new_sandbox_id()).second);
  const auto id = new_sandbox_id();
  EXPECT_EQ(id.size(), 21U);
  EXPECT_EQ(id[0], 'i');
  EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"), std::string::npos);
  const auto uuid = random_uuid();
  EXPECT_EQ(uuid.size(), 36U);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_EQ(random_hex(20).size(), 40U);
}

}  // namespace
}  // namespace atl
