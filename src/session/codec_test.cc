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

TEST(Codec, SecretsComeBackAndAreNoAttributes) {
  Session session;
  session.attributes = {{"e2b.template", "base"}};
  session.secret = "s3cret";
  session.traffic_token = "t0ken";
  for (const auto data_plane : {DataPlane::secured, DataPlane::open}) {
    for (const auto ports : {Ports::open, Ports::closed}) {
      session.data_plane = data_plane;
      session.ports = ports;
      const auto back = from_row(to_row(session, "incarnation"));
      ASSERT_TRUE(back) << back.error().message();
      EXPECT_EQ(back->secret, session.secret);
      EXPECT_EQ(back->traffic_token, session.traffic_token);
      EXPECT_EQ(back->data_plane, data_plane);
      EXPECT_EQ(back->ports, ports);
      EXPECT_EQ(back->attributes, session.attributes);
    }
  }
}

TEST(Codec, RequiredWallsComeBack) {
  Session session;
  for (const std::vector<std::string>& walls :
       {std::vector<std::string>{}, std::vector<std::string>{"memory_limit", "seccomp"}}) {
    session.required_walls = walls;
    const auto back = from_row(to_row(session, "incarnation"));
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->required_walls, walls);
    EXPECT_TRUE(back->attributes.empty());
  }
}

TEST(Codec, TokensOfAnEarlierVersionBecomeTheSessions) {
  auto row = to_row(Session{}, "incarnation");
  row.attributes = R"({"e2b.token":"old","e2b.traffic_token":"older","e2b.template":"base"})";
  auto back = from_row(row);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->secret, "old");
  EXPECT_EQ(back->traffic_token, "older");
  EXPECT_EQ(back->ports, Ports::closed);
  EXPECT_EQ(back->data_plane, DataPlane::secured);
  EXPECT_EQ(back->attributes, (TextMap{{"e2b.template", "base"}}));
  // One that had none was open to all: it is not any more.
  row.attributes = "{}";
  back = from_row(row);
  EXPECT_EQ(back->secret, "");
  EXPECT_EQ(back->data_plane, DataPlane::secured);
}

}  // namespace
}  // namespace atl::session
