// The broker with an engine that lies, refuses and forgets: each is a clear error, and what was half made is
// asked to be removed. docker_test.cc has real engines.
#include "sandbox/docker/broker.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/ids.h"
#include "guest/handover.h"
#include "guest/program.h"
#include "os/file.h"
#include "sandbox/docker/broker_client.h"
#include "sandbox/docker/fake_engine_test.h"
#include "sandbox/docker/spec_note.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;
using Asked = FakeEngine::Asked;

class LyingEngineTest : public testing::Test, protected TestLoop {
 protected:
  void SetUp() override {
    std::string name = "/tmp/atoll-lying-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    options_.engine = *parse_engine_address("unix://" + folder_ + "/engine.sock", "the test");
    options_.run_directory = folder_ + "/run";
    options_.snapshot_directory = folder_ + "/snapshots";
    options_.installation = "me";
    options_.guest_program = guest::program();
    options_.patience = std::chrono::seconds(20);
  }
  void TearDown() override {
    // What the test says about answers is gone with its variables.
    is_over_ = true;
    if (client_) (void)client_->call_now({{"verb", "shut_down"}});
    engine_.reset();
    std::filesystem::remove_all(folder_);
  }
  // First the broker, which is forked off, then the thread of the engine.
  void open(FakeEngine::Answer answer) {
    auto socket = start_broker(options_);
    ASSERT_TRUE(socket) << socket.error().message();
    client_ = std::make_shared<BrokerClient>(context().get_executor(), std::move(*socket));
    engine_.emplace(folder_ + "/engine.sock", [this, answer = std::move(answer)](const Asked& asked) {
      std::string said = is_over_ ? "usual" : answer(asked);
      return said == "usual" ? usual(asked) : said;
    });
  }
  // What an engine of somebody without root says if all goes well.
  std::string usual(const Asked& asked) const {
    const auto has = [&](const char* words) { return asked.line.find(words) != std::string::npos; };
    if (has("/version")) return FakeEngine::json(200, R"({"ApiVersion":"1.43","Version":"9"})");
    if (has("/info")) return FakeEngine::json(200, info_);
    if (has("GET /v1.43/containers/json")) return FakeEngine::json(200, "[]");
    if (has("GET /v1.43/images/"))
      return FakeEngine::json(200, R"({"Id":"sha256:1","Config":{"User":"user"}})");
    if (has("POST /v1.43/containers/create")) return FakeEngine::json(201, R"({"Id":"c1"})");
    if (has("/attach")) return "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";
    if (has("GET /v1.43/containers/")) return FakeEngine::json(200, inspected_);
    return FakeEngine::json(asked.line.starts_with("DELETE") ? 204 : 200, "{}");
  }
  Result<BrokerClient::Answer> create(const char* name = "one") {
    return client_->call_now({{"verb", "create"},
                              {"name", name},
                              {"image", "some:1"},
                              {"session", "ses_1"},
                              {"hostname", "sandbox"},
                              {"limits", to_json(Limits())}});
  }
  std::size_t count(const std::string& words) { return engine_->count(words); }

  std::string folder_;
  std::atomic<bool> is_over_ = false;
  BrokerOptions options_;
  std::string info_ = R"({"Driver":"overlay2","CgroupVersion":"2","SecurityOptions":["name=rootless"]})";
  std::string inspected_ =
      R"({"State":{"Running":true,"Pid":0},"SizeRw":77,"HostConfig":{"Privileged":false,)"
      R"("NetworkMode":"none","CapDrop":["ALL"],"SecurityOpt":["no-new-privileges"]}})";
  std::optional<FakeEngine> engine_;
  std::shared_ptr<BrokerClient> client_;
};

TEST_F(LyingEngineTest, AnOlderApiAndNonsenseAreRefused) {
  std::string version = R"({"ApiVersion":"1.40"})";
  open([&](const Asked&) { return FakeEngine::json(200, version); });
  const auto probe = [&] { return client_->call_now({{"verb", "probe"}}); };
  const auto old = probe();
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code(), Code::unsupported);
  EXPECT_NE(old.error().message().find("1.41"), std::string::npos) << old.error().message();
  for (const char* nonsense : {"{}", "[7]", "nonsense", R"({"ApiVersion":"2.1"})"}) {
    version = nonsense;
    EXPECT_EQ(probe().error().code(), Code::unsupported) << nonsense;
  }
}

