// The rounds that look for sandboxes of ours at the other service, with a real one in another process.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "sandbox/e2b/account.h"
#include "sandbox/e2b/served_test.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::e2b {
namespace {

using namespace std::chrono_literals;

class SweepTest : public testing::Test, protected TestLoop {
 protected:
  void SetUp() override {
    auto url = Served::url();
    ASSERT_TRUE(url) << url.error().message();
    url_ = *url;
  }
  // Until it holds, half a minute at most.
  template <class Condition>
  bool until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 30s * slowness();
    while (!condition() && std::chrono::steady_clock::now() < end) {
      context().restart();
      context().run_one_for(50ms);
    }
    return condition();
  }

  E2bOptions options() {
    E2bOptions options;
    options.api_url = options.sandbox_url = url_;
    options.installation = installation_;
    options.tenants_file = folder_ + "/tenants";
    options.round_every = 100ms;
    options.key = [](std::string tenant) -> Task<std::string> {
      co_return std::string(tenant == "broken" ? "e2b_ffffffffffffffffffffffffffffffffffffffff"
                                               : Served::kKey);
    };
    return options;
  }
  std::unique_ptr<Provider> open(E2bOptions options) {
    auto provider = make(context().get_executor(), std::move(options));
    EXPECT_TRUE(provider) << provider.error().message();
    return std::move(*provider);
  }
  Account account() { return Account(context().get_executor(), net::Url::parse(url_).value(), Served::kKey); }
  // Sandboxes of this test that the other service has.
  std::vector<RemoteFacts> remote() {
    Account one = account();
    auto found = run(one.list({{"atoll.installation", installation_}}));
    EXPECT_TRUE(found) << found.error().message();
    return found ? std::move(*found) : std::vector<RemoteFacts>();
  }
  void TearDown() override {
    EXPECT_TRUE(until([&] { return remote().empty(); })) << "something is left behind";
    std::filesystem::remove_all(folder_);
  }

  std::string url_;
  const std::string installation_ = "sweep" + random_word(8);
  const std::string folder_ = [] {
    std::string name = "/tmp/atoll-sweep-XXXXXX";
    return std::string(::mkdtemp(name.data()));
  }();
};

TEST_F(SweepTest, AKeyThatATenantBrokeKeepsNobodyElseFromBeingLookedAfter) {
  const auto provider = open(options());
  Spec theirs;
  theirs.id = new_sandbox_id(), theirs.tenant = "broken";
  const auto refused = run(provider->create(theirs));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message().find("ffffffff"), std::string::npos) << refused.error().message();
  // Left by a create whose answer got lost, say.
  Account other = account();
  NewSandbox wanted{.template_id = "base",
                    .metadata = {{"atoll.installation", installation_}, {"atoll.sandbox", "stranger"}},
                    .env = {}};
  const auto made = run(other.create(wanted));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_TRUE(until([&] { return provider->counters().at("swept") == 1; }));
  EXPECT_EQ(run(other.get(made->id)).error().code(), Code::not_found);
  EXPECT_TRUE(run(provider->shut_down()));
}

TEST_F(SweepTest, NoMoreThanAllowedRunAtOnceAndPausedOnesDoNotCount) {
  E2bOptions bounded = options();
  bounded.count_max = 1;
  const auto provider = open(std::move(bounded));
  const auto first = create(*provider);
  ASSERT_TRUE(first);
  Spec second;
  second.id = new_sandbox_id();
  EXPECT_EQ(run(provider->create(second)).error().code(), Code::resource_exhausted);
  ASSERT_TRUE(run(first->pause()));
  const auto allowed = create(*provider, second);
  ASSERT_TRUE(allowed);
  EXPECT_TRUE(run(allowed->stop()));
  EXPECT_TRUE(run(first->stop()));
  EXPECT_TRUE(run(provider->shut_down()));
}

TEST_F(SweepTest, OneThatVanishesIsToldToItsHolder) {
  const auto provider = open(options());
  const auto sandbox = create(*provider);
  ASSERT_TRUE(sandbox);
  const auto there = remote();
  ASSERT_EQ(there.size(), 1U);
  Account other = account();
  ASSERT_TRUE(run(other.kill(there[0].access.id)));
  const auto why = run(sandbox->ended());
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("remote"), std::string::npos) << *why;
  EXPECT_EQ(provider->counters().at("lost"), 1U);
  ProcessSpec process;
  process.argv = {"true"};
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::unavailable);
  EXPECT_TRUE(run(provider->shut_down()));
}

