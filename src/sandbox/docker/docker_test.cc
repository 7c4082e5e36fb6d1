// What the contract does not ask: labels, pools, taking back, faults, and what the broker refuses.
#include "sandbox/docker/docker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "guest/program.h"
#include "sandbox/docker/broker.h"
#include "sandbox/docker/broker_client.h"
#include "sandbox/docker/engine_harness.h"
#include "sandbox/docker/spec_note.h"
#include "sandbox/measured.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::docker {
namespace {

using namespace std::chrono_literals;
namespace bj = boost::json;

class DockerTest : public testing::Test, protected TestLoop {
 protected:
  void SetUp() override {
    engine_ = TestEngine::get(TestEngine::Kind::docker);
    if (engine_ == nullptr) GTEST_SKIP() << TestEngine::missing();
    options_ = engine_->options();
  }
  void TearDown() override {
    if (provider_) {
      EXPECT_TRUE(run(provider_->shut_down()));
      EXPECT_EQ(engine_->count("atoll.installation=" + options_.installation), 0) << "nothing is left behind";
    }
  }
  Provider& open() {
    auto made = start(context().get_executor(), options_);
    EXPECT_TRUE(made) << made.error().message();
    provider_ = std::move(*made);
    return *provider_;
  }
  // Lets the loop run for a while.
  void pass(std::chrono::milliseconds time) {
    const auto wait = [](std::chrono::milliseconds how_long) -> Task<void> {
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, how_long);
      co_await timer.async_wait(boost::asio::use_awaitable);
      co_return Result<void>();
    };
    (void)run(wait(time));
  }
  Spec named(std::string id) {
    Spec spec;
    spec.id = std::move(id);
    spec.session_id = "ses_" + spec.id;
    return spec;
  }

  TestEngine* engine_ = nullptr;
  DockerOptions options_;
  std::unique_ptr<Provider> provider_;
};

TEST_F(DockerTest, ImagesThatAreNotThereOrNotAllowedAreRefused) {
  options_.images = {"atoll-*"};
  Provider& provider = open();
  Spec spec = named("one");
  spec.image = "atoll-none:1";
  const auto missing = run(provider.create(spec));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::not_found);
  EXPECT_EQ(missing.error().field(), "image");
  spec.image = "debian:12";
  EXPECT_EQ(run(provider.create(spec)).error().code(), Code::permission_denied);
  spec.image.clear();
  spec.host_mounts = {{"/etc", "/mnt"}};
  EXPECT_EQ(run(provider.create(spec)).error().code(), Code::unsupported);
  EXPECT_EQ(engine_->count("atoll.installation=" + options_.installation), 0);
}

TEST_F(DockerTest, AWallThatThisEngineCannotGiveIsRefusedAndNothingIsLeft) {
  Provider& provider = open();
  Spec spec = named("walled");
  spec.required_walls = {"disk_limit"};
  const auto refused = run(provider.create(spec));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unsupported) << refused.error().message();
  EXPECT_EQ(engine_->count("atoll.session=ses_walled"), 0);
  spec.required_walls = {"memory_limit", "cpu_limit", "task_limit",
                         "capabilities", "seccomp",   "no_new_privileges"};
  EXPECT_TRUE(create(provider, spec));
}

TEST_F(DockerTest, AContainerThatSomebodyRemovedIsTold) {
  Provider& provider = open();
  const auto sandbox = create(provider, named("removed"));
  ASSERT_TRUE(sandbox);
  ASSERT_EQ(engine_->count("atoll.session=ses_removed"), 1);
  TestEngine::run("curl -s -X DELETE --unix-socket " + engine_->socket() +
                  " 'http://d/v1.41/containers/atoll-removed?force=1'");
  const auto why = run(sandbox->ended());
  ASSERT_TRUE(why);
  EXPECT_EQ(*why, "somebody removed the container");
  ProcessSpec process;
  process.argv = {"true"};
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::unavailable);
}

TEST_F(DockerTest, AnEngineThatStandsStillIsAnErrorInTime) {
  // Longer than any answer takes on a machine that has much else to do.
  options_.patience = 6s;
  Provider& provider = open();
  ASSERT_TRUE(create(provider, named("before")));
  ASSERT_EQ(::kill(engine_->pid(), SIGSTOP), 0);
  const auto late = run(provider.create(named("late")));
  ASSERT_EQ(::kill(engine_->pid(), SIGCONT), 0);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::deadline_exceeded) << late.error().message();
  EXPECT_FALSE(provider.unavailable_because().empty());
  for (int round = 0; round < 400 && !provider.unavailable_because().empty(); ++round) pass(100ms);
  EXPECT_EQ(provider.unavailable_because(), "");
  EXPECT_TRUE(create(provider, named("after")));
}

