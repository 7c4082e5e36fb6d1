#include "registry/kinds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "registry/registry.h"

namespace atl::registry {
namespace {

using testing::HasSubstr;

std::string complaint(std::string_view kind, const std::string& yaml) {
  const auto document = config::Document::parse(yaml, "x.yaml");
  auto checked = check(*find_kind(kind), *document);
  return checked ? "" : checked.error().message();
}

TEST(Kinds, EveryShapeIsChecked) {
  EXPECT_THAT(complaint("agents", ""), HasSubstr("x.yaml:1:1: the file is empty; it declares one of agents"));
  EXPECT_THAT(complaint("agents", "[]"), HasSubstr("expected"));
  EXPECT_THAT(complaint("agents", "name: a\nskils: [x]\n"), HasSubstr("x.yaml:2:1"));
  EXPECT_THAT(complaint("agents", "name: a\nskils: [x]\n"), HasSubstr("did you mean 'skills'?"));
  EXPECT_THAT(complaint("agents", "name: a\nskills: x\n"), HasSubstr("x.yaml:2:9"));
  EXPECT_THAT(complaint("agents", "name: a\nnetwork: some\n"), HasSubstr("'network' is 'none' or 'egress'"));
  EXPECT_THAT(complaint("agents", "name: a\nnetwork: {alow: [b]}\n"), HasSubstr("did you mean 'allow'?"));
  EXPECT_THAT(complaint("agents", "name: a\nttl_seconds: 0\n"), HasSubstr("must be between 1 and 31536000"));
  EXPECT_THAT(complaint("agents", "name: a\nenv: [x]\n"), HasSubstr("x.yaml:2:6"));
  EXPECT_THAT(complaint("environments", "name: a\nsudo: maybe\n"), HasSubstr("x.yaml:2:7"));
  EXPECT_THAT(complaint("environments", "name: a\ndefault_language: pyton\n"),
              HasSubstr("did you mean 'python'?"));
  EXPECT_THAT(complaint("environments", "name: a\nprovider: gvisr\n"), HasSubstr("did you mean 'gvisor'?"));
  EXPECT_THAT(complaint("policies", "name: a\nprovider: mars\n"),
              HasSubstr("x.yaml:2:11: 'provider' is 'native'"));
  EXPECT_THAT(complaint("agents", "name: a\nprovider: mars\n"),
              HasSubstr("x.yaml:2:11: 'provider' is 'native'"));
  EXPECT_THAT(complaint("tools", "name: a\n"), HasSubstr("missing key 'run'"));
  EXPECT_THAT(complaint("skills", "name: a\n"), HasSubstr("missing key 'directory'"));
  EXPECT_THAT(complaint("agents", "name: a\ndescription: " + std::string(5000, 'x') + "\n"),
              HasSubstr("at most 4096"));
  std::string many = "name: a\ntools: [";
  for (int count = 0; count < 300; ++count) many += "t,";
  EXPECT_THAT(complaint("agents", many + "]\n"), HasSubstr("at most 256"));
  EXPECT_EQ(complaint("agents", "name: a\nnetwork: {allow: [b]}\nskills: ['*']\n"), "");
}

// What editors and clients are given is what the program checks.
TEST(Kinds, PublishedSchemasAreThoseOfTheTable) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("registry/schemas"))
    files += entry.path().extension() == ".json" ? 1 : 0;
  EXPECT_EQ(files, kinds().size());
  for (const Kind& kind : kinds()) {
    const std::string path = "registry/schemas/" + std::string(kind.folder) + ".json";
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), json_schema(kind)) << path << ": write it anew with 'atoll registry schemas DIR'";
    const auto parsed = boost::json::parse(json_schema(kind)).as_object();
    EXPECT_EQ(parsed.at("additionalProperties"), boost::json::value(false));
    EXPECT_EQ(parsed.at("properties").as_object().size(), kind.fields.size());
  }
}

