#include "registry/registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace atl::registry {
namespace {

using testing::HasSubstr;

const SourceFile kPolicy{"policies/standard.yaml", "name: standard\n"};

std::string error_of(std::vector<SourceFile> user) {
  auto loaded = Registry::from_files({kPolicy}, user);
  return loaded ? "" : loaded.error().message();
}

TEST(Registry, SaysFileAndLineOfWhatIsWrong) {
  EXPECT_THAT(error_of({{"environments/x.yaml", "name: x\nlanguags: [python]\n"}}),
              HasSubstr("environments/x.yaml:2:"));
  EXPECT_THAT(error_of({{"environments/x.yaml", "name: x\nlanguages: [cobol]\n"}}),
              HasSubstr("environments/x.yaml:2:"));
  EXPECT_THAT(error_of({{"environments/x.yaml", "description: nameless\n"}}),
              HasSubstr("missing key 'name'"));
  EXPECT_THAT(error_of({{"environments/x.yaml", "name: ../x\n"}}), HasSubstr("a name has"));
  EXPECT_THAT(error_of({{"environments/x.yaml", "name: x\nlimits:\n  memory_mb: -1\n"}}),
              HasSubstr("x.yaml:3:"));
  EXPECT_THAT(error_of({{"environments/x.yaml", "name: x\npolicy: none-such\n"}}), HasSubstr("none-such"));
  for (const char* bad : {"os; import x", "..", "a..b", "-c", "1a", ".a", "a.", "''"})
    EXPECT_THAT(
        error_of({{"environments/x.yaml", fmt::format("name: x\npreimport: [numpy, \"{}\"]\n", bad)}}),
        HasSubstr("is not the name of a Python module"))
        << bad;
  EXPECT_EQ(error_of({{"environments/x.yaml", "name: x\npreimport: [numpy, xml.dom, _a1]\n"}}), "");
  EXPECT_THAT(error_of({{"agents/a.yaml", "name: a\nenvironment: none-such\n"}}), HasSubstr("none-such"));
  EXPECT_THAT(error_of({{"limits/l.yaml", "language_specific:\n  cobol: {memory_mb: 1}\n"}}),
              HasSubstr("l.yaml:2:"));
  EXPECT_THAT(error_of({{"environments/x.yaml", "name: x\n"}, {"environments/y.yaml", "name: x\n"}}),
              HasSubstr("declared already in environments/x.yaml"));
}

TEST(Registry, SaysWhatIsWrongWithARecipe) {
  const auto recipe = [](const std::string& text) {
    return error_of({{"environments/x.yaml", "name: x\n" + text}});
  };
  EXPECT_THAT(recipe("build: {}\n"), HasSubstr("one of the two"));
  EXPECT_THAT(recipe("build: {from: a, packages: [b]}\n"), HasSubstr("one of the two"));
  EXPECT_THAT(recipe("build: {packages: ['--option']}\n"), HasSubstr("'--option' is no package"));
  EXPECT_THAT(recipe("build: {packages: ['a b']}\n"), HasSubstr("is no package"));
  EXPECT_THAT(recipe("build: {packages: [a], suite: '-x'}\n"), HasSubstr("no suite"));
  EXPECT_THAT(recipe("build: {from: a, steps: [{}]}\n"), HasSubstr("missing key 'run'"));
  EXPECT_THAT(recipe("build: {from: a, steps: [{run: ''}]}\n"), HasSubstr("script"));
  EXPECT_THAT(recipe("build: {from: a, steps: [{run: x, network: all}]}\n"), HasSubstr("'none' or 'egress'"));
  EXPECT_THAT(recipe("build: {from: a, steps: [{run: x, network: egress}]}\n"),
              HasSubstr("names nothing to reach"));
  EXPECT_THAT(recipe("build: {from: a, network: egress}\n"), HasSubstr("x.yaml:2:"));
  EXPECT_THAT(recipe("build: {from: a, network: {allows: [b]}}\n"), HasSubstr("allows"));
  EXPECT_THAT(recipe("build: {from: a, network: {allow: ['b c']}}\n"), HasSubstr("b c"));
  EXPECT_THAT(recipe("build: {from: a, stepps: []}\n"), HasSubstr("stepps"));
  EXPECT_THAT(recipe("layers: [/a]\nstack: y\n"), HasSubstr("'layers' are directories"));
  EXPECT_THAT(recipe("fallback: host\n"), HasSubstr("'fallback' is for"));
  EXPECT_THAT(recipe("stack: y\nfallback: other\n"), HasSubstr("'fallback' is 'host'"));
}

void put_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

// The daemon runs, a recipe is written, `atoll env build` makes its layers: what counts is what the recipe
// says.
TEST(Registry, ARecipeAddedLaterHasItsOwnLimits) {
  std::string pattern = (std::filesystem::temp_directory_path() / "atoll-registry-XXXXXX").string();
  const std::string directory = ::mkdtemp(pattern.data());
  const std::string files = directory + "/registry/environments/";
  std::filesystem::create_directories(files);
  put_file(files + "old.yaml", "name: old\nlimits: {memory_mb: 64}\n");
  {
    auto store = *layer::Store::open(directory + "/layers", layer::Durability::unsynced);
    auto registry = *Registry::load(directory + "/registry");
    registry.attach(*store);
    EXPECT_EQ(registry.environment("fresh"), nullptr);
    auto claim = *store->claim();
    auto layer = *store->put(*store->draft(), claim);
    // Built before anybody declared it: it stands as what it is.
    ASSERT_TRUE(store->save({.name = "fresh", .layers = {layer.digest}, .source = "build"}));
    const Environment* imported = registry.environment("fresh");
    ASSERT_NE(imported, nullptr);
    EXPECT_TRUE(imported->imported);
    // Half-written, then whole.
    put_file(files + "fresh.yaml", "name: fre");
    put_file(files + "broken.yaml", "name: [");
    put_file(files + "nowhere.yaml", "name: nowhere\npolicy: none-such\n");
    ASSERT_NE(registry.environment("fresh"), nullptr);
    put_file(files + "fresh.yaml",
             "name: fresh\nlimits: {memory_mb: 777, max_processes: 7}\nbuild: {packages: [hello]}\n");
    const Environment* fresh = registry.environment("fresh");
    ASSERT_NE(fresh, nullptr);
    EXPECT_FALSE(fresh->imported);
    EXPECT_EQ(fresh->digests, std::vector{layer.digest});
    const sandbox::Limits limits = registry.sandbox_limits(*fresh, {});
    EXPECT_EQ(limits.memory_bytes, 777U << 20);
    EXPECT_EQ(limits.processes_max, 7U);
    EXPECT_EQ(registry.environment("nowhere"), nullptr);
    EXPECT_EQ(imported->name, "fresh") << "who held the old one still holds it";
    // What was declared at the start stays as it was until the next.
    put_file(files + "old.yaml", "name: old\nlimits: {memory_mb: 128}\n");
    EXPECT_EQ(registry.environment("old")->limits.memory_bytes, 64U << 20);
    EXPECT_TRUE(registry.environments().contains("fresh"));
  }
  std::filesystem::remove_all(directory);
}

TEST(Registry, EnvironmentsHaveTheLayersOfTheStore) {
  std::string pattern = (std::filesystem::temp_directory_path() / "atoll-registry-XXXXXX").string();
  const std::string directory = ::mkdtemp(pattern.data());
  {
    auto store = *layer::Store::open(directory, layer::Durability::unsynced);
    auto registry =
        *Registry::from_files({kPolicy}, {{"environments/a.yaml", "name: a\nstack: made\n"},
                                          {"environments/b.yaml", "name: b\nstack: made\nfallback: host\n"}});
    registry.attach(*store);
    auto refused = check_usable(*registry.environment("a"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("atoll env build made"));
    EXPECT_TRUE(check_usable(*registry.environment("b")));
    EXPECT_EQ(registry.environment("made"), nullptr);

    const layer::Claim claim = *store->claim();
    const layer::Layer layer = *store->put(*store->draft(), claim);
    ASSERT_TRUE(store->save({.name = "made",
                             .layers = {layer.digest},
                             .source = "import x",
                             .env = {{"A", "1"}},
                             .user = "app:grp",
                             .working_directory = "/w"}));
    const Environment* made = registry.environment("made");
    ASSERT_NE(made, nullptr) << "usable at once";
    EXPECT_TRUE(made->imported);
    EXPECT_EQ(made->user, "app");
    EXPECT_EQ(made->working_directory, "/w");
    EXPECT_THAT(made->layers, testing::ElementsAre(store->path(layer.digest)));
    for (const char* name : {"a", "b"}) {
      EXPECT_TRUE(check_usable(*registry.environment(name)));
      EXPECT_THAT(registry.environment(name)->digests, testing::ElementsAre(layer.digest));
    }
    ASSERT_TRUE(store->remove("made"));
    EXPECT_EQ(registry.environment("made"), nullptr);
    EXPECT_EQ(made->name, "made") << "whoever still looks at it sees it";
    EXPECT_TRUE(registry.environment("b")->layers.empty());
  }
  std::filesystem::remove_all(directory);
}

TEST(Registry, AMissingUserDirectoryIsAnError) {
  auto loaded = Registry::load("/nonexistent-registry");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), Code::invalid_argument);
}

