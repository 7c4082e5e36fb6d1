#include "config/document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atl::config {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal(std::string_view text) {
  auto document = Document::parse(text, "a.yaml");
  return document ? "accepted" : document.error().message();
}

Node root(std::string_view text) {
  auto document = Document::parse(text, "a.yaml");
  EXPECT_TRUE(document) << document.error().message();
  return document ? document->root : Node();
}

TEST(Document, RefusesBrokenText) {
  EXPECT_THAT(refusal("a: [1, 2\nb: 3\n"), StartsWith("a.yaml:2:"));
  EXPECT_THAT(refusal("a: 1\na: 2\n"), HasSubstr("a.yaml:2:1: key 'a' appears twice (first at line 1)"));
  EXPECT_THAT(refusal("? [x]\n: 1\n"), HasSubstr("a key must be a plain word"));
  EXPECT_THAT(refusal("--- 1\n--- 2\n"), HasSubstr("more than one YAML document"));
  EXPECT_THAT(refusal("a: &x [*x]\n"), HasSubstr("a.yaml:1"));
  EXPECT_THAT(refusal("a: *nothing\n"), StartsWith("a.yaml:1:"));
}

TEST(Document, RefusesWhatGrowsOrNestsWithoutEnd) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb +=
        fmt::format("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n", i, i - 1);
  }
  EXPECT_THAT(refusal(bomb), HasSubstr("more than 200000 values"));
  // Few values, and each of them long.
  std::string wide = "a: &a \"" + std::string(100'000, 'x') + "\"\nb: [*a";
  for (int i = 0; i < 10; ++i) wide += ",*a";
  EXPECT_THAT(refusal(wide + "]\n"), HasSubstr("a.yaml:2:"));
  EXPECT_THAT(refusal(wide + "]\n"), HasSubstr("more than 1048576 bytes"));
  EXPECT_EQ(refusal("a: &a \"" + std::string(100'000, 'x') + "\"\nb: [*a, *a]\n"), "accepted");
  // What is kept for an alias that never comes: every anchor around it once more.
  std::string nested, ends;
  for (int i = 0; i < 100; ++i) nested += fmt::format("&n{} [", i), ends += "]";
  std::string many = "x";
  for (int i = 0; i < 5000; ++i) many += ",x";
  EXPECT_THAT(refusal("a: " + nested + many + ends), HasSubstr("more than 200000 values"));
  EXPECT_THAT(refusal("a: " + nested + std::string(50'000, 'x') + ends), HasSubstr("1048576 bytes"));
  // Each of many documents within the bounds.
  std::string stream;
  for (int i = 0; i < 30; ++i) stream += "--- [" + many + ", &a [" + many + "], *a]\n";
  const auto documents = Document::parse_all(stream, "a.yaml");
  ASSERT_FALSE(documents);
  EXPECT_THAT(documents.error().message(), HasSubstr("more than 200000 values"));
  EXPECT_NE(refusal(std::string(100'000, '[')), "accepted");
  EXPECT_EQ(Document::parse("a: 1", "b", {.max_bytes = 3}).error().code(), Code::too_large);
}

TEST(Document, MissingFileIsNotFound) {
  auto document = Document::load("/nonexistent/file.yaml");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code(), Code::not_found);
}

TEST(Node, WrongTypesNameTheirPlace) {
  Node node = root("size: big\nlist: {a: 1}\nflag: 1\nnegative: -1\nhuge: 99999999999\nquoted: '5'\n");
  EXPECT_EQ(node.get<int>("size").error().message(), "a.yaml:1:7: expected a whole number, got 'big'");
  EXPECT_EQ(node.get<std::vector<std::string>>("list").error().message(),
            "a.yaml:2:7: expected a list, got a map");
  EXPECT_THAT(node.get<bool>("flag").error().message(), HasSubstr("expected true or false, got '1'"));
  EXPECT_FALSE(node.get<std::uint32_t>("negative"));
  EXPECT_THAT(node.get<int>("huge").error().message(), HasSubstr("out of range"));
  EXPECT_FALSE(node.get<int>("quoted"));
  EXPECT_THAT(node.require<int>("absent").error().message(), HasSubstr("missing key 'absent'"));
}

TEST(Node, UnknownKeysGetAHint) {
  Node node = root("listen: x\nmemroy: 5\n");
  auto checked = node.check_keys({"listen", "memory", "data"});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message(), "a.yaml:2:1: unknown key 'memroy' (did you mean 'memory'?)");
  EXPECT_EQ(root("zzzzzz: 1").check_keys({"listen"}).error().message(), "a.yaml:1:1: unknown key 'zzzzzz'");
  EXPECT_TRUE(root("").check_keys({"listen"}));
  EXPECT_FALSE(root("[1]").check_keys({"listen"}));
}

TEST(Node, ReadsEveryType) {
  Node node = root("s: 1.10\ni: -3\nu: 7\nd: 2.5\nb: true\nn: ~\nl: [a, 2]\nm: {k: v, e: }\nq: 'null'\n");
  EXPECT_EQ(*node.get<std::string>("s").value(), "1.10");
  EXPECT_EQ(*node.get<std::int64_t>("i").value(), -3);
  EXPECT_EQ(*node.get<std::uint64_t>("u").value(), 7U);
  EXPECT_EQ(*node.get<double>("d").value(), 2.5);
  EXPECT_TRUE(*node.get<bool>("b").value());
  EXPECT_FALSE(node.get<int>("n").value().has_value());
  EXPECT_EQ(node.get_or<int>("n", 9).value(), 9);
  EXPECT_EQ(*node.get<std::vector<std::string>>("l").value(), (std::vector<std::string>{"a", "2"}));
  EXPECT_EQ((*node.get<std::map<std::string, std::string>>("m").value()).at("k"), "v");
  EXPECT_EQ(*node.get<std::string>("q").value(), "null");
}

TEST(Node, ReadsAliases) {
  Node node = root("a: &x {k: 1}\nb: *x\n");
  EXPECT_EQ(node.find("b")->get<int>("k").value(), 1);
}

TEST(Node, ReadsSizesAndTimes) {
  Node node = root("a: 256M\nb: 1.5GiB\nc: 512\nd: 5 parsecs\ne: 500ms\nf: 2h\ng: 30\n");
  EXPECT_EQ(node.find("a")->as_bytes().value(), 256ULL << 20);
  EXPECT_EQ(node.find("b")->as_bytes().value(), 3ULL << 29);
  EXPECT_EQ(node.find("c")->as_bytes().value(), 512U);
  EXPECT_EQ(node.find("d")->as_bytes().error().message(),
            "a.yaml:4:4: expected a size such as 512M or 1.5G, got '5 parsecs'");
  EXPECT_EQ(node.find("e")->as_milliseconds().value(), 500);
  EXPECT_EQ(node.find("f")->as_milliseconds().value(), 7'200'000);
  EXPECT_FALSE(node.find("g")->as_milliseconds());
}

}  // namespace
}  // namespace atl::config
