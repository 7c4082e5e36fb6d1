// Every route of every dialect, as the running service serves them, tried by whoever has no business there.
#include "api/admission/admission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <set>
#include <thread>

#include "api/admission/place.h"
#include "api/admission/signature.h"
#include "auth/keys.h"
#include "config/configuration.h"
#include "daemon/daemon.h"
#include "net/server.h"
#include "net/test_server.h"
#include "store/store.h"

namespace atl::daemon {
namespace {

namespace asio = boost::asio;
namespace bj = boost::json;
using api::Credential;
using net::Method;

constexpr const char* kKey = "e2b_00112233445566778899aabbccddeeff00112233";

struct Answer {
  int status = 0;
  std::string body;
  bj::object json() const { return bj::parse(body).as_object(); }
};

// One route with what it takes to reach it.
struct Probe {
  const net::Route* route = nullptr;
  api::Rule rule{Credential::none, api::Permission::none};
  std::uint16_t port = 0;  // of a sandbox; 0: none

  std::string name() const {
    return fmt::format("{} {} on {}", to_string(route->method), route->pattern, port);
  }
};

class AdmissionTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-admission-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override {
    if (daemon_) asio::co_spawn(loop_, daemon_->stop(), asio::use_future).get();
    work_.reset();
    loop_.stop();
    if (thread_.joinable()) thread_.join();
    daemon_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Keys that exist before the service does: of another tenant, and one of ours that was revoked.
  void make_keys() {
    auto store = store::Store::open(folder_);
    ASSERT_TRUE(store) << store.error().message();
    auth::Keys keys(**store);
    asio::io_context loop;
    auto make = [&]() -> asio::awaitable<void> {
      auto other = co_await keys.create("other", "theirs", "");
      auto former = co_await keys.create("default", "former", "");
      other_key_ = other->key;
      former_key_ = former->key;
      auto revoked = co_await keys.revoke(former->row.key_id);
      EXPECT_TRUE(revoked);
    };
    asio::co_spawn(loop, make(), asio::detached);
    loop.run();
  }
  void start(std::map<std::string, std::string> settings = {}) {
    make_keys();
    settings.insert({{"data", folder_},
                     {"listen", "127.0.0.1:0"},
                     {"provider", "virtual"},
                     {"native.pool", "0"},
                     {"e2b.pool", "0"},
                     {"api_key", kKey},
                     {"http.stop_time", "0s"}});
    auto loaded = config::Configuration::load({.file = "", .environment = {}, .flags = std::move(settings)});
    ASSERT_TRUE(loaded) << loaded.error().message();
    configuration_ = std::move(*loaded);
    auto built = Daemon::build(loop_, *configuration_);
    ASSERT_TRUE(built) << built.error().message();
    daemon_ = std::move(*built);
    work_.emplace(asio::make_work_guard(loop_));
    thread_ = std::thread([this] { loop_.run(); });
    auto ready = asio::co_spawn(loop_, daemon_->start(), asio::use_future).get();
    ASSERT_TRUE(ready) << ready.error().message();
    const std::string& address = ready->addresses.front();
    port_ = std::stoi(address.substr(address.rfind(':') + 1));
  }

  Answer ask(std::string_view method, const std::string& path, const std::string& headers,
             const std::string& body = "{}") {
    net::RawClient client(port_);
    const bool bare = method == "GET" || method == "HEAD" || method == "OPTIONS";
    client.send(fmt::format("{} {} HTTP/1.1\r\nHost: x\r\n{}{}\r\n{}", method, path, headers,
                            bare ? std::string() : fmt::format("Content-Length: {}\r\n", body.size()),
                            bare ? "" : body));
    std::string all = client.receive_until("\r\n\r\n");
    Answer answer;
    if (all.size() < 12) return answer;
    answer.status = std::stoi(all.substr(9, 3));
    const auto end = all.find("\r\n\r\n") + 4;
    const auto at = all.find("Content-Length: ");
    const std::size_t length =
        method == "HEAD" || at == std::string::npos || at > end ? 0 : std::stoul(all.substr(at + 16));
    while (all.size() < end + length) {
      std::string more = client.receive();
      if (more.empty()) break;
      all += more;
    }
    answer.body = all.substr(end);
    return answer;
  }
  static std::string key_header(const std::string& key) { return "X-API-Key: " + key + "\r\n"; }
  bj::object create(const std::string& body = R"({"provider":"virtual"})") {
    const Answer made = ask("POST", "/api/sessions", key_header(kKey), body);
    EXPECT_EQ(made.status, 201) << made.body;
    return made.status == 201 ? made.json() : bj::object();
  }

