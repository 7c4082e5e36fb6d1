#include "egress/rules.h"

#include <gtest/gtest.h>

namespace atl::egress {
namespace {

using namespace std::string_literals;

Host host(std::string_view text) {
  return parse_host(text).value();
}
// As an operator has them, who opened everything.
Rules rules(std::vector<std::string> allow, std::vector<std::string> deny = {}) {
  return Rules::compile({.allow = std::move(allow), .deny = std::move(deny)},
                        InternalAddresses::all_opened(nullptr))
      .value();
}
Address address(std::string_view text) {
  return Address::parse(text).value();
}

TEST(Host, RefusesWhatTwoReadersCouldReadDifferently) {
  for (const auto& bad :
       {""s, "."s, "good.com\0.evil.com"s, "evil.com#.good.com"s, "good.com@evil.com"s, "a b.com"s, "a..b"s,
        "-a.com"s, "a-.com"s, "exämple.com"s, "a/b"s, "a\\b"s, "a%2e"s, "[::1"s, "[a]"s, "1.2.3.4.5:x"s,
        std::string(300, 'a'), std::string(64, 'a') + ".com"}) {
    EXPECT_FALSE(parse_host(bad)) << bad;
  }
}

TEST(Host, HasOneFormForEverySpelling) {
  EXPECT_EQ(to_string(host("API.Example.COM.")), "api.example.com");
  for (const auto* loopback :
       {"127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0x7f000001", "[::ffff:127.0.0.1]",
        "::ffff:7f00:1", "127.0.0.1.", "[::127.0.0.1]", "64:ff9b::7f00:1"}) {
    EXPECT_EQ(to_string(host(loopback)), "127.0.0.1") << loopback;
  }
  EXPECT_EQ(to_string(host("[::1]")), "::1");
  EXPECT_EQ(to_string(host("1.2.3.4.5")), "1.2.3.4.5");  // five parts: a name to every reader
}

TEST(Address, KnowsWhatIsNotTheInternet) {
  for (const auto* internal :
       {"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fd00:ec2::254", "ff02::1",
        "2002:7f00:1::", "::ffff:10.0.0.1",
        // Metadata services of clouds, under addresses that look public too.
        "168.63.129.16", "192.0.0.192", "169.254.170.2", "169.254.42.42", "fd20:ce::254", "fe80::a9fe:a9fe",
        "161.26.0.10", "166.8.0.1", "166.11.255.255",
        // IPv4 inside IPv6: NAT64 of all kinds, 6to4, Teredo, ISATAP, translated.
        "64:ff9b::a00:1", "64:ff9b:1::a00:1", "64:ff9b:1:ffff::1", "2002:0a00:0001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1",
        "::ffff:0:10.0.0.1", "::10.0.0.1",
        // The rest of the registries.
        "0.1.2.3", "192.0.2.7", "198.51.100.7", "203.0.113.7", "198.19.255.255", "192.88.99.1",
        "192.31.196.1", "192.52.193.1", "192.175.48.1", "239.255.255.250", "240.0.0.1", "100::1",
        "100:0:0:1::1", "2001:2::1", "2001:db8::1", "2001:10::1", "2001:20::1", "2620:4f:8000::1", "3ffe::1",
        "3fff::1", "5f00::1", "fec0::1", "fc00::1", "4000::1", "200::1", "1::1"}) {
    EXPECT_TRUE(address(internal).is_special()) << internal;
  }
  for (const auto* open :
       {"1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "100.128.0.1", "168.63.129.17", "166.12.0.1",
        "192.0.1.1", "198.20.0.1", "223.255.255.255", "2a00:1450:4001::1", "2606:4700::5efe:8.8.8.8",
        "64:ff9b::808:808", "2003::1", "3ffd::1"}) {
    EXPECT_FALSE(address(open).is_special()) << open;
  }
}

TEST(Rules, RefusesBadText) {
  for (const auto* bad : {"", "a b", "1.2.3.4/33", "x:0", "x:99999", "*.", "::1/129", "x:", "*.*.com",
                          "::ffff:10.0.0.0/8", "64:ff9b::/32"}) {
    EXPECT_FALSE(Rules::compile({.allow = {bad}})) << bad;
  }
  EXPECT_FALSE(Rules::compile({.inject = {{"a.com", {{"X Y", "v"}}}}}));
  EXPECT_FALSE(Rules::compile({.inject = {{"a.com", {{"X", "v\r\nEvil: 1"}}}}}));
}

TEST(Rules, NothingIsAllowedByDefault) {
  EXPECT_FALSE(Rules().check_host(host("example.com"), 443).allowed);
  EXPECT_FALSE(Rules().check_host(host("1.1.1.1"), 443).allowed);
}

TEST(Rules, NamesAndWildcards) {
  const auto r = rules({"example.com", "*.example.org", "ports.net:8443"});
  EXPECT_TRUE(r.check_host(host("Example.com."), 443).allowed);
  EXPECT_FALSE(r.check_host(host("sub.example.com"), 443).allowed);
  EXPECT_FALSE(r.check_host(host("evilexample.com"), 443).allowed);
  EXPECT_TRUE(r.check_host(host("a.b.example.org"), 80).allowed);
  EXPECT_FALSE(r.check_host(host("example.org"), 80).allowed);
  EXPECT_FALSE(r.check_host(host("evil-example.org"), 80).allowed);
  EXPECT_TRUE(r.check_host(host("ports.net"), 8443).allowed);
  EXPECT_FALSE(r.check_host(host("ports.net"), 443).allowed);
}

TEST(Rules, InternalAddressesNeedARuleThatNamesThem) {
  const auto open = rules({"*"});
  EXPECT_TRUE(open.check_host(host("1.1.1.1"), 443).allowed);
  EXPECT_FALSE(open.check_host(host("169.254.169.254"), 80).allowed);
  EXPECT_FALSE(open.check_host(host("0x7f.1"), 80).allowed);
  // A public name that resolves to an internal address (DNS rebinding).
  EXPECT_FALSE(rules({"rebind.com"}).check_address("rebind.com", address("127.0.0.1"), 80).allowed);
  EXPECT_TRUE(rules({"127.0.0.1:80"}).check_host(host("127.0.0.1"), 80).allowed);
  EXPECT_FALSE(rules({"127.0.0.1:80"}).check_host(host("127.0.0.1"), 8000).allowed);
  EXPECT_TRUE(rules({"10.0.0.0/8"}).check_address("db.corp", address("10.2.3.4"), 5432).allowed);
}

TEST(Rules, AllowBeatsDenyAndDenyBeatsEverything) {
  const auto r = rules({"good.com", "*"}, {"0.0.0.0/0"});
  EXPECT_TRUE(r.check_address("good.com", address("1.2.3.4"), 443).allowed);
  EXPECT_FALSE(r.check_address("other.com", address("1.2.3.4"), 443).allowed);
  EXPECT_FALSE(r.check_host(host("1.2.3.4"), 443).allowed);
  const auto some = rules({"*"}, {"bad.com", "9.9.9.0/24"});
  EXPECT_FALSE(some.check_address("x.com", address("9.9.9.9"), 443).allowed);
  EXPECT_FALSE(some.check_host(host("bad.com"), 443).allowed);
  EXPECT_TRUE(some.check_host(host("x.com"), 443).allowed);
}

TEST(Rules, AmongNamesTheClosestWins) {
  const auto r = rules({"*.a.com", "x.bad.a.com"}, {"*.bad.a.com", "b.a.com", "a.com:22"});
  EXPECT_TRUE(r.check_host(host("z.a.com"), 443).allowed);
  EXPECT_FALSE(r.check_host(host("b.a.com"), 443).allowed);
  EXPECT_FALSE(r.check_host(host("y.bad.a.com"), 443).allowed);
  EXPECT_TRUE(r.check_host(host("x.bad.a.com"), 443).allowed);
  EXPECT_FALSE(r.check_lookup("y.bad.a.com").allowed);
  EXPECT_TRUE(rules({"a.com"}, {"a.com:22"}).check_lookup("a.com").allowed);
  EXPECT_TRUE(rules({"a.com"}, {"a.com"}).check_host(host("a.com"), 1).allowed);
}

TEST(Rules, TellsOnlyAddressesThatCouldBeDialled) {
  const auto r = rules({"a.com", "10.0.0.0/8:5432"}, {"9.9.9.9"});
  EXPECT_TRUE(r.may_tell("a.com", address("8.8.8.8")));
  EXPECT_TRUE(r.may_tell("a.com", address("9.9.9.9")));  // named, and a name beats a range
  EXPECT_TRUE(r.may_tell("a.com", address("10.1.1.1")));
  EXPECT_FALSE(r.may_tell("a.com", address("192.168.0.1")));
  EXPECT_FALSE(r.may_tell("b.com", address("8.8.8.8")));
}

TEST(Rules, HeaderValuesNameSecrets) {
  const auto compile = [](std::string value) {
    return Rules::compile({.inject = {{"a.com", {{"X", std::move(value)}}}}});
  };
  EXPECT_TRUE(compile("${secrets.a-b_c.D}"));
  EXPECT_TRUE(compile("cost: 5$ {x} ${secrets.a}${secrets.b} end"));
  for (const auto* bad :
       {"${secrets.}", "${secrets.a", "${env.HOME}", "${}", "${secrets.a{b}", "x\ny", "x\x7f"})
    EXPECT_FALSE(compile(bad)) << bad;
  for (const auto* bad : {"*", "0.0.0.0/0", "a.com:443", "10.0.0.0/8", ""})
    EXPECT_FALSE(Rules::compile({.inject = {{bad, {{"X", "v"}}}}})) << bad;
}

TEST(Rules, HeadersOfWildcardsGiveWayToNames) {
  const auto r = Rules::compile({.inject = {{"*.a.com", {{"X", "w"}}}, {"api.a.com", {{"Y", "n"}}}}}).value();
  EXPECT_TRUE(r.headers_for(host("api.a.com"))->contains("Y"));
  EXPECT_TRUE(r.headers_for(host("www.a.com"))->contains("X"));
  EXPECT_EQ(r.headers_for(host("a.com")), nullptr);
  EXPECT_TRUE(r.sets_headers());
}

// A name whose rule sets nothing is left alone, whatever a wildcard above it says.
TEST(Rules, NoHeadersAreARuleToo) {
  const auto r = Rules::compile({.inject = {{"*.a.com", {{"X", "w"}}}, {"api.a.com", {}}}}).value();
  EXPECT_EQ(r.headers_for(host("api.a.com")), nullptr);
  EXPECT_NE(r.headers_for(host("www.a.com")), nullptr);
  EXPECT_TRUE(r.sets_headers());
  EXPECT_FALSE(Rules::compile({.inject = {{"a.com", {}}}}).value().sets_headers());
}

TEST(Rules, SaysWhy) {
  EXPECT_EQ(rules({"*.a.com"}).check_host(host("x.a.com"), 1).reason, "allow *.a.com");
  EXPECT_EQ(rules({"*"}).check_host(host("10.0.0.1"), 1).reason, "internal address");
  EXPECT_EQ(rules({"a.com"}).check_host(host("b.com"), 1).reason, "no rule allows it");
}

TEST(Rules, HeadersBelongToOneName) {
  const auto r =
      Rules::compile({.allow = {"*"}, .inject = {{"API.com", {{"Authorization", "secret"}}}}}).value();
  ASSERT_NE(r.headers_for(host("api.com.")), nullptr);
  EXPECT_EQ(r.headers_for(host("x.api.com")), nullptr);
}

}  // namespace
}  // namespace atl::egress
