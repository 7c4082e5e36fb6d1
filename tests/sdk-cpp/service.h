#pragma once

#include <atoll/client.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

// The daemon and the fault-injecting proxy that `run` started, for every test of this directory.
namespace service {

using namespace atl::client;

inline std::string setting(const char* name) {
  const char* value = std::getenv(name);
  EXPECT_NE(value, nullptr) << name << " is set by tests/sdk-cpp/run";
  return value ? value : "";
}

// Waits for a condition, never for a time.
inline bool wait_for(const std::function<bool()>& condition,
                     std::chrono::seconds at_most = std::chrono::seconds(60)) {
  auto end = std::chrono::steady_clock::now() + at_most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// tests/sdk/proxy.py behind a few calls.
class Faults {
 public:
  // One rule for each connection in turn; later ones are left alone.
  static void set(const Json& rules) { post("/faults", rules); }
  static void cut_all() { post("/cut", Json::object()); }
  static std::int64_t connections() { return get("/facts")["connections"].as_integer(); }
  // How many requests of that method went through since the last set().
  static std::int64_t sent(const std::string& method) {
    std::int64_t count = 0;
    Json facts = get("/facts");
    for (const Json& line : facts["requests"].items()) count += line.as_string().starts_with(method + " ");
    return count;
  }
  static ClientOptions options() { return {.url = setting("ATOLL_PROXY_URL")}; }

 private:
  static SandboxClient& control() {
    static SandboxClient client(setting("ATOLL_CONTROL_URL"), "none");
    return client;
  }
  static Json get(const char* path) { return control().get_json(path); }
  static void post(const char* path, const Json& body) {
    control().send({.method = "POST", .path = path, .body = body.dump()});
  }
};

class ServiceTest : public testing::Test {
 protected:
  SandboxClient client;
};

}  // namespace service