TEST_F(DockerTest, NobodyAtTheAddress) {
  options_.engine = *parse_engine_address("unix:///nowhere/engine.sock", "provider.docker.host");
  auto made = start(context().get_executor(), options_);
  ASSERT_TRUE(made);
  const auto refused = run((*made)->create(named("one")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unavailable);
  EXPECT_NE((*made)->unavailable_because().find("provider.docker.host"), std::string::npos);
  (void)run((*made)->shut_down());
}

TEST_F(DockerTest, ARestartedDaemonTakesItsContainersBack) {
  ProcessSpec sleeper;
  sleeper.argv = {"sleep", "300"};
  sleeper.tag = "sleeper";
  {
    Provider& first = open();
    auto sandbox = create(first, named("kept"));
    auto paused = create(first, named("paused"));
    ASSERT_TRUE(sandbox && paused);
    ASSERT_TRUE(write(*sandbox, "/home/user/file", "content"));
    ASSERT_TRUE(run(sandbox->start(sleeper)));
    ASSERT_TRUE(run(paused->pause()));
    // As if the daemon were killed: nobody says goodbye.
    (void)sandbox.release();
    (void)paused.release();
    provider_.reset();
  }
  Provider& second = open();
  const auto names = run(second.adoptable());
  ASSERT_TRUE(names);
  ASSERT_EQ(names->size(), 2U);
  auto sandbox = run(second.adopt("kept"));
  ASSERT_TRUE(sandbox) << sandbox.error().message();
  EXPECT_EQ(*read(**sandbox, "/home/user/file"), "content");
  ASSERT_EQ((*sandbox)->processes().size(), 1U);
  EXPECT_EQ((*sandbox)->processes()[0]->info().tag, "sleeper");
  EXPECT_EQ(shell(**sandbox, "pwd").out, "/home/user\n");
  auto paused = run(second.adopt("paused"));
  ASSERT_TRUE(paused) << paused.error().message();
  EXPECT_EQ(run((*paused)->start(sleeper)).error().code(), Code::conflict);
  ASSERT_TRUE(run((*paused)->resume()));
  EXPECT_EQ(shell(**paused, "echo on").out, "on\n");
  EXPECT_EQ(run(second.adopt("nobody")).error().code(), Code::not_found);
}

TEST_F(DockerTest, AWaitingContainerCarriesItsSessionsLabel) {
  options_.pool = 1;
  Provider& provider = open();
  ASSERT_TRUE(create(provider, named("first")));
  Spec kind;
  kind.image = options_.default_image;
  std::string session;
  for (int round = 0; round < 200 && session.empty(); ++round) {
    pass(100ms);
    session = provider.reserve_session(kind);
  }
  ASSERT_FALSE(session.empty());
  EXPECT_EQ(provider.reserve_session(kind), "") << "it is promised already";
  EXPECT_EQ(engine_->count("atoll.session=" + session), 1);
  Spec spec = named("second");
  spec.session_id = session;
  spec.env = {{"MINE", "yes"}};
  const auto sandbox = create(provider, spec);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(shell(*sandbox, "echo $MINE; pwd").out, "yes\n/home/user\n");
  EXPECT_EQ(engine_->count("atoll.session=" + session), 1) << "no other was made for it";
  const PoolUse& use = dynamic_cast<Pooled&>(provider).pool_use();
  EXPECT_EQ(use.hits, 1U);
  EXPECT_EQ(use.misses, 1U);
  ASSERT_TRUE(run(sandbox->stop()));
  EXPECT_EQ(engine_->count("atoll.session=" + session), 0);
}

TEST_F(DockerTest, MemoryAndProcessesAreBounded) {
  Provider& provider = open();
  Spec spec = named("bounded");
  spec.limits.memory_bytes = 64U << 20;
  spec.limits.processes_max = 4;
  const auto sandbox = create(provider, spec);
  ASSERT_TRUE(sandbox);
  const Ran hungry = shell(*sandbox, "python3 -c \"a = 'x' * (200 << 20)\"");
  EXPECT_EQ(hungry.outcome.ending, Ending::out_of_memory) << hungry.out << hungry.err;
  const Ran many = shell(*sandbox, "for i in 1 2 3 4 5 6 7 8; do sleep 20 & done; wait");
  EXPECT_EQ(many.outcome.ending, Ending::too_many_processes) << many.out << many.err;
  EXPECT_EQ(shell(*sandbox, "echo on").out, "on\n");
}

TEST_F(DockerTest, TellsWhatComesNearItsLimits) {
  std::vector<Alert> alerts;
  options_.alerts.thresholds = {0.5, 1.0};
  options_.alerts.interval = 20ms;
  options_.alerts.on_alert = [&](const Alert& alert) { alerts.push_back(alert); };
  Provider& provider = open();
  Spec spec = named("hungry");
  spec.limits.memory_bytes = 64U << 20;
  spec.limits.processes_max = 8;
  const auto sandbox = create(provider, spec);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(shell(*sandbox, "true").outcome.exit_code, 0);
  EXPECT_TRUE(alerts.empty());
  const auto was_told = [&](Resource resource, double threshold) {
    return std::ranges::any_of(alerts, [&](const Alert& alert) {
      return alert.subject == "hungry" && alert.status.resource == resource && alert.threshold == threshold;
    });
  };
  const Ran half = shell(*sandbox, "python3 -c \"import time; a = 'x' * (40 << 20); time.sleep(1)\"");
  EXPECT_EQ(half.outcome.exit_code, 0) << half.err;
  EXPECT_TRUE(was_told(Resource::memory, 0.5));
  EXPECT_FALSE(was_told(Resource::memory, 1.0));
  shell(*sandbox, "for i in 1 2 3 4 5; do sleep 1 & done; wait");
  EXPECT_TRUE(was_told(Resource::processes, 0.5));
  const Ran all = shell(*sandbox, "python3 -c \"a = 'x' * (200 << 20)\"");
  EXPECT_EQ(all.outcome.ending, Ending::out_of_memory);
  for (int round = 0; round < 200 && !was_told(Resource::memory, 1.0); ++round) pass(10ms);
  EXPECT_TRUE(was_told(Resource::memory, 1.0));
}

TEST_F(DockerTest, BuildsAnImageFromARecipeOnce) {
  const std::string recipes = engine_->directory() + "/recipes-" + random_word(6);
  std::filesystem::create_directories(recipes);
  std::ofstream(recipes + "/Dockerfile.small")
      << "FROM atoll-test:latest\nUSER root\nCOPY requirements.txt /made/list\n"
         "RUN mkdir /made/here && echo built > /made/here/file\nUSER user\nWORKDIR /made\n";
  std::ofstream(recipes + "/Dockerfile.broken") << "FROM atoll-test:latest\nRUN exit 7\n";
  std::ofstream(recipes + "/Dockerfile.far") << "FROM far-away:1\n";
  options_.recipes = Recipes::read(recipes).value();
  options_.build_network = "none";
  Provider& provider = open();
  Spec spec = named("built");
  spec.image = "atoll/none";
  EXPECT_EQ(run(provider.create(spec)).error().code(), Code::not_found);
  spec.image = "atoll/far";
  const auto far = run(provider.create(spec));
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().code(), Code::not_found);
  EXPECT_NE(far.error().message().find("far-away:1"), std::string::npos) << far.error().message();
  spec.image = "atoll/broken";
  const auto broken = run(provider.create(spec));
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message().find("returned a non-zero code: 7"), std::string::npos)
      << broken.error().message();
  spec.image = "atoll/small";
  // The image's own.
  spec.user.clear(), spec.working_directory.clear();
  const auto sandbox = create(provider, spec);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(shell(*sandbox, "pwd; cat here/file; head -c 6 list; id -un").out, "/made\nbuilt\npandasuser\n");
  const std::string tag = options_.recipes.tag_of("small");
  const auto made_at = [&] {
    const std::string file = engine_->directory() + "/image.json";
    TestEngine::run("curl -s --unix-socket " + engine_->socket() + " http://d/v1.41/images/" + tag +
                    "/json > " + file);
    return std::string(bj::parse(*os::read_file(file)).at("Created").as_string());
  };
  const std::string first = made_at();
  spec = named("again");
  spec.image = "atoll/small:latest";
  const auto again = create(provider, spec);
  ASSERT_TRUE(again);
  EXPECT_TRUE(run(again->stop()));
  EXPECT_EQ(made_at(), first) << "it was there already";
  EXPECT_EQ(engine_->count("atoll.installation=" + options_.installation), 1) << "no step is left";
}

