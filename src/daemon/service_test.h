#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/admission/admission.h"
#include "api/admission/place.h"
#include "auth/keys.h"
#include "config/configuration.h"
#include "daemon/daemon.h"
#include "net/error_header.h"
#include "net/server.h"
#include "net/test_server.h"
#include "store/store.h"

// A whole service on loopback, and every route that it serves, for tests.
namespace atl::daemon {

namespace asio = boost::asio;
namespace bj = boost::json;
using api::Credential;
using net::Method;

inline constexpr const char* kKey = "e2b_00112233445566778899aabbccddeeff00112233";

struct Answer {
  int status = 0;
  std::string body;
  std::string error;  // the code that its header names; empty: it names none
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

class ServiceTest : public testing::Test {
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
                     {"http.stop_time", "0s"},
                     {"auth.delay_max", "0s"}});
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
    answer.error = error_named_in(all.substr(0, end));
    // Whatever is refused says which row of the one table it is, in every dialect; nothing else does.
    EXPECT_EQ(answer.status >= 400, !answer.error.empty()) << method << " " << path << ": " << answer.status;
    return answer;
  }
  // The code in the header Atoll-Error, if the rest of it is as the table has it.
  static std::string error_named_in(const std::string& head) {
    constexpr std::string_view kName = "\r\nAtoll-Error: ";
    const auto at = head.find(kName);
    if (at == std::string::npos) return {};
    const std::string value = head.substr(at + kName.size(), head.find("\r\n", at + 2) - at - kName.size());
    for (int i = 0; i <= static_cast<int>(Code::internal); ++i)
      if (value == net::error_facts(static_cast<Code>(i)))
        return std::string(to_string(static_cast<Code>(i)));
    ADD_FAILURE() << "no row of the table: " << value;
    return {};
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
              : name == "name"                     ? "default"
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

inline std::string text(const bj::object& object, std::string_view name) {
  return std::string(object.at(name).as_string());
}

}  // namespace atl::daemon