TEST(Kinds, ShippedFilesTellEditorsTheirSchema) {
  std::size_t files = 0;
  for (const Kind& kind : kinds()) {
    const std::string folder = "registry/" + std::string(kind.folder);
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".yaml") continue;
      std::string line;
      std::ifstream file(entry.path());
      std::getline(file, line);
      EXPECT_EQ(line, fmt::format("# yaml-language-server: $schema=../schemas/{}.json", kind.folder))
          << entry.path();
      ++files;
    }
  }
  EXPECT_GT(files, 30U);
}

class ReloadTest : public testing::Test {
 protected:
  ReloadTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "atoll-reload-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    put("prompts/greet.yaml", "name: greet\nvariables: {who: {type: string}}\ntext: 'Hello {{who}}'\n");
  }
  ~ReloadTest() override { std::filesystem::remove_all(directory_); }
  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(directory_ + "/" + path).parent_path());
    std::ofstream(directory_ + "/" + path) << text;
  }
  std::string directory_;
};

TEST_F(ReloadTest, IsAsAWholeOrNotAtAll) {
  auto loaded = Registry::load(directory_);
  ASSERT_TRUE(loaded) << loaded.error().message();
  Registry& registry = *loaded;
  EXPECT_EQ(registry.version(), 1U);
  ASSERT_NE(registry.prompt("greet"), nullptr);
  EXPECT_FALSE(registry.is_outdated());
  put("agents/good.yaml", "name: good\nenvironment: host\nprompt: greet\n");
  put("prompts/greet.yaml", "name: greet\ntext: 'Hello {{who}}'\n");
  EXPECT_TRUE(registry.is_outdated());
  const auto refused = registry.reload();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
  EXPECT_THAT(refused.error().message(), HasSubstr("prompts/greet.yaml:2:7"));
  EXPECT_EQ(registry.agent("good"), nullptr) << "nothing of a refused one";
  EXPECT_EQ(registry.version(), 1U);
  EXPECT_FALSE(registry.is_outdated()) << "the same mistake is not read again and again";
  put("prompts/greet.yaml", "name: greet\ntext: Hi\n");
  const Prompt* before = registry.prompt("greet");
  ASSERT_TRUE(registry.reload());
  EXPECT_EQ(registry.version(), 2U);
  EXPECT_NE(registry.agent("good"), nullptr);
  EXPECT_EQ(before->variables.size(), 1U) << "whoever still holds the old one still sees it";
  ASSERT_TRUE(registry.reload());
  EXPECT_EQ(registry.version(), 2U) << "nothing changed";
}

TEST_F(ReloadTest, VersionsAreKeptAndCompared) {
  auto loaded = Registry::load(directory_);
  ASSERT_TRUE(loaded) << loaded.error().message();
  Registry& registry = *loaded;
  put("policies/mine.yaml", "name: mine\nmode: enforce\n");
  ASSERT_TRUE(registry.reload());
  put("policies/mine.yaml", "name: mine\nmode: audit\n");
  std::filesystem::remove(directory_ + "/prompts/greet.yaml");
  ASSERT_TRUE(registry.reload());
  const auto changes = *registry.difference(2, 3);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].name, "mine");
  EXPECT_THAT(changes[0].before->json, HasSubstr("enforce"));
  EXPECT_THAT(changes[0].after->json, HasSubstr("audit"));
  EXPECT_EQ(changes[1].name, "greet");
  EXPECT_EQ(changes[1].after, nullptr);
  EXPECT_EQ(registry.difference(1, 2)->front().before, nullptr);
  EXPECT_EQ(registry.difference(1, 9).error().code(), Code::not_found);
  // A session of an earlier version keeps its policies.
  EXPECT_EQ(registry.policies_of(1).find("mine"), nullptr);
  EXPECT_EQ(registry.policies_of(2).find("mine")->mode(), policy::Mode::enforce);
  EXPECT_EQ(registry.policies_of(0).find("mine")->mode(), policy::Mode::audit);
  for (std::size_t count = 0; count < 2 * Registry::kVersionsKept; ++count) {
    put("policies/mine.yaml", "name: mine\ndescription: '" + std::to_string(count) + "'\n");
    ASSERT_TRUE(registry.reload());
  }
  EXPECT_EQ(registry.versions().size(), Registry::kVersionsKept);
  EXPECT_EQ(registry.versions().back().number, registry.version());
}

