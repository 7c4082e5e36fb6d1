#include "base/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace atl::json {
namespace {

TEST(Json, RefusesWhatOthersLetThrough) {
  for (const auto* bad : {"", "{", "{\"a\":1,}", "[1] x", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"b\":2}}",
                          "NaN", "{\"a\":1,\"\\u0061\":2}", "\"\xff\"", "'a'", "[1,,2]", "01"}) {
    EXPECT_FALSE(parse(bad)) << bad;
  }
}

TEST(Json, NamesTheDuplicateKey) {
  EXPECT_NE(parse(R"({"x":{"k":1},"y":[{"k":1,"k":2}]})").error().message().find("\"k\""), std::string::npos);
}

TEST(Json, BoundsDepthAndSize) {
  EXPECT_FALSE(parse(std::string(100000, '[')));
  EXPECT_FALSE(parse(std::string(65, '[') + std::string(65, ']')));
  EXPECT_TRUE(parse(std::string(60, '[') + std::string(60, ']')));
  EXPECT_EQ(parse("[1,2,3]", {.max_bytes = 3}).error().code(), Code::too_large);
}

TEST(Json, BoundsTheNumberOfValues) {
  std::string keys = "{", items = "[0";
  for (int i = 0; i < 200'000; ++i) {
    keys += fmt::format("{}\"k{}\":0", i == 0 ? "" : ",", i);
    items += ",0";
  }
  EXPECT_EQ(parse(keys + "}").error().code(), Code::too_large);
  EXPECT_EQ(parse(items + "]").error().code(), Code::too_large);
  const Bounds of_our_own{.max_bytes = 17U << 20};
  EXPECT_TRUE(parse(items + "]", of_our_own));
  EXPECT_TRUE(parse(keys + "}", of_our_own));
  EXPECT_FALSE(parse(keys + ",\"k0\":0}", of_our_own)) << "and none stands twice";
  // What stands in a string is no value.
  EXPECT_TRUE(parse("[\"" + std::string(300'000, ',') + "\\\"" + std::string(300'000, '{') + "\"]"));
}

TEST(Json, BoundsHoldBeforeTheTextIsKnownToBeJson) {
  EXPECT_EQ(parse(std::string(1'000'000, ',')).error().code(), Code::too_large);
  for (const auto* bad : {"\"", "\"\\", "{\"a", "]]]]", "}:", ":::", "[\"\\\\\""})
    EXPECT_FALSE(parse(bad)) << bad;
}

TEST(Json, SameKeyInDifferentObjectsIsFine) {
  EXPECT_TRUE(parse(R"({"a":{"k":1},"b":{"k":2},"c":["k","k",{"k":"k"}]})"));
  EXPECT_TRUE(parse(" {\"a\\\"}\":1} \n"));
}

TEST(Json, QuotesEverythingIntoValidJson) {
  const auto text = quoted(std::string_view("a\"b\\\n\t\r\x01\xff\0z", 11));
  const auto back = parse(text).value();
  EXPECT_EQ(back.as_string(), std::string_view("a\"b\\\n\t\r\x01\xEF\xBF\xBD\0z", 13));
}

}  // namespace
}  // namespace atl::json
