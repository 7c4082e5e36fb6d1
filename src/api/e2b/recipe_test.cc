#include "api/e2b/recipe.h"

#include <gtest/gtest.h>

#include "api/e2b/built_template.h"
#include "api/e2b/endings.h"

namespace atl::api::e2b {
namespace {

TEST(ExpandVariables, PutsValuesInTheirPlaces) {
  const std::map<std::string, std::string> env{{"A", "1"}, {"LONG_NAME2", "two"}};
  const std::pair<const char*, const char*> rows[] = {{"", ""},
                                                      {"plain", "plain"},
                                                      {"$A", "1"},
                                                      {"x${A}y", "x1y"},
                                                      {"$LONG_NAME2/bin", "two/bin"},
                                                      {"$NONE-", "-"},
                                                      {"${NONE}", ""},
                                                      {"\\$A", "$A"},
                                                      {"$", "$"},
                                                      {"$$A", "$1"},
                                                      {"${A", "${A"},
                                                      {"${}", "${}"},
                                                      {"$ A", "$ A"},
                                                      {"$A$LONG_NAME2", "1two"}};
  for (const auto& [text, wanted] : rows) EXPECT_EQ(expand_variables(text, env), wanted) << text;
}

Recipe recipe_of(std::vector<Step> steps) {
  Recipe recipe;
  recipe.steps = std::move(steps);
  return recipe;
}

TEST(LayerNames, DependOnEverythingBefore) {
  const Step run{"RUN", {"make"}, "", false}, copy{"COPY", {"a", "b", "", ""}, std::string(64, 'a'), false};
  const auto names = layer_names(recipe_of({run, copy}), "base");
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names, layer_names(recipe_of({run, copy}), "base"));
  EXPECT_EQ(names[0], layer_names(recipe_of({run}), "base")[0]);
  EXPECT_NE(names[0], layer_names(recipe_of({run}), "other")[0]);
  EXPECT_NE(names[1], layer_names(recipe_of({copy}), "base")[0]);
  Step changed = copy;
  changed.files_hash = std::string(64, 'b');
  EXPECT_NE(names[1], layer_names(recipe_of({run, changed}), "base")[1]);
  // Words are kept apart.
  EXPECT_NE(layer_names(recipe_of({Step{"ENV", {"ab", "c"}, "", false}}), "base"),
            layer_names(recipe_of({Step{"ENV", {"a", "bc"}, "", false}}), "base"));
}

TEST(RecipeParse, TakesWhatClientsSendAndRefusesTheRest) {
  auto message = parse_object(R"({"fromImage":"e2bdev/base","force":true,"startCmd":"run","readyCmd":"ok",
    "steps":[{"type":"RUN","args":["make","root"],"force":false,"forceUpload":true,"unknown":1}]})");
  ASSERT_TRUE(message);
  auto recipe = Recipe::parse(*message);
  ASSERT_TRUE(recipe) << recipe.error().message();
  EXPECT_TRUE(recipe->force);
  EXPECT_EQ(recipe->steps.at(0).words(), "RUN make root");
  for (const char* bad :
       {R"({"steps":7})", R"({"steps":["RUN"]})", R"({"steps":[{"type":"RUN","args":[1]}]})",
        R"({"fromImage":"a","fromTemplate":"b"})", R"({"fromImage":7})"}) {
    EXPECT_EQ(Recipe::parse(*parse_object(bad)).error().code(), Code::invalid_argument) << bad;
  }
}

TEST(LocalImage, StandsForWhatTheMachineHas) {
  auto registry = registry::Registry::load("");
  ASSERT_TRUE(registry) << registry.error().message();
  for (const char* image : {"", "e2bdev/base", "e2bdev/base:latest", "debian:12", "ubuntu",
                            "docker.io/library/python:3.11", "node:20"})
    EXPECT_EQ(local_image(image, *registry)->environment, "base") << image;
  EXPECT_EQ(local_image("e2bdev/code-interpreter:latest", *registry)->environment, "code-interpreter-v1");
  EXPECT_EQ(local_image("atoll/host", *registry)->environment, "host");
  EXPECT_EQ(local_image("atoll/host@virtual", *registry)->provider, "virtual");
  for (const char* image :
       {"alpine", "example.org/python", "atoll/none", "pythonista", "fedora:40", "/", ":"})
    EXPECT_EQ(local_image(image, *registry).error().code(), Code::not_found) << image;
}

TEST(Settings, SurviveBeingWrittenDown) {
  TemplateSettings settings;
  settings.environment = "host";
  settings.provider = "virtual";
  settings.user = "builder";
  settings.working_directory = "/srv";
  settings.env = {{"A", "\"quoted\"\n"}};
  settings.start_command = "run";
  settings.ready_command = "ok";
  settings.cpu_count = 4;
  EXPECT_EQ(*TemplateSettings::from_json(settings.to_json()), settings);
  BuiltTemplate made;
  made.id = "id";
  made.builds["b"] = {
      .tags = {"default"}, .status = "error", .reason = "why", .snapshot = "s", .settings = settings};
  auto read = BuiltTemplate::from_json(made.to_json());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->builds.at("b").settings, settings);
  EXPECT_EQ(read->builds.at("b").reason, "why");
  EXPECT_FALSE(TemplateSettings::from_json("[]"));
  EXPECT_FALSE(TemplateSettings::from_json(R"({"env":7})"));
}

TEST(ShellWord, IsOneWordWhateverItHolds) {
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's; rm -rf $HOME"), "'it'\\''s; rm -rf $HOME'");
}

TEST(Endings, AreFoundBySandboxAndProcess) {
  ManualClock clock;
  Endings endings(clock);
  endings.keep("i1", 7, "tag", "first");
  endings.keep("i1", 7, "tag", "second");
  endings.keep("i2", 7, "", "other");
  EXPECT_EQ(endings.find("i1", {7, ""})->event, "second");
  EXPECT_EQ(endings.find("i1", {0, "tag"})->event, "second");
  EXPECT_EQ(endings.find("i2", {7, ""})->event, "other");
  EXPECT_FALSE(endings.find("i3", {7, ""}));
  EXPECT_FALSE(endings.find("i1", {8, ""}));
  clock.advance(std::chrono::seconds(29));
  EXPECT_TRUE(endings.find("i1", {7, ""}));
  clock.advance(std::chrono::seconds(2));
  EXPECT_FALSE(endings.find("i1", {7, ""}));
}

}  // namespace
}  // namespace atl::api::e2b
