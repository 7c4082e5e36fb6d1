#include "config/node_json.h"

#include <gtest/gtest.h>

namespace atl::config {
namespace {

std::string json_of(std::string_view yaml) {
  return to_json(Document::parse(yaml, "x.yaml")->root);
}

TEST(NodeJson, KeepsTypesAndOrder) {
  EXPECT_EQ(json_of("b: 1\na: [true, null, -2.5e3, x]\nc: {d: ''}\n"),
            R"({"b":1,"a":[true,null,-2.5e3,"x"],"c":{"d":""}})");
  EXPECT_EQ(json_of(""), "null");
}

TEST(NodeJson, WhatIsNoJsonNumberIsText) {
  EXPECT_EQ(json_of("[01, +1, .5, 1., 0x10, 1e, -, '12', \"true\", 0, -0, 10.25]"),
            R"(["01","+1",".5","1.","0x10","1e","-","12","true",0,-0,10.25])");
}

}  // namespace
}  // namespace atl::config
