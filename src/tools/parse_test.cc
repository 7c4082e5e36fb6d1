#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/document.h"
#include "tools/command_line.h"
#include "tools/tool.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Tool> parsed(const std::string& rest, Author author = Author::operators) {
  const auto document = config::Document::parse("name: t\ndescription: x\n" + rest, "t.yaml");
  if (!document) return fail(document.error());
  return parse_tool(*document, author);
}

std::string complaint(const std::string& rest, Author author = Author::operators) {
  const auto tool = parsed(rest, author);
  return tool ? "" : tool.error().message();
}

TEST(ParseTool, SaysWhatIsWrongAndWhere) {
  const std::string good = "run: {command: [echo]}\n";
  ASSERT_EQ(complaint(good), "");
  const std::pair<std::string, const char*> cases[] = {
      {"", "'run' is missing"},
      {"run: {}\n", "exactly one of command"},
      {"run: {command: [a], code: b}\n", "exactly one of command"},
      {"run: {comand: [a]}\n", "command"},
      {"run: {command: echo}\n", "t.yaml:3:"},
      {"run: {command: []}\n", "the program is fixed"},
      {"run: {command: ['{{x}}']}\n", "the program is fixed"},
      {"run: {command: ['']}\n", "the program is fixed"},
      {"run: {code: ''}\n", "'code' is empty"},
      {"run: {code: x, language: java}\n", "'language' is python"},
      {"run: {code: x, language: cobol}\n", "'language' is python"},
      {"run: {code: x, interpreter: other}\n", "'interpreter' is 'fresh' or 'session'"},
      {"run: {command: [a], language: python}\n", "'language' belongs to 'code'"},
      {"run: {command: [a], sandbox: other}\n", "'sandbox' is 'session' or 'fresh'"},
      {"run: {command: [a], environment: e}\n", "only 'sandbox: fresh'"},
      {"run: {http: {url: 'ftp://x'}}\n", "'url' begins with"},
      {"run: {http: {url: 'http://x', method: BREW}}\n", "'method' is GET"},
      {"run: {http: {url: 'http://x', body: text}}\n", "'body' is 'none' or 'input'"},
      {"run: {http: {url: 'http://x', port: 1}}\n", "port"},
      {"run: {builtin: nothing}\n", "no built-in is called 'nothing'"},
      {"run: {plugin: a/b.so}\n", "'plugin' is the file name"},
      {"run: {plugin: ..}\n", "'plugin' is the file name"},
      {"run: {client: false}\n", "'client' is true"},
      {"run: {client: true, sandbox: fresh}\n", "means nothing to a tool that runs in no sandbox"},
      {good + "input: {type: text}\n", "'input': "},
      {good + "output: {type: 5}\n", "'output': "},
      {good + "network: {deny: [x]}\n", "deny"},
      {good + "secrets: {h: {A: b}}\n", "'secrets' need 'sandbox: fresh'"},
      {"run: {command: [a], sandbox: fresh}\nsecrets: {h: {A: b}}\n", "is not among 'allow'"},
      {good + "tags: [" + std::string(65, 'x') + "]\n", "at most 64 tags"},
      {good + "examples: {}\n", "t.yaml:4:"},
      {good + "examples: [{output: 1}]\n", "an example has an 'input'"},
      {good + "input: {type: object, required: [a]}\nexamples: [{input: {}}]\n", "'/a' is required"},
      {good + "output: {type: integer}\nexamples: [{input: {}, output: x}]\n", "does not fit the tool's own"},
      {good + "idempotent: perhaps\n", "t.yaml:4:"},
      {good + "retries: 3\n", "retries"}};
  for (const auto& [rest, words] : cases) EXPECT_THAT(complaint(rest), HasSubstr(words)) << rest;
  std::string many = "run: {command: [a";
  for (int i = 0; i < 256; ++i) many += ", a";
  EXPECT_THAT(complaint(many + "]}\n"), HasSubstr("more than 256 words"));
  std::string examples = good + "examples:\n";
  for (int i = 0; i < 65; ++i) examples += "- {input: {}}\n";
  EXPECT_THAT(complaint(examples), HasSubstr("at most 64 examples"));
}

TEST(ParseTool, WhatOnlyAnOperatorMayDeclare) {
  EXPECT_EQ(complaint("run: {plugin: libx.so}\n"), "");
  EXPECT_THAT(complaint("run: {plugin: libx.so}\n", Author::tenant), HasSubstr("operator's to declare"));
  const std::string own = "run: {command: [a], sandbox: fresh}\nnetwork: {allow: [h]}\n";
  EXPECT_EQ(complaint(own), "");
  EXPECT_THAT(complaint(own, Author::tenant), HasSubstr("no network of its own"));
  EXPECT_EQ(complaint("run: {command: [a]}\nnetwork: {allow: [h]}\n", Author::tenant), "") << "a wish";
}

TEST(ParseTool, ReadsEverything) {
  const auto tool = parsed(
      "run: {code: x, language: javascript, interpreter: session}\npolicy: strict\nidempotent: true\npure: "
      "true\n"
      "read_only: true\ntimeout_seconds: 1.5\ntags: [a]\nexamples: [{input: 1, output: 2}]\nlimits: {}\n");
  ASSERT_TRUE(tool) << tool.error().message();
  EXPECT_FALSE(std::get<CodeRun>(tool->run).stateless);
  EXPECT_EQ(tool->limits.wall_time, std::chrono::milliseconds(1500));
  EXPECT_TRUE(tool->idempotent && tool->pure && tool->read_only);
  EXPECT_EQ(tool->policy, "strict");
  EXPECT_EQ(*tool->examples.at(0).output, 2);
  EXPECT_NE(tool->digest, parsed("run: {code: y}\n")->digest);
  for (const char* bad : {"", "1a", "a b", "a/b", "ä"}) EXPECT_FALSE(is_tool_name(bad)) << bad;
  EXPECT_FALSE(is_tool_name(std::string(65, 'a')));
}

