#include "egress/internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egress/proxy.h"
#include "egress/rules.h"

namespace atl::egress {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Address address(std::string_view text) {
  return Address::parse(text).value();
}
std::vector<Cidr> ranges(const std::vector<std::string>& texts) {
  std::vector<Cidr> parsed;
  for (const std::string& text : texts) parsed.push_back(Cidr::parse(text).value());
  return parsed;
}

// A machine whose addresses the test decides.
class FakeOwn final : public OwnAddresses {
 public:
  explicit FakeOwn(const std::vector<std::string>& texts) : addresses(ranges(texts)) {}
  Result<std::vector<Cidr>> now() const override {
    if (is_lost) return fail(Code::unavailable, "the kernel does not tell");
    return addresses;
  }
  std::vector<Cidr> addresses;
  bool is_lost = false;
};

struct InternalTest : ::testing::Test {
  std::shared_ptr<FakeOwn> own =
      std::make_shared<FakeOwn>(std::vector<std::string>{"45.1.2.3", "2a00:1:2::3"});
  std::shared_ptr<const InternalAddresses> internal(const std::vector<std::string>& opened,
                                                    const std::vector<std::string>& more = {}) {
    InternalAddresses::Options options;
    options.own = own;
    options.opened = ranges(opened);
    options.more = ranges(more);
    return std::make_shared<const InternalAddresses>(std::move(options));
  }
  // Why a tenant's rule is refused; empty: it is not.
  std::string refusal(const std::string& rule, const std::vector<std::string>& opened = {}) {
    auto rules = Rules::compile({.allow = {rule}}, internal(opened));
    if (!rules) return "unreadable";
    auto checked = rules->check_internal();
    return checked ? "" : checked.error().message();
  }
};

TEST_F(InternalTest, ATenantCannotNameInternalAddressesOrRangesThatContainThem) {
  for (const auto* rule :
       {"10.0.0.1", "10.0.0.0/8", "127.0.0.1:80", "0x7f.1", "2130706433", "[::1]:80", "169.254.169.254",
        "168.63.129.16", "168.63.0.0/16", "0.0.0.0/1", "128.0.0.0/1", "100.0.0.0/8", "192.0.0.0/16",
        "::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::/48", "fd00:ec2::254", "2000::/3", "2001::/16",
        "2002:0a00:1::", "8000::/1", "2606:4700::5efe:10.0.0.1", "::ffff:10.0.0.0/104",
        // This machine, by its public addresses.
        "45.1.2.3", "45.1.2.3:443", "45.1.2.0/24", "45.0.0.0/8", "2a00:1:2::3", "2a00:1::/32"}) {
    EXPECT_THAT(refusal(rule), Not(::testing::AnyOf("", "unreadable"))) << rule;
  }
}

TEST_F(InternalTest, EverythingMeansEverythingPublicHoweverItIsWritten) {
  for (const auto* rule :
       {"*", "*:443", "0.0.0.0/0", "::/0", "0.0.0.0/0:443", "1.2.3.4/0", "10.0.0.0/0", "::1/0"}) {
    EXPECT_EQ(refusal(rule), "") << rule;
    const auto rules = Rules::compile({.allow = {rule}}, internal({})).value();
    EXPECT_TRUE(rules.check_host(address("8.8.8.8"), 443).allowed) << rule;
    for (const auto* closed : {"10.0.0.1", "127.0.0.1", "169.254.169.254", "45.1.2.3", "2a00:1:2::3", "::1"})
      EXPECT_FALSE(rules.check_host(address(closed), 443).allowed) << rule << " " << closed;
  }
}

TEST_F(InternalTest, PublicRulesAndNamesAreFine) {
  for (const auto* rule : {"8.8.8.8", "45.1.3.0/24", "45.1.2.4", "2606:4700::/32", "example.com",
                           "*.example.com:443", "2a00:1:2::4", "localhost"})
    EXPECT_EQ(refusal(rule), "") << rule;
}

TEST_F(InternalTest, TheRefusalSaysWhatToDoAndNotWhereTheMachineIs) {
  EXPECT_THAT(refusal("10.0.0.1"), HasSubstr("'10.0.0.1' is internal"));
  EXPECT_THAT(refusal("10.0.0.1"), HasSubstr("network.internal"));
  EXPECT_THAT(refusal("100.0.0.0/8"), HasSubstr("100.64.0.0/10"));
  EXPECT_THAT(refusal("45.0.0.0/8"), HasSubstr("network.internal"));
  EXPECT_THAT(refusal("45.0.0.0/8"), Not(HasSubstr("45.1.2.3")));
}

TEST_F(InternalTest, WhatTheOperatorOpenedMayBeNamedAndReached) {
  EXPECT_EQ(refusal("10.1.2.3:5432", {"10.1.0.0/16"}), "");
  EXPECT_EQ(refusal("10.1.0.0/16", {"10.1.0.0/16"}), "");
  EXPECT_EQ(refusal("10.0.0.0/8", {"10.0.0.0/9", "10.128.0.0/9"}), "");  // together
  EXPECT_NE(refusal("10.0.0.0/8", {"10.1.0.0/16"}), "");
  EXPECT_NE(refusal("10.2.0.1", {"10.1.0.0/16"}), "");
  EXPECT_EQ(refusal("45.1.2.0/24", {"45.1.2.3"}), "");
  const auto rules = Rules::compile({.allow = {"10.1.2.3", "*"}}, internal({"10.1.0.0/16"})).value();
  EXPECT_TRUE(rules.check_host(address("10.1.2.3"), 1).allowed);
  // Opened but not named: everything is everything public.
  EXPECT_EQ(rules.check_host(address("10.1.2.4"), 1).reason, "internal address");
}

// A session from before the operator closed something, or before this was checked.
TEST_F(InternalTest, ARuleThatNamesWhatIsNotOpenedHasNoEffect) {
  const auto rules = Rules::compile({.allow = {"10.0.0.0/8", "45.1.2.3"}}, internal({})).value();
  EXPECT_EQ(rules.check_host(address("10.0.0.1"), 80).reason, "internal address");
  EXPECT_EQ(rules.check_host(address("45.1.2.3"), 80).reason, "internal address");
  EXPECT_EQ(rules.check_address("a.com", address("10.0.0.1"), 80).reason, "internal address");
  EXPECT_FALSE(rules.may_tell("a.com", address("10.0.0.1")));
}

TEST_F(InternalTest, TheMachinesAddressesAreAskedForEachTime) {
  const auto rules = Rules::compile({.allow = {"*", "46.0.0.1"}}, internal({})).value();
  EXPECT_TRUE(rules.check_host(address("46.0.0.1"), 80).allowed);
  own->addresses = ranges({"46.0.0.1"});
  EXPECT_FALSE(rules.check_host(address("46.0.0.1"), 80).allowed);
  EXPECT_TRUE(rules.check_host(address("45.1.2.3"), 80).allowed);
}

TEST_F(InternalTest, NothingIsReachedWhileNobodyKnowsTheMachinesAddresses) {
  own->is_lost = true;
  const auto rules = Rules::compile({.allow = {"*"}}, internal({})).value();
  EXPECT_FALSE(rules.check_host(address("8.8.8.8"), 443).allowed);
  EXPECT_NE(refusal("8.8.8.8"), "");
}

TEST_F(InternalTest, AnOperatorAddsInternalAddresses) {
  const auto rules =
      Rules::compile({.allow = {"*", "54.1.1.1"}}, internal({}, {"54.1.1.1", "30.0.0.0/8"})).value();
  EXPECT_FALSE(rules.check_host(address("54.1.1.1"), 443).allowed);
  EXPECT_FALSE(rules.check_host(address("30.1.1.1"), 443).allowed);
  EXPECT_FALSE(rules.check_internal());
}

TEST(Cidr, HalvesAndOverlaps) {
  const auto all = Cidr::parse("::/0").value();
  EXPECT_EQ(all.halves()->first.to_string(), "::/1");
  EXPECT_EQ(all.halves()->second.to_string(), "8000::/1");
  EXPECT_EQ(Cidr::parse("10.0.0.0/8").value().halves()->second.to_string(), "10.128.0.0/9");
  EXPECT_FALSE(Cidr::parse("10.0.0.1").value().halves());
  EXPECT_TRUE(Cidr::parse("10.0.0.0/8").value().overlaps(Cidr::parse("10.9.0.0/16").value()));
  EXPECT_FALSE(Cidr::parse("10.0.0.0/8").value().overlaps(Cidr::parse("11.0.0.0/8").value()));
  EXPECT_FALSE(Cidr::parse("0.0.0.0/0").value().overlaps(all));
  EXPECT_EQ(Cidr::parse("::ffff:10.1.0.0/112").value().to_string(), "10.1.0.0/16");
}

}  // namespace
}  // namespace atl::egress
