#include "api/http/byte_range.h"

#include <gtest/gtest.h>

namespace atl::api::http {
namespace {

std::string shown(std::string_view header, std::uint64_t size) {
  const RequestedRange range = parse_range(header, size);
  if (const auto* part = std::get_if<ByteRange>(&range)) return content_range(*part, size);
  return std::holds_alternative<Unsatisfiable>(range) ? unsatisfied_range(size) : "whole";
}

TEST(ByteRangeTest, WhatCannotBeSatisfied) {
  for (const char* header : {"bytes=10-", "bytes=10-12", "bytes=5-2", "bytes=-0"})
    EXPECT_EQ(shown(header, 10), "bytes */10") << header;
  for (const char* header : {"bytes=0-", "bytes=-5", "bytes=0-0"})
    EXPECT_EQ(shown(header, 0), "bytes */0") << header;
}

TEST(ByteRangeTest, WhatCountsAsAbsent) {
  for (const char* header : {"", "bytes", "bytes=", "bytes=-", "bytes=x", "bytes=x-y", "lines=1-2",
                             "bytes=1-2,3-4", "bytes=18446744073709551616-"})
    EXPECT_EQ(shown(header, 10), "whole") << header;
}

TEST(ByteRangeTest, Parts) {
  EXPECT_EQ(shown("bytes=0-0", 10), "bytes 0-0/10");
  EXPECT_EQ(shown("bytes=2-4", 10), "bytes 2-4/10");
  EXPECT_EQ(shown("bytes=2-", 10), "bytes 2-9/10");
  EXPECT_EQ(shown("bytes=2-99", 10), "bytes 2-9/10");
  EXPECT_EQ(shown("bytes=-3", 10), "bytes 7-9/10");
  EXPECT_EQ(shown("bytes=-99", 10), "bytes 0-9/10");
}

}  // namespace
}  // namespace atl::api::http