  // The routers tell what they serve, so that nothing new is forgotten here.
  std::vector<Probe> table() {
    std::vector<Probe> all;
    for (const net::Router* router : daemon_->server().routers()) {
      const auto routes = router->routes();
      const bool interpreter =
          std::ranges::any_of(routes, [](const auto* one) { return one->pattern == "/execute"; });
      for (const net::Route* route : routes) {
        const api::Rule* rule = api::rule_of(*route);
        EXPECT_NE(rule, nullptr) << route->pattern << " is not admitted by the one function";
        if (rule == nullptr) continue;
        Probe probe{route, *rule};
        using enum Credential;
        const Credential needs = rule->credential;
        if (needs == sandbox || needs == secret || needs == file || needs == context ||
            needs == Credential::port)
          probe.port = interpreter                 ? api::kInterpreterPort
                       : needs == Credential::port ? 8080
                                                   : api::kEnvdPort;
        all.push_back(probe);
      }
    }
    return all;
  }
  static std::string path_of(const Probe& probe, const bj::object& session) {
    const std::string id(
        session.at(probe.route->pattern.starts_with("/api/") ? "session_id" : "sandbox_id").as_string());
    std::string path;
    for (std::string_view left = probe.route->pattern; !left.empty();) {
      const auto open = left.find('{');
      path += left.substr(0, open);
      if (open == std::string_view::npos) break;
      const std::string_view name = left.substr(open + 1, left.find('}') - open - 1);
      path += name == "id" || name == "session_id" ? id
              : name == "port"                     ? "8080"
              : name == "pid"                      ? "1"
                                                   : "none";
      left.remove_prefix(left.find('}') + 1);
    }
    return path + (probe.rule.credential == Credential::file ? "?path=/home/user/kept" : "");
  }
  static std::string place_of(const Probe& probe, const bj::object& session) {
    if (probe.port == 0) return "";
    return fmt::format("E2b-Sandbox-Id: {}\r\nE2b-Sandbox-Port: {}\r\n",
                       std::string_view(session.at("sandbox_id").as_string()), probe.port);
  }
  Answer ask(const Probe& probe, const bj::object& session, const std::string& headers) {
    const std::string_view method =
        probe.route->method == Method::other ? "FROB" : to_string(probe.route->method);
    return ask(method, path_of(probe, session), place_of(probe, session) + headers);
  }

  std::string folder_, other_key_, former_key_;
  std::optional<config::Configuration> configuration_;
  asio::io_context loop_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  std::unique_ptr<Daemon> daemon_;
  std::thread thread_;
  int port_ = 0;
};

std::string text(const bj::object& object, std::string_view name) {
  return std::string(object.at(name).as_string());
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
          } else if (probe.route->pattern.find('{') != std::string::npos) {
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

TEST_F(AdmissionTest, EverythingThatEndsSomethingSaysSo) {
  start();
  for (const Probe& probe : table()) {
    const std::string& pattern = probe.route->pattern;
    bool ends = probe.route->method == Method::del && probe.rule.credential != Credential::port &&
                probe.rule.permission != api::Permission::cluster;
    for (const char* tail :
         {"/pause", "/signal", "/interrupt", "/SendSignal", "/CloseStdin", "/Remove", "/RemoveWatcher"})
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