TEST_F(ReloadTest, CheckersOfOtherRoomsTakePart) {
  auto loaded = Registry::load(directory_);
  ASSERT_TRUE(loaded) << loaded.error().message();
  Registry& registry = *loaded;
  const auto no_x = [](const Entry& entry) -> Result<void> {
    if (entry.document.root.find("run")->text() == "x")
      return fail(entry.document.root.find("run")->error("no x"));
    return {};
  };
  ASSERT_TRUE(registry.add_checker("tools", no_x));
  put("tools/t.yaml", "name: t\nrun: x\n");
  const auto refused = registry.reload();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("tools/t.yaml:2:6: no x"));
  EXPECT_EQ(registry.check_tenant_entry("acme", "tools", "name: t\nrun: x\n").error().message(),
            "tool:2:6: no x");
  put("tools/t.yaml", "name: t\nrun: y\n");
  ASSERT_TRUE(registry.reload());
  EXPECT_FALSE(
      registry.add_checker("tools", [](const Entry&) { return Result<void>(fail(Code::internal, "")); }));
}

TEST_F(ReloadTest, TenantsDeclareTheirOwn) {
  auto loaded = Registry::load(directory_);
  ASSERT_TRUE(loaded) << loaded.error().message();
  Registry& registry = *loaded;
  EXPECT_EQ(registry.check_tenant_entry("acme", "environments", "name: x\n").error().code(),
            Code::unsupported);
  EXPECT_EQ(registry.check_tenant_entry("acme", "things", "name: x\n").error().code(), Code::not_found);
  EXPECT_THAT(registry.check_tenant_entry("acme", "agents", "name: x\nprompt: none-such\n").error().message(),
              HasSubstr("none-such"));
  const std::uint64_t before = registry.revision();
  registry.put_tenant_entry(
      "acme", *registry.check_tenant_entry("acme", "prompts", "{\"name\": \"greet\", \"text\": \"Own\"}"));
  registry.put_tenant_entry("acme",
                            *registry.check_tenant_entry("acme", "agents", "name: mine\nprompt: greet\n"));
  EXPECT_GT(registry.revision(), before);
  EXPECT_EQ(*render(*registry.prompt("greet", "acme"), {}, registry.prompt_finder("acme")), "Own");
  EXPECT_EQ(registry.prompt("greet", "other")->variables.size(), 1U);
  EXPECT_EQ(registry.agent("mine"), nullptr);
  EXPECT_EQ(registry.agent("mine", "other"), nullptr);
  ASSERT_NE(registry.agent("mine", "acme"), nullptr);
  EXPECT_EQ(registry.entry("prompts", "greet", "acme")->origin, Origin::tenant);
  EXPECT_EQ(registry.entry("prompts", "greet")->origin, Origin::directory);
  EXPECT_EQ(registry.tenant_entry_count("acme"), 2U);
  EXPECT_FALSE(registry.remove_tenant_entry("other", "prompts", "greet"));
  EXPECT_TRUE(registry.remove_tenant_entry("acme", "prompts", "greet"));
  EXPECT_FALSE(registry.remove_tenant_entry("acme", "prompts", "greet"));
  EXPECT_EQ(registry.entry("prompts", "greet", "acme")->origin, Origin::directory);
  const auto revision = registry.revision();
  registry.remove_tenant("acme");
  EXPECT_EQ(registry.tenant_entry_count("acme"), 0U);
  EXPECT_GT(registry.revision(), revision);
  registry.remove_tenant("acme");
  EXPECT_EQ(registry.revision(), revision + 1) << "there was nothing more to remove";
}

}  // namespace
}  // namespace atl::registry
