// sdk/openapi.yaml and the routers say the same: no route of ours is left out, and nothing is described that
// is not served.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "daemon/service_test.h"

namespace atl::daemon {
namespace {

// "/api/keys/{id}" as "/api/keys/{}": what a parameter is called says nothing about the route.
std::string shape_of(std::string_view pattern) {
  std::string shape;
  bool is_name = false;
  for (const char c : pattern) {
    if (c == '}') is_name = false;
    if (!is_name) shape += c;
    if (c == '{') is_name = true;
  }
  return shape;
}

class DescriptionTest : public ServiceTest {};

// E2B's planes have their own description.
bool is_ours(std::string_view pattern) {
  return pattern.starts_with("/api/") || pattern.starts_with("/mcp") ||
         pattern.starts_with("/.well-known/") || pattern.starts_with("/schemas/") ||
         pattern == "/openapi.json";
}

TEST_F(DescriptionTest, HasEveryRouteAndNoOther) {
  start();
  std::set<std::string> served, ours, described;
  for (const Probe& probe : table()) {
    const std::string route =
        fmt::format("{} {}", to_string(probe.route->method), shape_of(probe.route->pattern));
    served.insert(route);
    if (is_ours(probe.route->pattern)) ours.insert(route);
  }
  const Answer answer = ask("GET", "/openapi.json", key_header(kKey));
  ASSERT_EQ(answer.status, 200);
  const bj::object document = answer.json();
  for (const auto& [path, operations] : document.at("paths").as_object())
    for (const std::string method : {"get", "post", "put", "patch", "delete"})
      if (operations.as_object().contains(method)) {
        std::string word = method;
        for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        described.insert(fmt::format("{} {}", word, shape_of(path)));
      }
  for (const std::string& route : ours)
    EXPECT_TRUE(described.contains(route)) << route << " is not described";
  for (const std::string& route : described) EXPECT_TRUE(served.contains(route)) << route << " is not served";
  EXPECT_TRUE(described.contains("POST /mcp"));
}

}  // namespace
}  // namespace atl::daemon