TEST(Registry, TheShippedOneIsGoodAndHasTheDefaults) {
  auto loaded = Registry::load("");
  ASSERT_TRUE(loaded) << loaded.error().message();
  for (const char* name : {"host", "Python3", "Node", "base", "python", "node", "shell"})
    EXPECT_NE(loaded->environment(name), nullptr) << name;
  EXPECT_NE(loaded->policies().find("standard"), nullptr);
  const sandbox::Limits limits = loaded->sandbox_limits(*loaded->environment("host"), {});
  EXPECT_EQ(limits.memory_bytes, 512U << 20);
  EXPECT_EQ(limits.cpu_cores, 1.0);
  EXPECT_EQ(limits.processes_max, 5U);
  EXPECT_EQ(limits.disk_bytes, 100U << 20);
  EXPECT_EQ(loaded->execution_time(sandbox::Language::python), std::chrono::seconds(30));
  EXPECT_EQ(loaded->execution_time(sandbox::Language::typescript), std::chrono::seconds(15));
  EXPECT_EQ(loaded->execution_time(sandbox::Language::shell), std::chrono::seconds(10));
}

TEST(Registry, TheUsersFilesReplaceAndExtend) {
  const std::vector<SourceFile> shipped = {
      kPolicy,
      {"environments/host.yaml", "name: host\ndescription: ours\n"},
      {"limits/default.yaml", "default_limits: {memory_mb: 512, disk_mb: 100}\n"},
  };
  const std::vector<SourceFile> user = {
      {"environments/mine.yaml", "name: host\ndescription: theirs\nlimits: {memory_mb: 64}\n"},
      {"environments/more.yaml", "name: more\nlanguages: [js]\n"},
      {"limits/default.yaml",
       "default_limits: {disk_mb: 200}\nlanguage_specific: {javascript: {memory_mb: 99}}\n"},
  };
  auto loaded = Registry::from_files(shipped, user);
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->environment("host")->description, "theirs");
  const sandbox::Limits limits = loaded->sandbox_limits(*loaded->environment("host"), {.cpu_cores = 2});
  EXPECT_EQ(limits.memory_bytes, 64U << 20);
  EXPECT_EQ(limits.disk_bytes, 200U << 20);
  EXPECT_EQ(limits.cpu_cores, 2);
  EXPECT_EQ(loaded->sandbox_limits(*loaded->environment("more"), {}).memory_bytes, 99U << 20);
}

