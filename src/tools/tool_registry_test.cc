// Which tools a tenant sees, and in which forms they are told.
#include "tools/tool_registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace atl::tools {
namespace {

namespace bj = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;

std::string declaration(const std::string& name, const std::string& rest) {
  return fmt::format("{{name: {}, {}}}\n", name, rest);
}

constexpr const char* kRun = "run: {command: [echo]}";

class ToolRegistryTest : public testing::Test {
 protected:
  // A registry with these tools for everybody.
  Result<void> open(const std::vector<std::pair<std::string, std::string>>& tools) {
    std::vector<registry::SourceFile> files;
    for (const auto& [name, rest] : tools)
      files.push_back({fmt::format("tools/{}.yaml", name), declaration(name, rest)});
    registry_ = std::make_unique<registry::Registry>(TRY(registry::Registry::from_files({}, files)));
    tools_ = TRY(ToolRegistry::open(registry_.get()));
    return {};
  }
  Result<void> put(const std::string& tenant, const std::string& name, const std::string& rest) {
    auto entry = TRY(registry_->check_tenant_entry(tenant, "tools", declaration(name, rest)));
    registry_->put_tenant_entry(tenant, std::move(entry));
    return {};
  }
  static std::vector<std::string> names(const std::vector<ToolPtr>& tools) {
    std::vector<std::string> all;
    for (const ToolPtr& tool : tools) all.push_back(tool->name);
    return all;
  }

  std::unique_ptr<registry::Registry> registry_;
  std::unique_ptr<ToolRegistry> tools_;
};

TEST_F(ToolRegistryTest, WhatIsNoToolKeepsTheRegistryFromOpening) {
  const auto bad = open({{"t", "description: x, run: {command: []}"}});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message(), HasSubstr("tools/t.yaml:1:"));
}

TEST_F(ToolRegistryTest, NamesThatEveryClientHasMeanOneThing) {
  const auto stolen = open({{"read_file", "description: x, run: {command: [cat]}"}});
  ASSERT_FALSE(stolen);
  EXPECT_EQ(stolen.error().code(), Code::already_exists);
  EXPECT_EQ(stolen.error().field(), "name");
  EXPECT_FALSE(open({{"read_file", "description: x, run: {builtin: write_file}"}}));
  EXPECT_FALSE(open({{"sandbox_create", "description: x, run: {builtin: read_file}"}})) << "there is no such";
  EXPECT_TRUE(open({{"read_file", "description: narrower, run: {builtin: read_file}"}}));
}

TEST_F(ToolRegistryTest, ATenantsToolIsNobodyElsesAndTakesNoNameOfEverybodys) {
  ASSERT_TRUE(open({{"shared", std::string("description: x, ") + kRun}}));
  const auto shadow = put("one", "shared", std::string("description: mine, ") + kRun);
  ASSERT_FALSE(shadow);
  EXPECT_EQ(shadow.error().code(), Code::already_exists);
  EXPECT_FALSE(put("one", "run_code", std::string("description: mine, ") + kRun));
  EXPECT_FALSE(put("one", "mine", "description: mine, run: {plugin: libx.so}"));
  EXPECT_FALSE(put("one", "mine", "description: mine"));
  ASSERT_TRUE(put("one", "mine", std::string("description: mine, ") + kRun));
  EXPECT_THAT(names(tools_->list("one")), ElementsAre("mine", "shared"));
  EXPECT_THAT(names(tools_->list("two")), ElementsAre("shared"));
  EXPECT_EQ(tools_->find("two", "mine"), nullptr);
  EXPECT_EQ(tools_->find("", "mine"), nullptr);
  EXPECT_EQ(tools_->find("one", "shared")->description, "x");
}

TEST_F(ToolRegistryTest, AReplacedToolLivesUntilItsLastCallEnds) {
  ASSERT_TRUE(open({}));
  ASSERT_TRUE(put("one", "mine", std::string("description: old, ") + kRun));
  const ToolPtr old = tools_->find("one", "mine");
  EXPECT_EQ(tools_->find("one", "mine"), old) << "read once";
  ASSERT_TRUE(put("one", "mine", std::string("description: new, ") + kRun));
  EXPECT_EQ(tools_->find("one", "mine")->description, "new");
  EXPECT_TRUE(registry_->remove_tenant_entry("one", "tools", "mine"));
  EXPECT_EQ(tools_->find("one", "mine"), nullptr);
  EXPECT_EQ(old->description, "old");
}

TEST_F(ToolRegistryTest, WordsInTheNameCountMoreThanThoseInTags) {
  const std::string run = std::string(", ") + kRun;
  ASSERT_TRUE(open({{"a_described", "description: Counts the words of a text" + run},
                    {"tagged", "description: x, tags: [Words]" + run},
                    {"word_words", "description: x" + run},
                    {"other", "description: nothing" + run}}));
  EXPECT_THAT(names(tools_->search("", "WORDS")), ElementsAre("word_words", "tagged", "a_described"));
  EXPECT_THAT(names(tools_->search("", "counts, text!")), ElementsAre("a_described"));
  EXPECT_TRUE(tools_->search("", "words nothing").empty()) << "every word must be there";
  EXPECT_TRUE(tools_->search("", " ,; ").empty());
}

