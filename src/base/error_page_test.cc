#include "base/error_page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace atl {
namespace {

// To write the table anew after a change: UPDATE_DOCS=1 build/tests/base_test --gtest_filter='ErrorPage.*'
TEST(ErrorPage, TheDocumentIsTheTable) {
  constexpr const char* kPath = "docs/errors.md";
  std::stringstream text;
  text << std::ifstream(kPath).rdbuf();
  const std::string page = text.str();
  const auto begin = page.find("| code |"), end = page.find("\n\n", begin);
  ASSERT_NE(begin, std::string::npos) << kPath << " is read from the top of the source tree";
  ASSERT_NE(end, std::string::npos);
  if (std::getenv("UPDATE_DOCS") != nullptr)
    std::ofstream(kPath) << page.substr(0, begin) << error_page() << page.substr(end + 1);
  else
    EXPECT_EQ(page.substr(begin, end + 1 - begin), error_page());
}

TEST(ErrorPage, EveryCodeHasAnAdvice) {
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i)
    EXPECT_FALSE(advice(static_cast<Code>(i)).empty()) << i;
}

}  // namespace
}  // namespace atl
