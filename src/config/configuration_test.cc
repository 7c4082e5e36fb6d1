#include "config/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace atl::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

struct ConfigurationTest : ::testing::Test {
  std::string path = "/tmp/atoll-configuration-" + std::to_string(::getpid()) + ".yaml";
  void write(std::string_view text) { std::ofstream(path) << text; }
  std::string refusal(std::string_view text) {
    write(text);
    auto loaded = Configuration::load({.file = path, .environment = {}, .flags = {}});
    return loaded ? "accepted" : loaded.error().message();
  }
  ~ConfigurationTest() override { ::unlink(path.c_str()); }
};

TEST_F(ConfigurationTest, RefusesUnknownKeysWithAHint) {
  EXPECT_THAT(refusal("lisen: x\n"), EndsWith(":1:1: unknown key 'lisen' (did you mean 'listen'?)"));
  EXPECT_THAT(refusal("tls:\n  certifcate: x\n"),
              HasSubstr(":2:3: unknown key 'certifcate' (did you mean 'certificate'?)"));
  EXPECT_THAT(refusal("tls: 5\n"), HasSubstr("expected a map"));
  EXPECT_THAT(refusal("listen: [a]\n"), HasSubstr("expected text"));
}

TEST_F(ConfigurationTest, RefusesWrongTypesWhereverTheyComeFrom) {
  EXPECT_THAT(refusal("workers: many\n"), HasSubstr(":1:10: expected a whole number, got 'many'"));
  EXPECT_THAT(refusal("http: {idle_time: 5}\n"), HasSubstr("expected a time such as"));
  auto env = Configuration::load({.file = "", .environment = {{"ATOLL_WORKERS", "x"}}, .flags = {}});
  EXPECT_THAT(env.error().message(), HasSubstr("environment ATOLL_WORKERS"));
  auto flag = Configuration::load({.file = "", .environment = {}, .flags = {{"workers", "x"}}});
  EXPECT_THAT(flag.error().message(), HasSubstr("--set workers: "));
  EXPECT_FALSE(Configuration::load({.file = "/nonexistent.yaml", .environment = {}, .flags = {}}));
}

TEST_F(ConfigurationTest, LaterSourcesWinAndOriginsAreKept) {
  write("listen: a:1\ncors:\n  origins: [x, y]\nlog:\n  level: warn\n");
  auto loaded = Configuration::load(
      {.file = path,
       .environment = {{"ATOLL_LOG_LEVEL", "debug"}, {"ATOLL_LISTEN", "b:2"}, {"ATOLL_LISTN", "typo"}},
       .flags = {{"listen", "c:3"}},
       .spelled = {{"listen", "--listen"}}});
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->text("listen"), "c:3");
  EXPECT_EQ(loaded->value("listen").origin, "--listen");
  EXPECT_EQ(loaded->text("log.level"), "debug");
  EXPECT_EQ(loaded->value("log.level").origin, "environment ATOLL_LOG_LEVEL");
  EXPECT_THAT(loaded->list("cors.origins"), ElementsAre("x", "y"));
  EXPECT_EQ(loaded->value("cors.origins").origin, path + ":3");
  EXPECT_EQ(loaded->value("workers").origin, "default");
  EXPECT_EQ(loaded->duration("http.idle_time"), std::chrono::minutes(2));
  EXPECT_THAT(loaded->warnings(), ElementsAre(HasSubstr("did you mean 'ATOLL_LISTEN'?")));
}

}  // namespace
}  // namespace atl::config
