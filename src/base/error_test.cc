#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>
#include <utility>
#include <vector>

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

TEST(Error, ErrnosThatMeanTheSameShareACode) {
  const std::pair<Code, std::vector<int>> rows[] = {
      {Code::already_exists, {EEXIST}},
      {Code::not_a_directory, {ENOTDIR}},
      {Code::is_a_directory, {EISDIR}},
      {Code::not_empty, {ENOTEMPTY}},
      {Code::loop, {ELOOP}},
      {Code::no_space, {ENOSPC, EDQUOT}},
      {Code::read_only, {EROFS}},
      {Code::too_large, {EFBIG, ENAMETOOLONG}},
      {Code::permission_denied, {EACCES, EPERM}},
      {Code::invalid_argument, {EINVAL, EXDEV}},
      {Code::unsupported, {ENOSYS, EOPNOTSUPP}},
      {Code::resource_exhausted, {EMFILE, ENFILE, ENOMEM}},
      {Code::unavailable, {EAGAIN, EBUSY, EPIPE, ECONNREFUSED, ECONNRESET}},
      {Code::deadline_exceeded, {ETIMEDOUT}},
      {Code::canceled, {ECANCELED}},
      {Code::internal, {EFAULT, 0, 9999}},
  };
  for (const auto& [code, numbers] : rows)
    for (const int number : numbers) EXPECT_EQ(errno_error(number, "x").code(), code) << number;
}

TEST(Error, CategoriesHaveTheWordsClientsActOn) {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(kLast); ++i)
    words.insert(to_string(row(static_cast<Code>(i)).category));
  EXPECT_EQ(words,
            (std::set<std::string_view>{"user", "retryable", "limit", "policy", "provider", "internal"}));
}

TEST(Error, NamesTheFieldAndKeepsEveryDetail) {
  auto error = Error(Code::invalid_argument, "must be positive").with_field("limits.memory_mb");
  EXPECT_EQ(error.field(), "limits.memory_mb");
  EXPECT_EQ(Error(Code::internal, "x").with_detail("inner").with_detail("outer").detail(), "outer: inner");
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