// Whatever words an input has, they stay the words that they are.
TEST(CommandLine, WordsOfAnInputStayWords) {
  const CommandRun run{{"cp", "{{from}}", "to={{to}}", "--", "{{more}}"}};
  const auto fill = [&](const char* input) { return filled_words(run, bj::parse(input)); };
  EXPECT_THAT(*fill(R"({"from":"a b; $(x) {{to}}","to":"{{from}}","more":["-x",1,{"a":null}]})"),
              ElementsAre("cp", "a b; $(x) {{to}}", "to={{from}}", "--", "-x", "1", R"({"a":null})"));
  EXPECT_THAT(*fill("{}"), ElementsAre("cp", "to=", "--"));
  EXPECT_THAT(*fill("[1]"), ElementsAre("cp", "to=", "--"));
  EXPECT_THAT(*fill(R"({"from":-5})"), ElementsAre("cp", "-5", "to=", "--")) << "a number is no option";
  EXPECT_EQ(fill(R"({"from":"--help"})").error().field(), "/from");
  EXPECT_EQ(fill(R"({"from":["a","-x"]})").error().field(), "/from");
  EXPECT_EQ(fill(R"({"from":"a\u0000b"})").error().code(), Code::invalid_argument);
  EXPECT_EQ(fill(R"({"to":"a\u0000b"})").error().code(), Code::invalid_argument);
  EXPECT_THAT(*filled_words({{"a", "{{", "{{x", "x}}", "={{x}}="}}, bj::parse(R"({"x":"1"})")),
              ElementsAre("a", "{{", "{{x", "x}}", "=1="));
}

TEST(CommandLine, AValueMakesNoOptionOfALongerWord) {
  const auto fill = [](const char* word, const char* input) {
    return filled_words({{"tar", word, "--", word}}, bj::parse(input));
  };
  for (const char* word : {"{{x}}.tar", "{{x}}{{y}}", "{{none}}{{x}}"}) {
    const auto refused = fill(word, R"({"x":"--to-command=sh","y":"z"})");
    ASSERT_FALSE(refused) << word;
    EXPECT_EQ(refused.error().code(), Code::invalid_argument) << word;
    EXPECT_THAT(refused.error().message(), HasSubstr("option")) << word;
  }
  EXPECT_EQ(fill("{{x}}.tar", R"({"x":"-"})").error().field(), "/x");
  EXPECT_EQ(fill("{{x}}", R"({"x":"-0x"})").error().field(), "/x") << "no number";
  EXPECT_THAT(*fill("{{x}}", R"({"x":"-0.5"})"), ElementsAre("tar", "-0.5", "--", "-0.5"));
  EXPECT_THAT(*fill("{{x}}", R"({"x":-1e300})"), ElementsAre("tar", "-1E300", "--", "-1E300"));
  EXPECT_THAT(*fill("-o{{x}}", R"({"x":"-y"})"), ElementsAre("tar", "-o-y", "--", "-o-y"));
  EXPECT_THAT(*filled_words({{"cat", "--", "{{x}}.txt"}}, bj::parse(R"({"x":"-y"})")),
              ElementsAre("cat", "--", "-y.txt"));
}

TEST(CommandLine, WhatNoProgramCanBeStartedWithIsTooLarge) {
  const auto fill = [](std::size_t words, std::size_t bytes) {
    CommandRun run{{"echo"}};
    run.argv.resize(1 + words, "{{x}}");
    return filled_words(run, bj::object{{"x", std::string(bytes, 'x')}});
  };
  EXPECT_TRUE(fill(1, 131'071));
  EXPECT_EQ(fill(1, 131'072).error().code(), Code::too_large);
  EXPECT_TRUE(fill(7, 131'071));
  EXPECT_EQ(fill(9, 131'071).error().code(), Code::too_large);
}

TEST(CommandLine, AddressesOfAnInputStayWithinTheirPlace) {
  HttpRun run;
  run.url = "https://h/{{path}}?q={{q}}";
  EXPECT_EQ(*filled_url(run, bj::parse(R"({"path":"../x/@y","q":"a b&c=ü#"})")),
            "https://h/..%2Fx%2F%40y?q=a%20b%26c%3D%C3%BC%23");
  // Dots would lead out of the directory that the author wrote.
  for (const char* bad : {R"({"path":".."})", R"({"path":"."})", R"({"path":"..."})"})
    EXPECT_EQ(filled_url(run, bj::parse(bad)).error().field(), "/path") << bad;
  EXPECT_EQ(*filled_url(run, bj::parse(R"({"path":"a","q":".."})")), "https://h/a?q=..");
  run.url = "https://{{a}}/{{b}";
  EXPECT_EQ(*filled_url(run, bj::parse(R"({"a":"x"})")), "https://x/{{b}");
  run.url = "{{url}}";
  EXPECT_EQ(*filled_url(run, bj::parse(R"({"url":"http://x"})")), "http://x");
  for (const char* bad : {R"({"url":"file:///etc/passwd"})", R"({"url":5})", "{}", "[]"})
    EXPECT_EQ(filled_url(run, bj::parse(bad)).error().field(), "/url") << bad;
}

}  // namespace
}  // namespace atl::tools