TEST_F(LyingEngineTest, AnEngineThatHangsUpIsUnavailableAndUsedAgain) {
  bool hangs_up = true;
  open([&](const Asked&) { return hangs_up ? std::string() : std::string("usual"); });
  EXPECT_EQ(client_->call_now({{"verb", "probe"}}).error().code(), Code::unavailable);
  EXPECT_EQ(create().error().code(), Code::unavailable);
  hangs_up = false;
  const auto probed = client_->call_now({{"verb", "probe"}});
  ASSERT_TRUE(probed) << probed.error().message();
  EXPECT_EQ(probed->body.at("api").as_string(), "1.43");
}

TEST_F(LyingEngineTest, WhatAnEarlierBrokerLeftIsRemoved) {
  open([](const Asked& asked) {
    if (asked.line.find("GET /v1.43/containers/json") == std::string::npos) return std::string("usual");
    return FakeEngine::json(200,
                            R"([{"Id":"left1","Labels":{"atoll.generation":"before"}},{"Id":"left2"},7])");
  });
  ASSERT_TRUE(client_->call_now({{"verb", "probe"}}));
  EXPECT_EQ(count("DELETE /v1.43/containers/left1?force=1&v=1"), 1U);
  EXPECT_EQ(count("DELETE /v1.43/containers/left2"), 1U);
  ASSERT_TRUE(client_->call_now({{"verb", "probe"}}));
  EXPECT_EQ(count("DELETE"), 2U) << "it is looked for once";
}

TEST_F(LyingEngineTest, ASandboxLivesOnItsWordAndIsMeasured) {
  open([](const Asked& asked) {
    if (asked.line.find("/stats") == std::string::npos) return std::string("usual");
    return FakeEngine::json(200,
                            R"({"cpu_stats":{"cpu_usage":{"total_usage":5000}},"memory_stats":{"usage":9},)"
                            R"("pids_stats":{"current":3}})");
  });
  const auto made = create();
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_TRUE(made->fd.is_open());
  EXPECT_EQ(count("POST /v1.43/volumes/create"), 1U) << "it shares no files with us";
  EXPECT_EQ(count("PUT /v1.43/containers/c1/archive"), 1U);
  EXPECT_EQ(create().error().code(), Code::already_exists);
  const auto measured = client_->call_now({{"verb", "measure"}, {"name", "one"}});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->body.at("disk_bytes").as_int64(), 77);
  EXPECT_EQ(measured->body.at("cpu_us").as_int64(), 5);
  EXPECT_EQ(measured->body.at("processes").as_int64(), 3);
  EXPECT_EQ(client_->call_now({{"verb", "assign"}, {"name", "one"}, {"to", "../x"}}).error().code(),
            Code::already_exists);
  EXPECT_TRUE(client_->call_now({{"verb", "assign"}, {"name", "one"}, {"to", "two"}}));
  EXPECT_EQ(client_->call_now({{"verb", "measure"}, {"name", "one"}}).error().code(), Code::not_found);
  EXPECT_TRUE(client_->call_now({{"verb", "destroy"}, {"name", "two"}}));
}

TEST_F(LyingEngineTest, AContainerWithoutItsWallsIsRemoved) {
  open([](const Asked&) { return std::string("usual"); });
  const std::string good = inspected_;
  for (const auto& [from, to] :
       {std::pair(R"("Privileged":false)", R"("Privileged":true)"),
        std::pair(R"("NetworkMode":"none")", R"("NetworkMode":"host")"),
        std::pair(R"("CapDrop":["ALL"])", R"("CapDrop":[])"),
        std::pair(R"("CapDrop":["ALL"])", R"("CapDrop":["ALL"],"CapAdd":["SYS_ADMIN"])"),
        std::pair(R"(["no-new-privileges"])", "[]")}) {
    inspected_ = good;
    inspected_.replace(inspected_.find(from), std::string(from).size(), to);
    const std::size_t before = count("DELETE /v1.43/containers/c1");
    const auto made = create();
    ASSERT_FALSE(made) << to;
    EXPECT_EQ(made.error().code(), Code::provider_failed) << made.error().message();
    EXPECT_NE(made.error().message().find("without the wall"), std::string::npos) << made.error().message();
    EXPECT_GT(count("DELETE /v1.43/containers/c1"), before) << to;
  }
}

