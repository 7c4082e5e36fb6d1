#include "registry/prompt.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "registry/kinds.h"

namespace atl::registry {
namespace {

using testing::HasSubstr;
namespace bj = boost::json;

Result<Prompt> parse(const std::string& yaml) {
  auto document = config::Document::parse(yaml, "prompts/p.yaml");
  if (!document) return fail(document.error());
  if (auto good = check(*find_kind("prompts"), *document); !good) return fail(good.error());
  return parse_prompt(*document);
}

std::string parse_error(const std::string& yaml) {
  auto parsed = parse(yaml);
  return parsed ? "" : parsed.error().message();
}

// Prompts by name that find each other.
class Shelf {
 public:
  void add(const std::string& yaml) {
    Prompt prompt = *parse(yaml);
    std::string name = prompt.name;
    prompts_.insert_or_assign(name, std::move(prompt));
  }
  const Prompt& operator[](const std::string& name) const { return prompts_.at(name); }
  FindPrompt find() const {
    return [this](std::string_view name) {
      const auto found = prompts_.find(name);
      return found == prompts_.end() ? nullptr : &found->second;
    };
  }
  Result<std::string> render(const std::string& name, const std::string& json) const {
    return registry::render(prompts_.at(name), bj::parse(json).as_object(), find());
  }

