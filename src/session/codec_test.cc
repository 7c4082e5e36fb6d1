#include "session/codec.h"

#include <gtest/gtest.h>

namespace atl::session {
namespace {

TEST(Codec, TheWayOutComesBackAsItWas) {
  Session session;
  session.network = sandbox::Network::egress;
  session.egress.allow = {"a.com", "*"};
  session.egress.deny = {"10.0.0.0/8"};
  session.egress.inject = {{"a.com", {{"X-Key", "${secrets.k}"}}}};
  for (const auto& proxy :
       {std::optional<egress::UpstreamText>(),
        std::optional(egress::UpstreamText{"proxy.example:1080", "", ""}),
        std::optional(egress::UpstreamText{"[2001:db8::1]:1080", "ann", "sealed bytes"})}) {
    session.egress.proxy = proxy;
    const auto back = from_row(to_row(session, "incarnation"));
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->egress, session.egress);
    EXPECT_EQ(back->network, session.network);
  }
}

}  // namespace
}  // namespace atl::session