// More declarations than are kept read at once.
TEST_F(ToolRegistryTest, ManyToolsAreReadAgainWhenAskedFor) {
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 4'200; ++i)
    many.emplace_back(fmt::format("t{}", i), std::string("description: x, ") + kRun);
  ASSERT_TRUE(open(many));
  EXPECT_EQ(tools_->list("").size(), 4'200U);
  EXPECT_EQ(tools_->list("").size(), 4'200U);
  EXPECT_EQ(tools_->find("", "t7")->name, "t7");
}

TEST_F(ToolRegistryTest, FormatsAreNamed) {
  EXPECT_EQ(*parse_format(""), Format::atoll);
  EXPECT_EQ(*parse_format("atoll"), Format::atoll);
  EXPECT_EQ(*parse_format("openai"), Format::openai);
  EXPECT_EQ(*parse_format("anthropic"), Format::anthropic);
  EXPECT_EQ(*parse_format("mcp"), Format::mcp);
  EXPECT_EQ(parse_format("OpenAI").error().field(), "format");
}

TEST_F(ToolRegistryTest, OneSchemaIsToldInEveryForm) {
  ASSERT_TRUE(
      open({{"count",
             "description: Counts., input: {type: object, required: [a]}, output: {type: object}, "
             "run: {command: [wc], sandbox: fresh}, network: {allow: [h]}, tags: [x], idempotent: true, "
             "examples: [{input: {a: 1}, output: {}}, {input: {a: 2}}]"}}));
  const Tool& tool = *tools_->find("", "count");
  const bj::value input = bj::parse(R"({"type":"object","required":["a"]})");
  EXPECT_EQ(
      exported(tool, Format::openai),
      (bj::object{{"type", "function"},
                  {"function", {{"name", "count"}, {"description", "Counts."}, {"parameters", input}}}}));
  EXPECT_EQ(exported(tool, Format::anthropic),
            (bj::object{{"name", "count"}, {"description", "Counts."}, {"input_schema", input}}));
  EXPECT_EQ(exported(tool, Format::mcp), (bj::object{{"name", "count"},
                                                     {"description", "Counts."},
                                                     {"inputSchema", input},
                                                     {"annotations",
                                                      {{"readOnlyHint", false},
                                                       {"destructiveHint", true},
                                                       {"idempotentHint", true},
                                                       {"openWorldHint", true}}},
                                                     {"outputSchema", {{"type", "object"}}}}));
  const bj::object own = exported(tool, Format::atoll);
  EXPECT_EQ(own.at("kind"), "command");
  EXPECT_EQ(own.at("sandbox"), "fresh");
  EXPECT_EQ(own.at("network"), bj::array{"h"});
  EXPECT_EQ(own.at("tags"), bj::array{"x"});
  EXPECT_EQ(own.at("examples"),
            (bj::array{{{"input", {{"a", 1}}}, {"output", bj::object()}}, {{"input", {{"a", 2}}}}}));
  EXPECT_EQ(own.at("digest").as_string(), tool.digest);
}

// One combination at the top of one schema, and the APIs of models refuse the whole request.
TEST_F(ToolRegistryTest, CombinationsAtTheTopAreNotToldToModels) {
  ASSERT_TRUE(
      open({{"either",
             "description: x, run: {command: [a]}, input: {properties: {p: {anyOf: [true]}}, anyOf: "
             "[{required: [p]}, {required: [q]}], oneOf: [true], allOf: [true], not: false, enum: [{p: 1}]}"},
            {"nothing", "description: x, run: {command: [a]}, input: {type: ['null', object]}"},
            {"text", "description: x, run: {command: [a]}, input: {type: string}"}}));
  const auto told = [&](const char* name, Format format) {
    bj::object form = exported(*tools_->find("", name), format);
    if (format == Format::openai) return form.at("function").at("parameters");
    return form.at(format == Format::mcp ? "inputSchema" : "input_schema");
  };
  for (const Format format : {Format::openai, Format::anthropic, Format::mcp}) {
    EXPECT_EQ(told("either", format),
              (bj::object{{"type", "object"}, {"properties", {{"p", {{"anyOf", bj::array{true}}}}}}}));
    EXPECT_EQ(told("nothing", format), (bj::object{{"type", "object"}}));
    EXPECT_EQ(told("text", format), (bj::object{{"type", "string"}})) << "no model can call it as it is";
  }
  const auto refused = tools_->find("", "either")->input.check(bj::object());
  EXPECT_TRUE(refused && *refused) << "the call is checked as it was declared";
}

TEST_F(ToolRegistryTest, EveryKindHasItsWordAndAnObjectSchema) {
  const std::pair<const char*, const char*> kinds[] = {
      {"command", "{command: [a]}"},         {"code", "{code: x}"},
      {"http", "{http: {url: 'http://h'}}"}, {"builtin", "{builtin: read_file}"},
      {"plugin", "{plugin: l.so}"},          {"client", "{client: true}"}};
  for (const auto& [word, run] : kinds) {
    ASSERT_TRUE(open(
        {{"t", fmt::format("description: x, read_only: true, output: {{type: integer}}, run: {}", run)}}));
    const Tool& tool = *tools_->find("", "t");
    EXPECT_EQ(exported(tool, Format::atoll).at("kind"), word);
    // Without a schema of its own it takes any object; results that are none are not promised to MCP.
    EXPECT_EQ(exported(tool, Format::anthropic).at("input_schema"), (bj::object{{"type", "object"}}));
    const bj::object mcp = exported(tool, Format::mcp);
    EXPECT_FALSE(mcp.contains("outputSchema"));
    EXPECT_EQ(mcp.at("annotations").at("idempotentHint"), true) << "what changes nothing can be repeated";
  }
}

}  // namespace
}  // namespace atl::tools