 private:
  Prompts prompts_;
};

TEST(Prompt, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(parse_error("name: p\n"), HasSubstr("p.yaml:1:1: missing key 'text'"));
  EXPECT_THAT(parse_error("name: p\ntext: 'Hello {{whom}}'\nvariables: {who: {type: string}}\n"),
              HasSubstr("p.yaml:2:7: '{{whom}}' names no variable (did you mean 'who'?)"));
  EXPECT_THAT(parse_error("name: p\ntext: 'Hello {{who'\nvariables: {who: {}}\n"), HasSubstr("without '}}'"));
  EXPECT_THAT(parse_error("name: p\ntext: '{{>  }}'\n"), HasSubstr("needs the name of a prompt"));
  EXPECT_THAT(parse_error("name: p\ntext: x\nvariables: {who: {type: text}}\n"),
              HasSubstr("p.yaml:3:25: 'type' is 'string', 'integer', 'number', 'boolean' or 'list'"));
  EXPECT_THAT(parse_error("name: p\ntext: x\nvariables: {1a: {}}\n"), HasSubstr("no name of a variable"));
  EXPECT_THAT(parse_error("name: p\ntext: x\nvariables: {n: {type: integer, default: many}}\n"),
              HasSubstr("the default of 'n' is a whole number"));
  EXPECT_THAT(parse_error("name: p\ntext: x\nvariables: {n: {values: [a, b], default: c}}\n"),
              HasSubstr("one of a, b"));
  EXPECT_THAT(parse_error("name: p\ntext: x\nvariables: {n: {typ: integer}}\n"),
              HasSubstr("(did you mean 'type'?)"));
}

TEST(Prompt, RefusesMissingUnknownAndWrongVariables) {
  Shelf shelf;
  shelf.add(
      "name: p\ntext: '{{who}} {{n}}'\nvariables: {who: {type: string}, n: {type: integer, default: 1}}\n");
  const auto refused = [&](const std::string& json) {
    auto rendered = shelf.render("p", json);
    EXPECT_FALSE(rendered) << json;
    if (rendered) return Error(Code::internal, "");
    EXPECT_EQ(rendered.error().code(), Code::invalid_argument);
    return rendered.error();
  };
  EXPECT_EQ(refused("{}").field(), "variables.who");
  EXPECT_THAT(refused("{}").message(), HasSubstr("needs the variable 'who', a string"));
  EXPECT_EQ(refused(R"({"who": "a", "m": 1})").field(), "variables.m");
  EXPECT_EQ(refused(R"({"who": 1})").field(), "variables.who");
  EXPECT_EQ(refused(R"({"who": "a", "n": 1.5})").field(), "variables.n");
  EXPECT_EQ(refused(R"({"who": null})").field(), "variables.who");
}

TEST(Prompt, FillsInEveryType) {
  Shelf shelf;
  shelf.add(
      "name: p\ntext: '{{s}}|{{i}}|{{ n }}|{{b}}|{{l}}|{{v}}|\\{{s}}'\nvariables:\n  s: {}\n"
      "  i: {type: integer}\n  n: {type: number}\n  b: {type: boolean}\n  l: {type: list}\n"
      "  v: {default: 1.10, values: ['1.10', b]}\n");
  EXPECT_EQ(*shelf.render("p", R"({"s": "{{i}}", "i": -3, "n": 0.5, "b": true, "l": ["x", "y"]})"),
            "{{i}}|-3|0.5|true|x, y|1.10|{{s}}")
      << "what a caller fills in is not read again";
  EXPECT_THAT(
      shelf.render("p", R"({"s": "", "i": 1, "n": 1, "b": false, "l": [], "v": "c"})").error().message(),
      HasSubstr("'v' is one of 1.10, b"));
  EXPECT_FALSE(shelf.render("p", R"({"s": "", "i": 1, "n": 1, "b": false, "l": [1]})"));
}

TEST(Prompt, IncludesOthersWithTheirVariables) {
  Shelf shelf;
  shelf.add("name: outer\ntext: 'A {{> inner}} Z {{x}}'\nvariables: {x: {}}\n");
  shelf.add("name: inner\ntext: '<{{who}}>'\nvariables: {who: {default: you}}\n");
  EXPECT_EQ(*shelf.render("outer", R"({"x": "1"})"), "A <you> Z 1");
  EXPECT_EQ(*shelf.render("outer", R"({"x": "1", "who": "me"})"), "A <me> Z 1");
  shelf.add("name: clash\ntext: '{{> inner}}'\nvariables: {who: {type: integer}}\n");
  EXPECT_THAT(shelf.render("clash", "{}").error().message(),
              HasSubstr("is a string here and a whole number"));
}

TEST(Prompt, IncludesAreBound) {
  Shelf shelf;
  shelf.add("name: a\ntext: '{{> b}}'\n");
  EXPECT_THAT(check_includes(shelf["a"], shelf.find()).error().message(),
              HasSubstr("'b', which does not exist"));
  shelf.add("name: b\ntext: '{{> a}}'\n");
  EXPECT_THAT(check_includes(shelf["a"], shelf.find()).error().message(), HasSubstr("includes itself"));
  for (std::size_t at = 0; at < kIncludeDepthMax + 2; ++at)
    shelf.add(fmt::format("name: d{}\ntext: '{{{{> d{}}}}}'\n", at, at + 1));
  shelf.add(fmt::format("name: d{}\ntext: end\n", kIncludeDepthMax + 2));
  EXPECT_THAT(check_includes(shelf["d0"], shelf.find()).error().message(), HasSubstr("deep"));
  EXPECT_TRUE(check_includes(shelf["d2"], shelf.find()));
  // Ten includes of ten includes of ...: more than any text needs, though none of it is long.
  std::string ten;
  for (int count = 0; count < 10; ++count) ten += "{{> NEXT}}";
  for (int level = 0; level < 7; ++level) {
    std::string text = ten;
    for (auto at = text.find("NEXT"); at != std::string::npos; at = text.find("NEXT"))
      text.replace(at, 4, fmt::format("w{}", level + 1));
    shelf.add(fmt::format("name: w{}\ntext: '{}'\n", level, text));
  }
  shelf.add("name: w7\ntext: ''\n");
  EXPECT_EQ(shelf.render("w0", "{}").error().code(), Code::too_large);
  EXPECT_TRUE(all_variables(shelf["w0"], shelf.find()))
      << "one name is looked up once, however often it stands";
  shelf.add("name: long\ntext: '{{x}}{{x}}'\nvariables: {x: {}}\n");
  EXPECT_EQ(shelf.render("long", bj::serialize(bj::object{{"x", std::string(kRenderedBytesMax, 'x')}}))
                .error()
                .code(),
            Code::too_large);
}

// Whoever lists prompts looks at everything that each of them includes.
TEST(Prompt, WhatAListLooksAtIsBound) {
  Shelf shelf;
  const auto add_two_levels = [&](const std::string& name, int width) {
    std::string firsts, seconds;
    for (int at = 0; at < width; ++at) {
      shelf.add(fmt::format("name: {}leaf{}\ntext: x\n", name, at));
      seconds += fmt::format("{{{{> {}leaf{}}}}}", name, at);
    }
    for (int at = 0; at < width; ++at) {
      shelf.add(fmt::format("name: {}branch{}\ntext: '{}'\n", name, at, seconds));
      firsts += fmt::format("{{{{> {}branch{}}}}}", name, at);
    }
    shelf.add(fmt::format("name: {}\ntext: '{}'\n", name, firsts));
  };
  add_two_levels("some", 15);  // 240 names
  EXPECT_TRUE(all_variables(shelf["some"], shelf.find()));
  add_two_levels("more", 16);  // 272
  EXPECT_EQ(all_variables(shelf["more"], shelf.find()).error().code(), Code::too_large);
  EXPECT_EQ(check_includes(shelf["more"], shelf.find()).error().code(), Code::too_large);
  std::string pieces;
  for (int at = 0; at < 5001; ++at) pieces += "x{{v}}";
  EXPECT_THAT(parse_error(fmt::format("name: p\ntext: '{}'\nvariables: {{v: {{}}}}\n", pieces)),
              HasSubstr("too many times"));
  // Many variables, and few with much said of them.
  std::string many, large;
  for (int at = 0; at < 6; ++at) {
    std::string variables;
    for (int number = 0; number < 50; ++number) variables += fmt::format("v{}_{}: {{}}, ", at, number);
    shelf.add(fmt::format("name: v{}\ntext: x\nvariables: {{{}}}\n", at, variables));
    many += fmt::format("{{{{> v{}}}}}", at);
    shelf.add(fmt::format("name: l{0}\ntext: x\nvariables: {{l{0}: {{default: {1}}}}}\n", at,
                          std::string(kVariableBytesMax / 5, 'x')));
    large += fmt::format("{{{{> l{}}}}}", at);
  }
  shelf.add(fmt::format("name: many\ntext: '{}'\n", many));
  shelf.add(fmt::format("name: large\ntext: '{}'\n", large));
  for (const char* name : {"many", "large"})
    EXPECT_EQ(all_variables(shelf[name], shelf.find()).error().code(), Code::too_large) << name;
  EXPECT_TRUE(all_variables(shelf["l0"], shelf.find()));
}

}  // namespace
}  // namespace atl::registry
