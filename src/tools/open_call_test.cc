// The parts of a call: what is run, with which input, and what is believed of its answer.
#include "tools/open_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include "tools/result_cache.h"
#include "tools/statistics.h"
#include "tools/tool_validator.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

Tool tool_with(std::string_view input, std::string_view output) {
  Tool tool;
  tool.name = "t";
  tool.input = Schema::compile(bj::parse(input)).value();
  tool.output = Schema::compile(bj::parse(output)).value();
  return tool;
}

TEST(PluginMounts, WithoutDirectoriesOrFileThereIsNone) {
  char name[] = "/tmp/atoll-plugins-XXXXXX";
  const std::string directory = ::mkdtemp(name);
  std::ofstream(directory + "/libx.so") << "x";
  std::filesystem::create_directory(directory + "/dir.so");
  EXPECT_EQ(plugin_mounts({"libx.so"}, {}, "/bin").error().code(), Code::unsupported);
  EXPECT_EQ(plugin_mounts({"libx.so"}, {directory}, "").error().code(), Code::unsupported);
  EXPECT_EQ(plugin_mounts({"liby.so"}, {"/nonexistent", directory}, "/bin").error().code(), Code::not_found);
  EXPECT_EQ(plugin_mounts({"dir.so"}, {directory}, "/bin").error().code(), Code::not_found);
  const auto local = plugin_mounts({"libx.so"}, {"/nonexistent", directory}, "/usr/bin").value();
  ASSERT_EQ(local.host_mounts.size(), 2U);
  EXPECT_EQ(local.host_mounts[0].host_path, directory);
  EXPECT_EQ(local.host_mounts[1].host_path, "/usr/bin");
  std::filesystem::remove_all(directory);
}

TEST(Invocation, EachKindHasItsProgramAndInput) {
  Tool tool;
  tool.name = "t";
  const bj::value input = bj::parse(R"({"a":"-x","q":"a b"})");
  tool.run = CommandRun{{"cat", "{{a}}"}};
  EXPECT_EQ(invocation_of(tool, input, 1s).error().field(), "/a") << "it would be an option";
  tool.run = CommandRun{{"cat", "--", "{{a}}"}};
  const auto command = invocation_of(tool, input, 1s).value();
  EXPECT_EQ(command.argv, (std::vector<std::string>{"cat", "--", "-x"}));
  EXPECT_EQ(bj::parse(command.standard_input), input);
  tool.run = HttpRun{.method = "GET", .url = "{{url}}", .headers = {}};
  EXPECT_EQ(invocation_of(tool, input, 1s).error().field(), "/url");
  tool.run =
      HttpRun{.method = "POST", .url = "https://h/?q={{q}}", .headers = {{"A", "b"}}, .send_input = true};
  const auto http = invocation_of(tool, input, 1'500ms).value();
  EXPECT_EQ(http.argv.front(), "python3");
  EXPECT_EQ(bj::parse(http.standard_input), (bj::object{{"method", "POST"},
                                                        {"url", "https://h/?q=a%20b"},
                                                        {"headers", {{"A", "b"}}},
                                                        {"body", input},
                                                        {"timeout", 1.5}}));
  tool.run = PluginRun{"libx.so"};
  const auto plugin = invocation_of(tool, input, 1s).value();
  EXPECT_THAT(plugin.argv,
              testing::ElementsAre(HasSubstr("/atoll"), "plugin-host", HasSubstr("/libx.so"), "t"));
}

TEST(CodeWithInput, NoInputCanLeaveItsLiteral) {
  const bj::value nasty = bj::object{{"a", "'''\"\\\n\u2028}})"}};
  const auto of = [&](sandbox::Language language) {
    return code_with_input({.language = language, .code = "CODE"}, nasty);
  };
  const std::string python = of(sandbox::Language::python);
  EXPECT_THAT(python, StartsWith("import json\ntool_input = json.loads(\""));
  // The literal is one line, and what it says is the input.
  const std::size_t from = python.find('"'), end = python.find(")\nCODE");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(bj::parse(bj::parse(python.substr(from, end - from)).as_string()), nasty);
  for (const auto language :
       {sandbox::Language::javascript, sandbox::Language::typescript, sandbox::Language::deno})
    EXPECT_THAT(of(language), StartsWith("var tool_input = JSON.parse(\""));
  EXPECT_EQ(of(sandbox::Language::shell), "CODE") << "it is in the environment";
}

TEST(PolicyLanguage, EveryLanguageIsReadAsItself) {
  using From = sandbox::Language;
  using To = policy::Language;
  const std::pair<From, To> cases[] = {{From::python, To::python},
                                       {From::javascript, To::javascript},
                                       {From::typescript, To::javascript},
                                       {From::deno, To::javascript},
                                       {From::r, To::r},
                                       {From::java, To::java},
                                       {From::shell, To::shell}};
  for (const auto& [from, to] : cases) EXPECT_EQ(policy_language(from), to);
}

TEST(ToolValidator, InputHasABoundAndASchema) {
  const Tool tool = tool_with(R"({"type":"object","required":["a"]})", "true");
  const ToolValidator small({.input_bytes_max = 20, .output_bytes_max = 20});
  const auto large = small.check_input(tool, bj::object{{"a", std::string(100, 'x')}});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code(), Code::too_large);
  EXPECT_EQ(large.error().field(), "input");
  EXPECT_EQ((*small.check_input(tool, bj::object()))->pointer, "/a");
  EXPECT_FALSE(*small.check_input(tool, bj::object{{"a", 1}}));
}