TEST_F(DockerTest, AnEngineThatDoesNotKnowUsRefuses) {
  options_ = engine_->remote_options();
  options_.engine.certificate_file.clear(), options_.engine.key_file.clear();
  const auto stranger = probe(options_.engine, 10s);
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code(), Code::unavailable) << stranger.error().message();
  options_ = engine_->remote_options();
  options_.engine.ca_file.clear();
  EXPECT_FALSE(probe(options_.engine, 10s)) << "an engine whose authority nobody knows was believed";
  options_ = engine_->remote_options();
  options_.engine.key_file = engine_->certificates() + "/server-key.pem";
  EXPECT_FALSE(probe(options_.engine, 10s)) << "somebody else's key";
  options_ = engine_->remote_options();
  EXPECT_TRUE(probe(options_.engine, 10s));
}

TEST_F(DockerTest, ARemoteEngineHasTheGuestInAVolumeThatIsFilledOnce) {
  options_ = engine_->remote_options();
  Provider& provider = open();
  const auto one = create(provider, named("first")), two = create(provider, named("second"));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(shell(*one, "echo x > /.atoll/guest").outcome.exit_code != 0, true) << "it can be written to";
  EXPECT_EQ(shell(*two, "echo $((6 * 7))").out, "42\n");
  EXPECT_EQ(engine_->count("atoll.installation=" + options_.installation), 2) << "the carrier is gone";
  const auto usage = run(one->usage());
  ASSERT_TRUE(usage) << usage.error().message();
  EXPECT_GT(usage->memory_bytes, 0U);
}