// What came with the program may be run with its power; what an operator or a user declares may not.
TEST(Registry, ShipsOnlyRecipesThatCameWithIt) {
  const std::vector<SourceFile> shipped = {
      kPolicy,
      {"environments/low.yaml", "name: low\nbuild: {packages: [bash]}\n"},
      {"environments/high.yaml", "name: high\nbuild: {from: low, steps: [{run: echo a}]}\n"},
      {"environments/loop.yaml", "name: loop\nbuild: {from: loop, steps: [{run: echo a}]}\n"},
  };
  const std::vector<SourceFile> user = {
      {"environments/mine.yaml", "name: mine\nbuild: {from: low, steps: [{run: echo b}]}\n"},
      {"environments/high.yaml", "name: high\nbuild: {from: low, steps: [{run: echo c}]}\n"},
  };
  auto loaded = Registry::from_files(shipped, user);
  ASSERT_TRUE(loaded) << loaded.error().message();
  const layer::Recipe low{.packages = {"bash"}}, high{.from = "low", .steps = {{"echo a"}}};
  EXPECT_TRUE(loaded->ships(name_of(low, "")));
  EXPECT_TRUE(loaded->ships(name_of(high, name_of(low, ""))));
  EXPECT_FALSE(loaded->ships(name_of(high, name_of(high, name_of(low, "")))));
  for (const char* theirs : {"mine", "high"})
    EXPECT_FALSE(loaded->ships(name_of(*loaded->environment(theirs)->recipe, name_of(low, "")))) << theirs;
  EXPECT_FALSE(loaded->ships(name_of(layer::Recipe{.packages = {"bash", "zsh"}}, "")));
  EXPECT_FALSE(loaded->ships(""));
}

}  // namespace
}  // namespace atl::registry
