#include "api/e2b/create.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/e2b/egress.h"

namespace atl::api::e2b {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const Seal kSeal = [](const std::string& plain) { return Result<std::string>("sealed " + plain); };

Object parsed(const char* text) {
  return boost::json::parse(text).as_object();
}
Result<session::CreateRequest> create(const char* text, bool second = true) {
  return create_request(parsed(text), second, kSeal);
}
Result<session::NetworkRequest> egress(const char* text) {
  return read_egress(parsed(text), true, kSeal);
}

TEST(Create, RefusesWhatItCannotKeep) {
  for (const char* bad :
       {R"({"timeout": 0})", R"({"timeout": -1})", R"({"timeout": 2592001})", R"({"timeout": "soon"})",
        R"({"metadata": {"a": 1}})", R"({"envVars": []})", R"({"autoPauseMemory": true})",
        R"({"autoPause": true, "autoPauseMemory": false, "autoResume": {"enabled": true}})",
        R"({"network": {"httpsPorts": [0]}})", R"({"network": {"httpsPorts": [49983]}})",
        R"({"network": {"httpsPorts": [49999]}})", R"({"volumeMounts": ["a"]})",
        R"({"volumeMounts": [{"name": "a"}]})",
        R"({"volumeMounts": [{"name": "a", "path": "/x"}, {"name": "b", "path": "/x"}]})"}) {
    const auto made = create(bad);
    ASSERT_FALSE(made) << bad;
    EXPECT_EQ(made.error().code(), Code::invalid_argument) << bad;
  }
  // Things of the original that are not here.
  for (const char* unknown :
       {R"({"iam": {"tokens": {"a": {"audience": "x"}}}})", R"({"sidecars": [{"entry": "valkey"}]})"})
    EXPECT_EQ(create(unknown).error().code(), Code::unsupported) << unknown;
  for (const char* nothing : {R"({"iam": {}})", R"({"iam": null})", R"({"sidecars": []})", "{}"})
    EXPECT_TRUE(create(nothing)) << nothing;
}

TEST(Create, GenerationsDiffer) {
  EXPECT_EQ(create("{}", false)->ttl, std::chrono::seconds(15));
  EXPECT_EQ(create("{}", true)->ttl, std::chrono::seconds(300));
  EXPECT_EQ(create(R"({"secure": false})", false)->data_plane, session::DataPlane::open);
  EXPECT_EQ(create(R"({"secure": false})", true)->data_plane, session::DataPlane::secured);
}

TEST(Create, LifecyclesAndTrafficAreOurs) {
  const auto kept = create(R"({"autoPause": true, "autoPauseMemory": true, "autoResume": {"enabled": true},
                              "network": {"allowPublicTraffic": false, "maskRequestHost": "h:${PORT}",
                                          "httpsPorts": [3000, 8443]},
                              "volumeMounts": [{"name": "a", "path": "/x"}]})");
  ASSERT_TRUE(kept) << kept.error().message();
  EXPECT_EQ(kept->on_expiry, session::OnExpiry::pause);
  EXPECT_TRUE(kept->auto_resume);
  EXPECT_EQ(kept->ports, session::Ports::closed);
  EXPECT_EQ(kept->attributes.at(attribute::kHttpsPorts), " 3000 8443 ");
  EXPECT_EQ(kept->attributes.at(attribute::kMaskHost), "h:${PORT}");
  EXPECT_THAT(kept->volumes, ElementsAre(Pair("/x", "a")));
  const auto cold = create(R"({"autoPause": true, "autoPauseMemory": false})");
  EXPECT_TRUE(cold->attributes.contains(attribute::kColdAfterPause));
}

TEST(Egress, RulesMaySetNothing) {
  const auto read = egress(R"({"rules": {"a.com": [{}], "b.com": [{"transform": null}], "c.com": [],
                              "d.com": [{"transform": {}}, {"transform": {"headers": {"X": "${e2b.secrets.K}!"}}}]}})");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_THAT(read->rules.inject,
              ElementsAre(Pair("a.com", IsEmpty()), Pair("b.com", IsEmpty()), Pair("c.com", IsEmpty()),
                          Pair("d.com", ElementsAre(Pair("X", "${secrets.K}!")))));
}

TEST(Egress, NothingUnknownIsIgnored) {
  for (const char* bad :
       {R"({"rules": {"a.com": [{"reject": true}]}})", R"({"rules": {"a.com": ["x"]}})",
        R"({"rules": {"a.com": [{"transform": {"query": {}}}]}})",
        R"({"rules": {"a.com": [{"transform": {"headers": {"X": "${e2b.identity.tokens.a}"}}}]}})"})
    EXPECT_EQ(egress(bad).error().code(), Code::unsupported) << bad;
  for (const char* bad :
       {R"({"rules": {"a.com": {}}})", R"({"egressProxy": {}})", R"({"denyOut": ["a.com"]})",
        R"({"egressProxy": {"address": "p:1", "protocol": "socks5"}})",
        R"({"egressProxy": {"address": "p:1", "password": "x"}})",
        R"({"egressProxy": {"address": "p:1", "tls": {}}})"})
    EXPECT_EQ(egress(bad).error().code(), Code::invalid_argument) << bad;
  EXPECT_THAT(egress(R"({"allowOut": ["a.com"]})").error().message(), HasSubstr("0.0.0.0/0"));
}

TEST(Egress, PasswordsAreSealedAndNotShown) {
  const char* text = R"({"egressProxy": {"address": "p:1", "username": "u", "password": "hush"}})";
  EXPECT_EQ(egress(text)->rules.proxy->sealed_password, "sealed hush");
  EXPECT_EQ(to_text(shown_network(parsed(text))), R"({"egressProxy":{"address":"p:1","username":"u"}})");
  EXPECT_EQ(to_text(updated_network(parsed(R"({"allowOut": ["1.1.1.1"], "httpsPorts": [1]})"),
                                    parsed(R"({"denyOut": ["0.0.0.0/0"], "egressProxy": null})"))),
            R"({"httpsPorts":[1],"denyOut":["0.0.0.0/0"]})");
}

}  // namespace
}  // namespace atl::api::e2b