// What the network-facing process can ask for if it is taken over.
class BrokerTest : public DockerTest {
 protected:
  void SetUp() override {
    DockerTest::SetUp();
    if (engine_ == nullptr) return;
    BrokerOptions options;
    options.engine = options_.engine;
    options.run_directory = options_.run_directory;
    options.snapshot_directory = "/tmp";
    options.installation = options_.installation;
    options.guest_program = guest::program();
    options.seccomp_profile = options_.seccomp_profile;
    auto socket = start_broker(options);
    ASSERT_TRUE(socket) << socket.error().message();
    broker_ = std::make_shared<BrokerClient>(context().get_executor(), std::move(*socket));
  }
  void TearDown() override {
    if (broker_) {
      EXPECT_TRUE(broker_->call_now({{"verb", "shut_down"}}));
    }
    DockerTest::TearDown();
  }
  std::shared_ptr<BrokerClient> broker_;
};

TEST_F(BrokerTest, RefusesWhatIsNotOnItsList) {
  EXPECT_EQ(broker_->call_now({{"verb", "exec"}, {"name", "x"}}).error().code(), Code::invalid_argument);
  EXPECT_EQ(broker_->call_now({{"verb", "destroy"}, {"name", "somebody-elses"}}).error().code(),
            Code::not_found);
  EXPECT_EQ(broker_->call_now({{"verb", "create"}, {"name", "../x"}}).error().code(), Code::invalid_argument);
  EXPECT_EQ(broker_->call_now({{"verb", "create"}, {"name", "x"}, {"image", "a?b=c"}}).error().code(),
            Code::invalid_argument);
  for (const char* target : {"/etc/passwd", "/tmp/../etc", "/tmp/a/b", "/tmp", ""})
    EXPECT_EQ(broker_->call_now({{"verb", "discard"}, {"target", target}}).error().code(),
              Code::permission_denied)
        << target;
}

TEST_F(BrokerTest, HasNoWayToAskForPrivileges) {
  const bj::object host{{"Privileged", true}, {"Binds", bj::array{"/:/host"}}, {"NetworkMode", "host"}};
  const auto made = broker_->call_now({{"verb", "create"},
                                       {"name", "greedy"},
                                       {"image", "atoll-test:latest"},
                                       {"session", "ses_greedy"},
                                       {"hostname", "sandbox"},
                                       {"Privileged", true},
                                       {"HostConfig", host},
                                       {"limits", to_json(Limits())}});
  ASSERT_TRUE(made) << made.error().message();
  const std::string file = engine_->directory() + "/greedy.json";
  ASSERT_EQ(TestEngine::run("curl -s --unix-socket " + engine_->socket() +
                            " http://d/v1.41/containers/atoll-greedy/json > " + file),
            0);
  const bj::value seen = bj::parse(*os::read_file(file));
  const bj::object& config = seen.at("HostConfig").as_object();
  EXPECT_FALSE(config.at("Privileged").as_bool());
  EXPECT_EQ(config.at("NetworkMode").as_string(), "none");
  EXPECT_TRUE(config.at("Binds").is_null());
  EXPECT_EQ(seen.at("Mounts").as_array().size(), 2U)
      << "our guest, and where it finds us: " << bj::serialize(seen.at("Mounts"));
  EXPECT_EQ(seen.at("Config").at("Labels").at("atoll.session").as_string(), "ses_greedy");
}

}  // namespace
}  // namespace atl::sandbox::docker
