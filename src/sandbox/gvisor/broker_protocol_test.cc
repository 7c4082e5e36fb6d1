#include "sandbox/gvisor/broker_protocol.h"

#include <gtest/gtest.h>

namespace atl::sandbox::gvisor {
namespace {

TEST(GvisorProtocol, RefusesWhatNobodyWouldSend) {
  for (const char* bytes :
       {"", "[]", "{}", "{\"token\": \"x\"}", "\x00\x01", "{\"token\":1,\"verb\":\"create\"}"}) {
    EXPECT_FALSE(decode_request(bytes)) << bytes;
    EXPECT_FALSE(decode_reply(bytes)) << bytes;
  }
  std::string unknown = encode(Request{.verb = Verb::shut_down});
  unknown.replace(unknown.find("\"verb\":") + 7, 2, "99");
  const auto refused = decode_request(unknown);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
  std::string damaged = encode(Request{.verb = Verb::create});
  damaged.replace(damaged.find("\"layers\":[]"), 11, "\"layers\":{}");
  EXPECT_EQ(decode_request(damaged).error().code(), Code::invalid_argument);
}

TEST(GvisorProtocol, ARequestComesOutAsItWentIn) {
  Request request{.token = 7, .verb = Verb::create, .id = "one", .path = "/a", .text = "b", .memory = true};
  Spec& spec = request.spec;
  spec.id = "one", spec.session_id = "ses_1", spec.tenant = "t", spec.environment = "base";
  spec.layers = {"/l1", "/l2"}, spec.snapshot = "/s", spec.hostname = "h", spec.user = "root";
  spec.working_directory = "/w", spec.sudo = true, spec.network = Network::egress;
  spec.limits.cpu_time = std::chrono::milliseconds(5), spec.limits.io_bytes_per_second = 9;
  spec.env = {{"A", "1"}};
  spec.host_mounts = {{.host_path = "/h", .guest_path = "/g", .writable = true, .ids = MountIds::inside}};
  const auto back = decode_request(encode(request));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->token, 7U);
  EXPECT_TRUE(back->memory);
  EXPECT_EQ(back->spec.layers, spec.layers);
  EXPECT_EQ(back->spec.snapshot, spec.snapshot);
  EXPECT_EQ(back->spec.limits, spec.limits);
  EXPECT_EQ(back->spec.env, spec.env);
  EXPECT_EQ(back->spec.network, Network::egress);
  ASSERT_EQ(back->spec.host_mounts.size(), 1U);
  EXPECT_EQ(back->spec.host_mounts[0].ids, MountIds::inside);
  EXPECT_EQ(encode(*back), encode(request));
}

TEST(GvisorProtocol, AnErrorKeepsItsFieldAndDetail) {
  Reply reply{.token = 3, .error = Error(Code::no_space, "full").with_field("limits").with_detail("disk")};
  reply.names = {"a"}, reply.isolation.walls = {{"seccomp", "on"}}, reply.frozen = true;
  const auto back = decode_reply(encode(reply));
  ASSERT_TRUE(back);
  ASSERT_TRUE(back->error);
  EXPECT_EQ(back->error->code(), Code::no_space);
  EXPECT_EQ(back->error->field(), "limits");
  EXPECT_EQ(back->error->detail(), "disk");
  EXPECT_EQ(back->isolation.walls.at(0).value, "on");
  EXPECT_TRUE(back->frozen);
}

}  // namespace
}  // namespace atl::sandbox::gvisor
