#include "sandbox/docker/home.h"

#include <gtest/gtest.h>

namespace atl::sandbox::docker {
namespace {

TEST(Home, IsThatOfTheUser) {
  const std::string text =
      "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:\nbad:x:7:7::relative:/bin/sh\nshort:x\n";
  EXPECT_EQ(home_in(text, "root"), "/root");
  EXPECT_EQ(home_in(text, "0"), "/root");
  EXPECT_EQ(home_in(text, "1000"), "/home/ann");
  EXPECT_EQ(home_in(text, "ann"), "/home/ann");
}

TEST(Home, WhoHasNoneBeginsAtTheTop) {
  EXPECT_EQ(home_in("", "root"), "/");
  EXPECT_EQ(home_in("root:x:0:0:root:/root:/bin/sh\n", "1234"), "/");
  EXPECT_EQ(home_in("bad:x:7:7::relative:/bin/sh\n", "bad"), "/") << "what is no path is none";
  EXPECT_EQ(home_in("short:x\n", "short"), "/");
}

}  // namespace
}  // namespace atl::sandbox::docker