// As good as input that does not fit: the same call would cost as much the next time.
TEST(ToolValidator, WhatTakesTooManyStepsIsRefusedAsAWhole) {
  const Tool tool = tool_with(R"({"$ref":"#"})", R"({"$ref":"#"})");
  const ToolValidator validator;
  const auto input = validator.check_input(tool, 1);
  ASSERT_TRUE(input && *input);
  EXPECT_EQ((*input)->pointer, "");
  EXPECT_THAT((*input)->message, StartsWith("takes too many steps"));
  const auto output = validator.read_output(tool, "1", false);
  ASSERT_TRUE(output.wrong);
  EXPECT_THAT(output.wrong->message, HasSubstr("too many steps"));
}

TEST(ToolValidator, WhatIsPrintedIsJsonOrTextWhereThatFits) {
  const ToolValidator validator({.input_bytes_max = 100, .output_bytes_max = 100});
  const Tool number = tool_with("true", R"({"type":"integer"})");
  const auto wrong = [&](const Tool& tool, std::string_view printed, bool truncated = false) {
    const auto read = validator.read_output(tool, printed, truncated);
    EXPECT_TRUE(read.value.is_null());
    return read.wrong ? read.wrong->message : "";
  };
  EXPECT_EQ(wrong(number, " \n"), "the tool printed nothing");
  EXPECT_EQ(wrong(number, "seven"), "what the tool printed is not JSON");
  EXPECT_THAT(wrong(number, "\"7\""), HasSubstr("must be of type"));
  EXPECT_THAT(wrong(number, "7", true), HasSubstr("more than 100 bytes"));
  EXPECT_THAT(wrong(number, std::string(101, '7')), HasSubstr("more than 100 bytes"));
  EXPECT_EQ(validator.read_output(number, " 7\n", false).value, 7);
  for (const char* schema : {"true", "{}", R"({"type":"string"})"})
    EXPECT_EQ(validator.read_output(tool_with("true", schema), "no \xff JSON\n", false).value,
              "no \xef\xbf\xbd JSON\n");
  EXPECT_EQ(validator.read_output(tool_with("true", "true"), "[1]", false).value, bj::array{1});
}

TEST(ResultCache, WhatWasNotAskedForLongestGoesFirst) {
  ResultCache cache(1'000, 2);
  EXPECT_FALSE(cache.find("a"));
  cache.put("a", 1, 1);
  cache.put("b", 2, 1);
  cache.put("a", 5, 1);
  EXPECT_EQ(cache.find("a"), bj::value(1)) << "the first stays";
  cache.put("c", 3, 1);
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("a") && cache.find("c"));
  cache.put("large", 4, 251);
  EXPECT_FALSE(cache.find("large")) << "one may not take the room of all";
  ResultCache tight(100, 1'000);
  for (int i = 0; i < 50; ++i) tight.put(std::to_string(i), i, 20);
  EXPECT_LE(tight.size(), 5U);
  EXPECT_TRUE(tight.find("49"));
}

TEST(ToolStatistics, CallsAreCountedByTheirEndAndTime) {
  ToolStatistics one;
  one.count(session::Status::success, 900us, 10us);
  one.count(session::Status::success, 1'000us, 0us);
  one.count(session::Status::timeout, 2ms, 5us);
  one.count(session::Status::timeout, std::chrono::minutes(10), 0us);
  EXPECT_EQ(one.calls, 4U);
  EXPECT_EQ(one.failures, (std::map<std::string, std::uint64_t>{{"timeout", 2}}));
  EXPECT_EQ(one.latency.front(), 2U);
  EXPECT_EQ(one.latency[1], 1U);
  EXPECT_EQ(one.latency.back(), 1U);
  EXPECT_EQ(one.cpu_time, 15us);
  ToolStatistics both = one;
  both.cached = 1;
  both.add(one);
  EXPECT_EQ(both.calls, 8U);
  EXPECT_EQ(both.cached, 1U);
  EXPECT_EQ(both.failures["timeout"], 4U);
  EXPECT_EQ(both.latency.front(), 4U);
  EXPECT_EQ(both.wall_time, 2 * one.wall_time);
}

}  // namespace
}  // namespace atl::tools
