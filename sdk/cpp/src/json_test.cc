#include "atoll/json.h"

#include <gtest/gtest.h>

#include "atoll/errors.h"

namespace atl::client {
namespace {

TEST(ClientJson, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1,\"a\":2}", "nul", "1 2", "\"\xff\""})
    EXPECT_THROW(Json::parse(text), JsonError) << text;
}

TEST(ClientJson, RefusesAnotherKind) {
  EXPECT_THROW(Json("x").as_integer(), JsonError);
  EXPECT_THROW(Json(1.5).as_integer(), JsonError);
  EXPECT_THROW(Json(1).as_string(), JsonError);
  EXPECT_THROW(Json(1).as_bool(), JsonError);
  EXPECT_THROW(Json("1").as_double(), JsonError);
  EXPECT_THROW(Json(1).items(), JsonError);
  EXPECT_THROW(Json(1).members(), JsonError);
  EXPECT_THROW(Json(1).set("a", 1), JsonError);
  EXPECT_THROW(Json(1).push(1), JsonError);
}

TEST(ClientJson, WhatIsMissingIsNull) {
  Json json = Json::parse(R"({"a":[1]})");
  EXPECT_TRUE(json["b"].is_null());
  EXPECT_TRUE(json["a"][1].is_null());
  EXPECT_TRUE(json["a"]["x"].is_null());
  EXPECT_EQ(json.find("b"), nullptr);
}

TEST(ClientJson, WritesWhatItReads) {
  for (const char* text :
       {"null", "true", "-7", "1.5", "1e+300", R"("a\"\n\u0001")", "[]", "{}", R"([1,[2],{"a":null}])",
        R"({"z":1,"a":{"b":[true,false]}})", "9223372036854775807"})
    EXPECT_EQ(Json::parse(text).dump(), text);
  EXPECT_EQ(Json::parse("18446744073709551615").as_double(), 18446744073709551615.0);
}

TEST(ClientJson, WritesReadably) {
  Json json = Json::object({{"a", Json::array({1, 2})}, {"b", Json::object()}});
  EXPECT_EQ(json.dump(2), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

TEST(ClientJson, ComparesByValue) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_EQ(Json::parse(R"({"a":1,"b":2})"), Json::parse(R"({"b":2,"a":1})"));
  EXPECT_FALSE(Json(1) == Json("1"));
  EXPECT_FALSE(Json() == Json(false));
}

TEST(ClientJson, IsBuiltStepByStep) {
  Json json;
  json.set("list", Json().push("x").push(2)).set("list2", std::vector<std::string>{"a"}).set("n", 1.5);
  json.set("n", nullptr);
  EXPECT_EQ(json.dump(), R"({"list":["x",2],"list2":["a"],"n":null})");
  EXPECT_EQ(json.size(), 3U);
}

}  // namespace
}  // namespace atl::client
