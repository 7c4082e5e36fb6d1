#include "api/rest/body.h"

#include <gtest/gtest.h>

namespace atl::api::rest {
namespace {

TEST(Body, RefusesWhatItDoesNotKnow) {
  auto body = Body::parse(R"({"code":"1","colour":"red"})", {"code"});
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code(), Code::invalid_argument);
  EXPECT_EQ(body.error().field(), "colour");
}

TEST(Body, RefusesWhatIsNoObject) {
  for (const char* text : {"[]", "1", "\"x\"", "{", "{\"a\":1}x", "{\"a\":1,\"a\":2}"}) {
    EXPECT_FALSE(Body::parse(text, {"a"})) << text;
  }
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "{\"a\":";
  EXPECT_FALSE(Body::parse(deep, {"a"}));
}

TEST(Body, NamesTheFieldAtFault) {
  auto body = Body::parse(R"({"limits":{"memory_mb":"much"},"env":{"A":1},"argv":[1],"on":1})",
                          {"limits", "env", "argv", "on"});
  ASSERT_TRUE(body);
  auto limits = body->object("limits", {"memory_mb"});
  ASSERT_TRUE(limits);
  EXPECT_EQ((*limits)->number("memory_mb", 1, 10).error().field(), "limits.memory_mb");
  EXPECT_EQ(body->text_map("env").error().field(), "env.A");
  EXPECT_EQ(body->texts("argv").error().field(), "argv");
  EXPECT_EQ(body->boolean("on").error().field(), "on");
  EXPECT_EQ(body->object("limits", {"disk_mb"}).error().field(), "limits.memory_mb");
  EXPECT_EQ(body->required_text("nothing").error().field(), "nothing");
}

TEST(Body, NothingAndNullAreAbsent) {
  auto body = Body::parse("  \n", {"a"});
  ASSERT_TRUE(body);
  EXPECT_FALSE(body->has("a"));
  body = Body::parse(R"({"a":null})", {"a"});
  ASSERT_TRUE(body);
  EXPECT_EQ(*body->text("a"), std::nullopt);
}

TEST(Body, NumbersHaveARange) {
  auto body = Body::parse(R"({"a":5.5,"b":-1})", {"a", "b"});
  EXPECT_EQ(*body->number("a", 0, 10), 5.5);
  EXPECT_FALSE(body->number("b", 0, 10));
}

TEST(Body, Base64IsExact) {
  auto body = Body::parse("{}", {"a"});
  ASSERT_TRUE(body);
  EXPECT_EQ(*body->decoded("a", ""), "");
  EXPECT_EQ(*body->decoded("a", "aGk="), "hi");
  for (const char* text : {"aGk", "aGl=", "aGk==", "=", "a Gk=", "aGk=\n", "a-_=", "a"})
    EXPECT_EQ(body->decoded("a", text).error().field(), "a") << text;
}

TEST(Body, WholeNumbersAreWhole) {
  auto body = Body::parse(R"({"a":5.5,"b":5.0,"c":7,"d":1e300,"e":"5"})", {"a", "b", "c", "d", "e"});
  ASSERT_TRUE(body);
  EXPECT_EQ(body->whole_number("a", 1, 10).error().field(), "a");
  EXPECT_EQ(*body->whole_number("b", 1, 10), 5);
  EXPECT_EQ(*body->whole_number("c", 1, 10), 7);
  EXPECT_FALSE(body->whole_number("d", 1, 10));
  EXPECT_FALSE(body->whole_number("e", 1, 10));
  EXPECT_EQ(*body->whole_number("f", 1, 10), std::nullopt);
}

}  // namespace
}  // namespace atl::api::rest