TEST_F(SweepTest, WhoWasKilledFindsItsSandboxesAgain) {
  std::string running, paused, interpreter;
  {
    const auto first = open(options());
    auto one = create(*first), two = create(*first);
    ASSERT_TRUE(one && two);
    running = one->id(), paused = two->id();
    auto python = run(two->create_interpreter(Language::python, ""));
    ASSERT_TRUE(python) << python.error().message();
    execute(**python, "x = 41");
    interpreter = (*python)->info().id;
    ASSERT_TRUE(write(*one, "/home/user/file", "content"));
    ProcessSpec sleeper;
    sleeper.argv = {"sleep", "300"}, sleeper.tag = "sleeper";
    ASSERT_TRUE(run(one->start(sleeper)));
    ASSERT_TRUE(run(two->pause()));
    // As if the service were killed: nobody says goodbye, and nobody looks after them any more.
    (void)one.release();
    (void)two.release();
  }
  const auto second = open(options());
  const auto names = run(second->adoptable());
  ASSERT_TRUE(names);
  ASSERT_EQ(names->size(), 2U);
  EXPECT_EQ(run(second->adopt("nobody")).error().code(), Code::not_found);
  auto one = run(second->adopt(running)), two = run(second->adopt(paused));
  ASSERT_TRUE(one) << one.error().message();
  ASSERT_TRUE(two) << two.error().message();
  EXPECT_EQ(*read(**one, "/home/user/file"), "content");
  ASSERT_EQ((*one)->processes().size(), 1U);
  EXPECT_EQ((*one)->processes()[0]->info().tag, "sleeper");
  ASSERT_EQ((*two)->interpreters().size(), 1U) << "it is paused and cannot be asked";
  EXPECT_EQ((*two)->interpreters()[0]->info().id, interpreter);
  ASSERT_TRUE(run((*two)->resume()));
  EXPECT_EQ(execute(*(*two)->interpreters()[0], "print(x + 1)").out, "42\n");
  EXPECT_EQ(second->counters().at("adopted"), 2U);
  EXPECT_TRUE(run((*one)->stop()));
  EXPECT_TRUE(run((*two)->stop()));
  EXPECT_TRUE(run(second->shut_down()));
}

TEST_F(SweepTest, SnapshotsAreRemovedThereAsWellAndTheLeaseFollowsTheSession) {
  const auto provider = open(options());
  const auto sandbox = create(*provider);
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(write(*sandbox, "/home/user/file", "one"));
  const std::string target = folder_ + "/snapshot";
  ASSERT_TRUE(run(sandbox->snapshot(target)));
  EXPECT_FALSE(run(sandbox->snapshot(target))) << "it is there already";
  Spec spec;
  spec.snapshot = target;
  const auto copy = create(*provider, spec);
  ASSERT_TRUE(copy);
  EXPECT_EQ(*read(*copy, "/home/user/file"), "one");
  // The other side keeps it while something stands on it: noted, and removed by a later round.
  EXPECT_TRUE(run(provider->discard_snapshot(target)));
  EXPECT_FALSE(std::filesystem::exists(target));
  sandbox->set_time_left(5s);
  EXPECT_TRUE(run(copy->stop()));
  EXPECT_TRUE(until([&] {
    std::error_code none;
    const auto size = std::filesystem::file_size(folder_ + "/tenants-removals", none);
    return none || size == 0;
  }));
  spec.snapshot = folder_ + "/none";
  spec.id = new_sandbox_id();
  EXPECT_EQ(run(provider->create(spec)).error().code(), Code::not_found);
  EXPECT_TRUE(run(sandbox->stop()));
  EXPECT_TRUE(run(provider->shut_down()));
}

TEST_F(SweepTest, PortsLeadInside) {
  const auto provider = open(options());
  const auto sandbox = create(*provider);
  ASSERT_TRUE(sandbox);
  ProcessSpec server;
  server.argv = {"python3", "-m", "http.server", "8123", "--directory", "/home/user"};
  ASSERT_TRUE(write(*sandbox, "/home/user/page", "inside"));
  ASSERT_TRUE(run(sandbox->start(server)));
  EXPECT_TRUE(until([&] {
    const auto ports = run(sandbox->listening_ports());
    return ports && std::ranges::find(*ports, 8123) != ports->end();
  }));
  auto stream = run(sandbox->connect(8123));
  ASSERT_TRUE(stream) << stream.error().message();
  ASSERT_TRUE(run((*stream)->write("GET /page HTTP/1.1\r\nHost: x\r\n\r\n")));
  std::string answer;
  for (;;) {
    auto piece = run((*stream)->read());
    if (!piece || piece->empty()) break;
    answer += *piece;
  }
  EXPECT_TRUE(answer.ends_with("inside")) << answer;
  EXPECT_TRUE(run(sandbox->stop()));
  EXPECT_TRUE(run(provider->shut_down()));
}

}  // namespace
}  // namespace atl::sandbox::e2b
