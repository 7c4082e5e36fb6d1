#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>

#include "base/result.h"

namespace atl {
namespace {

constexpr auto kLast = Code::internal;

TEST(Error, EveryCodeHasItsOwnRow) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(kLast); ++i) {
    const auto& r = row(static_cast<Code>(i));
    EXPECT_EQ(r.code, static_cast<Code>(i));
    EXPECT_TRUE(names.insert(r.name).second) << r.name << " stands twice";
    EXPECT_GE(r.http_status, 400);
    EXPECT_LT(r.http_status, 600);
    EXPECT_FALSE(r.connect_code.empty());
    EXPECT_NE(r.exit_status, 0);
  }
}

TEST(Error, ContextGoesInFront) {
  auto error = Error(Code::not_found, "no such file").context("read skill").context("create session");
  EXPECT_EQ(error.message(), "create session: read skill: no such file");
}

TEST(Error, DetailStaysOutOfTheMessage) {
  auto error = Error(Code::internal, "cannot open the store").with_detail("/var/lib/atoll/atoll.db");
  EXPECT_EQ(error.message().find("/var"), std::string::npos);
  EXPECT_EQ(error.detail(), "/var/lib/atoll/atoll.db");
}

TEST(Error, ErrnoIsMappedOnce) {
  EXPECT_EQ(errno_error(ENOENT, "open x").code(), Code::not_found);
  EXPECT_EQ(errno_error(ENOSPC, "write").code(), Code::no_space);
  EXPECT_EQ(errno_error(ENOENT, "open x").message(), "open x: No such file or directory");
}

Result<std::unique_ptr<int>> make(bool good) {
  if (!good) return fail(Code::conflict, "bad");
  return std::make_unique<int>(7);
}

Result<int> use(bool good) {
  auto value = TRY_CONTEXT("use", make(good));
  return *value;
}

TEST(Result, TryMovesOutTheValueOrReturnsTheError) {
  EXPECT_EQ(use(true).value(), 7);
  EXPECT_EQ(use(false).error().message(), "use: bad");
}

}  // namespace
}  // namespace atl
