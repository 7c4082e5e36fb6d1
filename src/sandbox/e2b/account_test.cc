// The control plane's client against a service that says what it should not.
#include "sandbox/e2b/account.h"

#include <gtest/gtest.h>

#include "sandbox/e2b/e2b.h"
#include "sandbox/e2b/fake_service_test.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::e2b {
namespace {

using namespace std::chrono_literals;
constexpr const char* kKey = "e2b_0123456789";

class AccountTest : public testing::Test, protected TestLoop {
 protected:
  Account account(const FakeService& service) {
    return Account(context().get_executor(), net::Url::parse(service.url()).value(), kKey);
  }
};

TEST_F(AccountTest, AKeyThatIsRefusedIsInNoMessage) {
  FakeService service(context(), [](const auto&) {
    return FakeService::json(401, R"({"code":401,"message":"the key is wrong"})");
  });
  Account one = account(service);
  const auto refused = run(one.get("i1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::provider_failed);
  EXPECT_EQ(refused.error().message().find(kKey), std::string::npos);
  EXPECT_EQ(refused.error().detail().find(kKey), std::string::npos);
  EXPECT_NE(service.asked().at(0).head.find(std::string("X-API-KEY: ") + kKey), std::string::npos);
}

TEST_F(AccountTest, ABusyServiceIsAskedAgainAndNotForEver) {
  int answers = 0;
  FakeService service(context(), [&](const auto&) {
    return ++answers % 4 == 3 ? FakeService::json(200, R"({"sandboxID":"i1"})")
                              : FakeService::json(429, "{}", "Retry-After: 0\r\n");
  });
  Account one = account(service);
  EXPECT_TRUE(run(one.get("i1")));
  EXPECT_EQ(answers, 3);
  answers = 3;
  FakeService busy(context(), [](const auto&) { return FakeService::json(429, "{}", "Retry-After: 0\r\n"); });
  Account other = account(busy);
  const auto given_up = run(other.get("i1"));
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code(), Code::unavailable);
  EXPECT_EQ(busy.asked().size(), 3U);
}

TEST_F(AccountTest, AnswersThatMakeNoSenseAreTheServices) {
  std::string says;
  FakeService service(context(), [&](const auto&) { return FakeService::json(200, says); });
  Account one = account(service);
  for (const char* text : {"{}", R"({"sandboxID":"../../etc"})", R"({"sandboxID":"a b"})",
                           R"({"sandboxID":"-x"})", R"({"sandboxID":7})", "[]", "nonsense"}) {
    says = text;
    EXPECT_EQ(run(one.create({.template_id = "t", .metadata = {}, .env = {}})).error().code(),
              Code::provider_failed)
        << text;
    EXPECT_FALSE(run(one.connect("i1", 10s))) << text;
  }
  for (const char* text : {"{}", "7", R"([{"sandboxID":"a/b"}])"}) {
    says = text;
    EXPECT_EQ(run(one.list({})).error().code(), Code::provider_failed) << text;
  }
  says = R"({"snapshotID":""})";
  EXPECT_EQ(run(one.snapshot("i1")).error().code(), Code::provider_failed);
  // The name of the machine behind it is not part of the id.
  says = R"({"sandboxID":"iabc-machine7","domain":"far","envdAccessToken":"t"})";
  const auto made = run(one.create({.template_id = "t", .metadata = {}, .env = {{"A", "b"}}}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->id, "iabc");
  EXPECT_NE(service.asked().back().body.find(R"("envVars":{"A":"b"})"), std::string::npos);
}

TEST_F(AccountTest, ListsAreReadToTheirEndAndOnlyOursAreKept) {
  FakeService service(context(), [](const FakeService::Asked& asked) {
    const bool second = asked.line.find("nextToken=two%20%26") != std::string::npos;
    const std::string mine = R"(,"metadata":{"atoll.installation":"me","n":7}})";
    return second ? FakeService::json(200,
                                      R"([{"sandboxID":"i2","state":"paused","memoryMB":"512")" + mine + "]")
                  : FakeService::json(200, R"([{"sandboxID":"i1")" + mine + R"(,{"sandboxID":"other"},7])",
                                      "X-Next-Token: two &\r\n");
  });
  Account one = account(service);
  const auto found = run(one.list({{"atoll.installation", "me"}}));
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->at(1).state, RemoteState::paused);
  EXPECT_EQ(found->at(1).memory_bytes, 512U << 20);
  EXPECT_NE(service.asked().at(0).line.find("metadata=atoll.installation%3Dme"), std::string::npos);
  // One whose pages never end.
  FakeService endless(context(),
                      [](const auto&) { return FakeService::json(200, "[]", "X-Next-Token: x\r\n"); });
  Account other = account(endless);
  EXPECT_TRUE(run(other.list({})));
  EXPECT_EQ(endless.asked().size(), 100U);
}

TEST_F(AccountTest, WhatIsGoneAlreadyIsSuccess) {
  int status = 404;
  FakeService service(context(),
                      [&](const auto&) { return FakeService::json(status, R"({"message":"no"})"); });
  Account one = account(service);
  EXPECT_TRUE(run(one.kill("i1")));
  EXPECT_TRUE(run(one.remove_snapshot("team/snap:1")));
  EXPECT_EQ(service.asked().back().line, "DELETE /templates/team%2Fsnap%3A1");
  EXPECT_EQ(run(one.set_timeout("i1", 5s)).error().code(), Code::not_found);
  status = 409;
  EXPECT_TRUE(run(one.pause("i1"))) << "it is paused already";
  EXPECT_EQ(run(one.kill("i1")).error().code(), Code::conflict);
}

// A create whose answer is cut: whether it came about is found out by the metadata, and undone.
TEST_F(AccountTest, ACreateWhoseAnswerGotLostIsUndone) {
  FakeService service(context(), [](const FakeService::Asked& asked) -> std::string {
    if (asked.line.starts_with("POST /v2/sandboxes")) return "";
    if (asked.line.starts_with("GET /v2/sandboxes"))
      return FakeService::json(
          200, R"([{"sandboxID":"ilost","metadata":{"atoll.installation":"me","atoll.sandbox":"mine"}}])");
    return FakeService::json(204, "");
  });
  E2bOptions options;
  options.api_url = options.sandbox_url = service.url();
  options.installation = "me";
  options.round_every = 1h;
  options.key = [](std::string) -> Task<std::string> { co_return std::string(kKey); };
  auto provider = make(context().get_executor(), std::move(options));
  ASSERT_TRUE(provider);
  Spec spec;
  spec.id = "mine";
  const auto lost = run((*provider)->create(spec));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), Code::unavailable) << lost.error().message();
  EXPECT_EQ(service.count("DELETE /sandboxes/ilost"), 1U);
  EXPECT_EQ((*provider)->counters().at("swept"), 1U);
  EXPECT_EQ(service.count("POST /v2/sandboxes"), 1U) << "a create is never sent twice";
  EXPECT_TRUE(run((*provider)->shut_down()));
}

TEST_F(AccountTest, TryingOutTellsWhatIsWrong) {
  E2bOptions options;
  options.key = [](std::string) -> Task<std::string> { co_return std::string(kKey); };
  options.api_url = "http://127.0.0.1:1";
  EXPECT_EQ(try_out(options).error().code(), Code::unavailable);
  options.api_url = "ftp://x";
  EXPECT_EQ(try_out(options).error().field(), "provider.e2b.api_url");
  options.api_url = "http://127.0.0.1:1";
  options.key = [](std::string) -> Task<std::string> { co_return std::string(); };
  EXPECT_TRUE(try_out(options)) << "keys of tenants are not for looking around";
}

}  // namespace
}  // namespace atl::sandbox::e2b
