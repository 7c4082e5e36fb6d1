#include "base/json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace atl::json {
namespace {

TEST(Json, RefusesWhatOthersLetThrough) {
  for (const auto* bad : {"", "{", "{\"a\":1,}", "[1] x", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"b\":2}}", "NaN",
                          "{\"a\":1,\"\\u0061\":2}", "\"\xff\"", "'a'", "[1,,2]", "01"}) {
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