TEST_F(LyingEngineTest, EveryStepOfACreateMayFail) {
  std::string step, says;
  open([&](const Asked& asked) {
    return !step.empty() && asked.line.find(step) != std::string::npos ? says : std::string("usual");
  });
  ASSERT_TRUE(create("first"));
  ASSERT_TRUE(client_->call_now({{"verb", "destroy"}, {"name", "first"}}));
  struct Fault {
    const char* step;
    std::string says;
    Code code;
  };
  const std::string refused = FakeEngine::json(500, R"({"message":"broken on purpose"})");
  for (const Fault& fault :
       {Fault{"GET /v1.43/images/", refused, Code::provider_failed},
        Fault{"GET /v1.43/images/", FakeEngine::json(404, "{}"), Code::not_found},
        Fault{"GET /v1.43/images/", FakeEngine::json(200, "{}"), Code::provider_failed},
        Fault{"GET /v1.43/images/", "", Code::unavailable},
        Fault{"containers/create?name", refused, Code::provider_failed},
        Fault{"containers/create?name", FakeEngine::json(409, "{}"), Code::already_exists},
        Fault{"containers/create?name", FakeEngine::json(201, "nonsense"), Code::provider_failed},
        Fault{"containers/create?name", FakeEngine::json(500, R"({"cause":"no space left on device"})"),
              Code::no_space},
        Fault{"/attach", refused, Code::provider_failed}, Fault{"/attach", "", Code::unavailable},
        Fault{"/start", refused, Code::provider_failed}, Fault{"/start", "", Code::unavailable},
        Fault{"GET /v1.43/containers/c1/json", refused, Code::provider_failed}}) {
    step = fault.step, says = fault.says;
    const auto made = create("broken");
    ASSERT_FALSE(made) << fault.step;
    EXPECT_EQ(made.error().code(), fault.code) << fault.step << ": " << made.error().message();
    EXPECT_EQ(client_->call_now({{"verb", "hello"}})->body.at("names").as_array().size(), 0U) << fault.step;
  }
  step.clear();
  EXPECT_TRUE(create("last"));
}

TEST_F(LyingEngineTest, ADiskLimitIsTriedUntilTheDriverRefusesIt) {
  std::string says;
  open([&](const Asked& asked) {
    const bool asks = asked.line.find("containers/create?name") != std::string::npos &&
                      asked.body.find("StorageOpt") != std::string::npos;
    return asks ? says : std::string("usual");
  });
  says = FakeEngine::json(500, R"({"message":"busy, come back"})");
  ASSERT_TRUE(create("one"));
  EXPECT_EQ(engine_->last("create?name").find("StorageOpt"), std::string::npos);
  says = FakeEngine::json(500, R"({"message":"--storage-opt is supported only for overlay over xfs"})");
  const std::size_t before = count("create?name");
  ASSERT_TRUE(create("two"));
  EXPECT_EQ(count("create?name"), before + 2) << "what passed said nothing about quotas";
  ASSERT_TRUE(create("three"));
  EXPECT_EQ(count("create?name"), before + 3) << "it has none";
}

TEST_F(LyingEngineTest, APullTellsWhatWentWrong) {
  options_.may_pull = true;
  std::string says, image = FakeEngine::json(404, "{}");
  open([&](const Asked& asked) {
    if (asked.line.find("POST /v1.43/images/create") != std::string::npos) return says;
    return asked.line.find("GET /v1.43/images/") != std::string::npos ? image : std::string("usual");
  });
  says = FakeEngine::json(200, "{\"status\":\"Pulling\"}\n{\"error\":\"manifest unknown\"}\n");
  const auto unknown = create();
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("manifest unknown"), std::string::npos)
      << unknown.error().message();
  EXPECT_EQ(unknown.error().field(), "image");
  EXPECT_EQ(count("fromImage=some%3A1"), 1U);
  says = FakeEngine::json(500, R"({"message":"no way out"})");
  EXPECT_NE(create().error().message().find("no way out"), std::string::npos);
  says = "";
  EXPECT_EQ(create().error().code(), Code::unavailable);
  says = FakeEngine::json(200, "{\"status\":\"Done\"}\n");
  EXPECT_EQ(create().error().code(), Code::not_found) << "it says so and has none";
}

TEST_F(LyingEngineTest, APauseWhoseAnswerGotLostIsLookedAt) {
  std::string says = "usual";
  bool paused = false;
  open([&](const Asked& asked) {
    if (asked.line.find("/unpause") != std::string::npos) return paused = false, says;
    if (asked.line.find("/pause") != std::string::npos) return paused = true, says;
    if (paused && asked.line.find("containers/c1/json") != std::string::npos)
      return FakeEngine::json(200, R"({"State":{"Running":true,"Paused":true}})");
    return std::string("usual");
  });
  ASSERT_TRUE(create());
  says = "";
  const auto ask = [&](const char* verb) { return client_->call_now({{"verb", verb}, {"name", "one"}}); };
  EXPECT_TRUE(ask("freeze")) << "it was done";
  EXPECT_TRUE(ask("thaw")) << "so was this";
  EXPECT_EQ(count("/pause"), 1U);
  EXPECT_EQ(count("/unpause"), 1U);
}

