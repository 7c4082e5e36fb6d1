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

TEST_F(ConfigurationTest, RefusesMapsThatAreNone) {
  EXPECT_THAT(refusal("provider: {e2b: {templates: Python3}}\n"), HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(refusal("provider: {e2b: {templates: {a: 'b,c'}}}\n"), HasSubstr("a value without ','"));
  EXPECT_THAT(refusal("provider: {e2b: {templates: {'a=b': c}}}\n"), HasSubstr("a name without '='"));
  EXPECT_THAT(refusal("provider: {e2b: {templates: {a: [b]}}}\n"), HasSubstr("expected text"));
  EXPECT_THAT(refusal("provider: [native]\n"), HasSubstr("expected a map"));
  EXPECT_THAT(refusal("provider: {defautl: native}\n"), HasSubstr("did you mean 'default'?"));
  EXPECT_THAT(refusal("provider: {e2b: {count: -1}}\n"), HasSubstr("expected a whole number from 0"));
}

TEST_F(ConfigurationTest, ReadsMapsOfAFileAndOfText) {
  write("provider:\n  e2b:\n    templates:\n      Python3: mine\n      base: other\n");
  auto loaded = Configuration::load({.file = path, .environment = {}, .flags = {}});
  ASSERT_TRUE(loaded) << loaded.error().message();
  const std::map<std::string, std::string> wanted{{"Python3", "mine"}, {"base", "other"}};
  EXPECT_EQ(loaded->map("provider.e2b.templates"), wanted);
  loaded = Configuration::load({.file = path,
                                .environment = {{"ATOLL_PROVIDER_E2B_TEMPLATES", "Python3=mine, base=other"}},
                                .flags = {}});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->map("provider.e2b.templates"), wanted);
}

TEST_F(ConfigurationTest, ReadsTheFormerNameOfTheDefaultProvider) {
  write("provider: virtual\n");
  auto file = Configuration::load({.file = path, .environment = {}, .flags = {}});
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->text("provider.default"), "virtual");
  EXPECT_EQ(file->value("provider.default").origin, path + ":1");
  auto variable =
      Configuration::load({.file = path, .environment = {{"ATOLL_PROVIDER", "e2b"}}, .flags = {}});
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable->text("provider.default"), "e2b");
  EXPECT_TRUE(variable->warnings().empty());
  auto both = Configuration::load(
      {.file = path, .environment = {{"ATOLL_PROVIDER", "e2b"}}, .flags = {{"provider", "docker"}}});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->text("provider.default"), "docker");
  EXPECT_EQ(both->value("provider.default").origin, "--set provider");
}

}  // namespace
}  // namespace atl::config
