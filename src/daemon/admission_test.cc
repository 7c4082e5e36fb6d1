// Every route of every dialect, as the running service serves them, tried by whoever has no business there.
#include <set>

#include "api/admission/signature.h"
#include "daemon/service_test.h"

namespace atl::daemon {
namespace {

class AdmissionTest : public ServiceTest {};

// Collections are called as their tenant likes: another tenant's of the same name is another one.
bool names_ones_own(const Probe& probe) {
  return probe.route->pattern == "/api/index/collections/{name}";
}

TEST_F(AdmissionTest, EveryRouteAsksForItsCredential) {
  start();
  const bj::object mine = create(), neighbour = create();
  ASSERT_EQ(ask("PUT", "/api/sessions/" + text(mine, "session_id") + "/files?path=/home/user/kept",
                key_header(kKey), "kept")
                .status,
            200);
  const auto all = table();
  EXPECT_GT(all.size(), 120U);
  std::set<Credential> seen;
  const std::map<std::string, std::string> strangers = {
      {"nothing", ""},
      {"a key of another tenant", key_header(other_key_)},
      {"a revoked key", key_header(former_key_)},
      {"a key that never was", key_header("e2b_ffffffffffffffffffffffffffffffffffffffff")},
      {"a bearer token that never was",
       "Authorization: Bearer e2b_ffffffffffffffffffffffffffffffffffffffff\r\n"},
      {"a neighbour's secret", "X-Access-Token: " + text(neighbour, "access_token") + "\r\n"},
      {"a neighbour's traffic token",
       "E2b-Traffic-Access-Token: " + text(neighbour, "traffic_token") + "\r\n"},
      {"an empty secret", "X-Access-Token: \r\n"}};
  for (const Probe& probe : all) {
    seen.insert(probe.rule.credential);
    for (const auto& [what, headers] : strangers) {
      // Open by URL, and slow to say that nobody listens: one method stands for all.
      if (probe.rule.credential == Credential::port && probe.route->method != Method::get &&
          what != "nothing")
        continue;
      SCOPED_TRACE(probe.name() + " with " + what);
      const Answer answer = ask(probe, mine, headers);
      const bool others = what == "a key of another tenant";
      switch (probe.rule.credential) {
        case Credential::none: EXPECT_LT(answer.status, 300); break;
        case Credential::sandbox:
        case Credential::port:  // open by URL; nobody listens there
          EXPECT_TRUE(answer.status < 300 || answer.status == 502) << answer.status;
          break;
        case Credential::upload: EXPECT_EQ(answer.status, 404); break;
        case Credential::key:
          if (!others) {
            EXPECT_EQ(answer.status, 401) << answer.body;
            EXPECT_EQ(answer.error, "unauthenticated");
          } else if (probe.route->pattern.find('{') != std::string::npos && !names_ones_own(probe)) {
            EXPECT_TRUE(answer.status >= 400 && answer.status < 500) << answer.status << answer.body;
          }
          break;
        default: EXPECT_EQ(answer.status, 401) << answer.body;
      }
      for (const char* secret : {"session_id", "sandbox_id", "access_token", "traffic_token"}) {
        // A refusal may repeat what its own path says.
        if (answer.status < 300) {
          EXPECT_EQ(answer.body.find(text(mine, secret)), std::string::npos) << answer.body;
        }
      }
      EXPECT_EQ(answer.body.find(text(mine, "access_token")), std::string::npos);
    }
  }
  EXPECT_EQ(seen.size(), 9U) << "a kind of credential that no route asks for";
  // Nobody of them changed anything.
  const Answer kept = ask("GET", "/api/sessions/" + text(mine, "session_id") + "/files?path=/home/user/kept",
                          key_header(kKey));
  EXPECT_EQ(kept.body, "kept");
}

TEST_F(AdmissionTest, EveryRouteLetsInWhoseItIs) {
  start();
  const bj::object mine = create(), closed = create(R"({"provider":"virtual","public_ports":false})");
  const std::string secret = "X-Access-Token: " + text(mine, "access_token") + "\r\n";
  for (const Probe& probe : table()) {
    SCOPED_TRACE(probe.name());
    // Nothing that exists is named where a key would end it.
    const bj::object nobody{{"session_id", "ses_none"}, {"sandbox_id", "inone"}};
    const auto is_in = [](const Answer& answer) {
      return answer.status != 401 && answer.status != 403 && answer.status != 0;
    };
    switch (probe.rule.credential) {
      case Credential::key: {
        const Answer answer = ask(probe, nobody, key_header(kKey));
        const bool cluster =
            probe.rule.permission == api::Permission::cluster;  // refused to everybody, later
        EXPECT_TRUE(is_in(answer) || (cluster && answer.status == 403)) << answer.status << answer.body;
        EXPECT_TRUE(is_in(ask(probe, nobody, fmt::format("Authorization: bearer {}\r\n", kKey))) || cluster);
        break;
      }
      case Credential::secret:
      case Credential::file:
      case Credential::context:
        EXPECT_TRUE(is_in(ask(probe, mine, secret)));
        EXPECT_TRUE(is_in(ask(probe, mine, key_header(kKey))));
        // A wrong secret is wrong, whatever else is shown.
        EXPECT_EQ(ask(probe, mine, key_header(kKey) + "X-Access-Token: wrong\r\n").status, 401);
        break;
      case Credential::port: {
        EXPECT_EQ(ask(probe, closed, "").status, 403);
        EXPECT_EQ(ask(probe, closed, key_header(other_key_)).status, 403);
        EXPECT_EQ(
            ask(probe, closed, "E2b-Traffic-Access-Token: " + text(mine, "traffic_token") + "\r\n").status,
            403);
        EXPECT_EQ(ask(probe, closed, "X-Access-Token: " + text(closed, "access_token") + "\r\n").status, 403);
        EXPECT_EQ(
            ask(probe, closed, "E2b-Traffic-Access-Token: " + text(closed, "traffic_token") + "\r\n").status,
            502);
        EXPECT_EQ(ask(probe, closed, key_header(kKey)).status, 502);
        break;
      }
      default: break;
    }
    if (probe.rule.credential == Credential::context) {
      EXPECT_TRUE(
          is_in(ask(probe, mine, "E2b-Traffic-Access-Token: " + text(mine, "traffic_token") + "\r\n")));
    } else if (probe.rule.credential == Credential::secret) {
      EXPECT_EQ(ask(probe, mine, "E2b-Traffic-Access-Token: " + text(mine, "traffic_token") + "\r\n").status,
                401);
    }
  }
}

TEST_F(AdmissionTest, AVolumesTokenOpensThatVolumeAlone) {
  start();
  auto make = [&](const std::string& key, const std::string& name) {
    return ask("POST", "/volumes", key_header(key), R"({"name":")" + name + "\"}").json();
  };
  const bj::object mine = make(kKey, "mine"), second = make(kKey, "second"),
                   theirs = make(other_key_, "theirs");
  for (const Probe& probe : table()) {
    if (probe.rule.credential != Credential::volume) continue;
    SCOPED_TRACE(probe.name());
    std::string path = probe.route->pattern;
    path.replace(path.find("{volume}"), 8, text(mine, "volumeID"));
    const auto status = [&](const std::string& headers) {
      return ask(to_string(probe.route->method), path + "?path=/none", headers).status;
    };
    for (const bj::object* other : {&second, &theirs})
      EXPECT_EQ(status("Authorization: Bearer " + text(*other, "token") + "\r\n"), 401);
    EXPECT_EQ(status(key_header(kKey)), 401);
    EXPECT_NE(status("Authorization: Bearer " + text(mine, "token") + "\r\n"), 401);
  }
}

TEST_F(AdmissionTest, ARateHoldsEverywhereAndNeverWhereSomethingEnds) {
  start({{"rate.per_second", "1"}, {"rate.burst", "5"}});
  const bj::object mine = create();
  const bj::object nobody{{"session_id", "ses_none"}, {"sandbox_id", "inone"}};
  const auto drain = [&] {
    for (int i = 0; i < 100 && ask("GET", "/api/tools", key_header(kKey)).status != 429; ++i) {
    }
  };
  std::size_t endings = 0;
  for (const Probe& probe : table()) {
    const bool keyed = probe.rule.credential == Credential::key;
    if (!keyed && probe.rule.credential != Credential::secret && probe.rule.credential != Credential::file &&
        probe.rule.credential != Credential::context)
      continue;
    SCOPED_TRACE(probe.name());
    const bj::object& of = keyed ? nobody : mine;
    const std::string proof =
        keyed ? key_header(kKey) : "X-Access-Token: " + text(mine, "access_token") + "\r\n";
    if (probe.rule.rate == api::Rate::never) {
      ++endings;
      drain();
      EXPECT_NE(ask(probe, of, proof).status, 429);
      continue;
    }
    // A second in which one more call is allowed may pass between the two.
    int status = 0;
    for (int i = 0; i < 10 && status != 429; ++i) {
      drain();
      status = ask(probe, of, proof).status;
    }
    EXPECT_EQ(status, 429);
  }
  EXPECT_GT(endings, 20U);
  drain();
  EXPECT_EQ(ask("GET", "/health", "").status, 200);
  EXPECT_NE(ask("GET", "/api/tools", key_header(other_key_)).status, 429);
  EXPECT_EQ(ask("DELETE", "/api/sessions/" + text(mine, "session_id"), key_header(kKey)).status, 200);
}

TEST(Admission, ARuleThatNamesNoPermissionDoesNotStart) {
  const api::Admission admission(api::Admission::Dependencies{});
  EXPECT_THROW(admission.rule(api::Rule{Credential::key}), std::invalid_argument);
  EXPECT_NE(admission.rule(api::for_anybody()), nullptr);
}

TEST_F(AdmissionTest, EverythingThatEndsSomethingSaysSo) {
  start();
  for (const Probe& probe : table()) {
    const std::string& pattern = probe.route->pattern;
    bool ends = probe.route->method == Method::del && probe.rule.credential != Credential::port &&
                probe.rule.permission != api::Permission::cluster;
    for (const char* tail :
         {"/pause", "/signal", "/interrupt", "/SendSignal", "/CloseStdin", "/Remove", "/RemoveWatcher",
          "/points/delete", "/edges/delete", "/tool-calls/{call}/result"})
      ends = ends || pattern.ends_with(tail);
    EXPECT_EQ(ends, probe.rule.rate == api::Rate::never) << probe.name();
  }
}

TEST_F(AdmissionTest, SettingsThatMakeNoSenseAreRefusedAtStart) {
  for (const auto& [settings, field] :
       {std::pair(std::map<std::string, std::string>{{"rate.burst", "5"}}, "rate.burst"),
        std::pair(std::map<std::string, std::string>{{"rate.per_second", "-1"}}, "rate.per_second")}) {
    auto flags = settings;
    flags.insert({{"data", folder_}, {"provider", "virtual"}, {"native.pool", "0"}, {"e2b.pool", "0"}});
    auto loaded = config::Configuration::load({.file = "", .environment = {}, .flags = flags});
    if (!loaded) {
      // A value that is none is refused where settings are read.
      EXPECT_NE(loaded.error().message().find(field), std::string::npos) << loaded.error().message();
      continue;
    }
    asio::io_context loop;
    auto built = Daemon::build(loop, *loaded);
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().field(), field);
  }
}

}  // namespace
}  // namespace atl::daemon