TEST_F(LyingEngineTest, WhatIsInDoubtIsSettledWhenTheEngineAnswersAgain) {
  bool is_away = false, paused = false;
  open([&](const Asked& asked) {
    if (asked.line.find("/unpause") != std::string::npos)
      paused = false;
    else if (asked.line.find("/pause") != std::string::npos)
      is_away = paused = true;
    if (is_away) return std::string();
    if (paused && asked.line.find("containers/c1/json") != std::string::npos)
      return FakeEngine::json(200, R"({"State":{"Running":true,"Paused":true}})");
    return std::string("usual");
  });
  ASSERT_TRUE(create());
  EXPECT_FALSE(client_->call_now({{"verb", "freeze"}, {"name", "one"}}));
  is_away = false;
  ASSERT_TRUE(client_->call_now({{"verb", "probe"}}));
  EXPECT_EQ(count("/unpause"), 1U) << "who was told that it failed goes on with it";
  EXPECT_TRUE(client_->call_now({{"verb", "thaw"}, {"name", "one"}}));
  EXPECT_EQ(count("/unpause"), 1U);
}

TEST_F(LyingEngineTest, ACommitWhoseAnswerGotLostLeavesNoImage) {
  bool is_away = false;
  open([&](const Asked& asked) {
    if (asked.line.find("/commit") != std::string::npos) is_away = true;
    return is_away ? std::string() : std::string("usual");
  });
  ASSERT_TRUE(create());
  const auto snapshot = [&] {
    return client_->call_now({{"verb", "snapshot"}, {"name", "one"}, {"target", folder_ + "/snapshots/s"}});
  };
  EXPECT_EQ(snapshot().error().code(), Code::unavailable);
  EXPECT_FALSE(os::exists(folder_ + "/snapshots/s"));
  const std::size_t tries = count("DELETE /v1.43/images/atoll-snapshot:");
  is_away = false;
  ASSERT_TRUE(client_->call_now({{"verb", "probe"}}));
  EXPECT_EQ(count("DELETE /v1.43/images/atoll-snapshot:"), tries + 1);
  ASSERT_TRUE(client_->call_now({{"verb", "probe"}}));
  EXPECT_EQ(count("DELETE /v1.43/images/atoll-snapshot:"), tries + 1) << "it is gone";
}

TEST_F(LyingEngineTest, AContainerThatCannotBeRemovedIsRemovedLater) {
  bool refuses = true;
  open([&](const Asked& asked) {
    if (asked.line.find("DELETE /v1.43/containers/c1?force") != std::string::npos && refuses)
      return FakeEngine::json(500, R"({"message":"device or resource busy"})");
    if (asked.line.find("GET /v1.43/containers/json") != std::string::npos && !refuses)
      return FakeEngine::json(200, R"([{"Id":"c1","Labels":{}}])");
    return std::string("usual");
  });
  // The carrier of the guest's program cannot be removed either; that is no reason to fail.
  ASSERT_TRUE(create());
  EXPECT_FALSE(client_->call_now({{"verb", "destroy"}, {"name", "one"}}));
  refuses = false;
  const std::size_t before = count("DELETE /v1.43/containers/c1?force");
  ASSERT_TRUE(client_->call_now({{"verb", "probe"}}));
  EXPECT_EQ(count("DELETE /v1.43/containers/c1?force"), before + 1);
}

TEST_F(LyingEngineTest, WhereAGuestReachesNoSocketItSpeaksOverItsStreams) {
  bool has_socket = false;
  open([&](const Asked& asked) {
    if (asked.line.find("create?name") != std::string::npos)
      has_socket = asked.body.find("/.atoll/host") != std::string::npos;
    if (has_socket && asked.line.find("containers/c1/json") != std::string::npos)
      return FakeEngine::json(200, R"({"State":{"Running":false,"Pid":0,"ExitCode":)" +
                                       std::to_string(guest::kNobodyThere) + "}}");
    return std::string("usual");
  });
  info_ = R"({"Driver":"overlay2"})";
  ASSERT_TRUE(create("one"));
  EXPECT_EQ(count("create?name"), 2U);
  EXPECT_EQ(count("/attach"), 1U);
  ASSERT_TRUE(create("two"));
  EXPECT_EQ(count("create?name"), 3U) << "it is not tried again";
}

TEST_F(LyingEngineTest, WithoutAServiceEverythingEnds) {
  options_.orphan_time = std::chrono::seconds(0);
  open([](const Asked&) { return std::string("usual"); });
  ASSERT_TRUE(create());
  const std::size_t before = count("DELETE /v1.43/containers/c1");
  client_.reset();
  for (int round = 0; round < 500 && count("DELETE /v1.43/containers/c1") == before; ++round)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GT(count("DELETE /v1.43/containers/c1"), before);
}

}  // namespace
}  // namespace atl::sandbox::docker
