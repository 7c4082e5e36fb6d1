#include "sandbox/docker/relay.h"

#include <gtest/gtest.h>

namespace atl::sandbox::docker {
namespace {

std::string block(char stream, const std::string& payload) {
  std::string bytes = {
      stream, 0, 0, 0, 0, 0, static_cast<char>(payload.size() >> 8), static_cast<char>(payload.size())};
  return bytes + payload;
}

std::string frame(guest::Type type, const std::string& payload, std::uint32_t channel = 0) {
  const guest::Header header{static_cast<std::uint32_t>(payload.size()), channel,
                             static_cast<std::uint16_t>(type), 0};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + payload;
}

TEST(BlockReaderTest, RefusesWhatIsNoBlock) {
  BlockReader reader;
  std::string out;
  EXPECT_FALSE(reader.feed("HTTP/1.1 500", out));
  EXPECT_TRUE(out.empty());
}

TEST(BlockReaderTest, GivesStandardOutputInAnyPieces) {
  const std::string all = block(1, "one") + block(2, "error") + block(1, "two");
  for (std::size_t size = 1; size <= all.size(); ++size) {
    BlockReader reader;
    std::string out;
    for (std::size_t at = 0; at < all.size(); at += size)
      ASSERT_TRUE(reader.feed(std::string_view(all).substr(at, size), out));
    EXPECT_EQ(out, "onetwo") << size;
  }
}

TEST(FrameFilterTest, RefusesAFrameThatIsTooLong) {
  FrameFilter filter;
  std::string out;
  const guest::Header header{guest::kFrameMax + 1, 0, 0, 0};
  EXPECT_FALSE(filter.feed({reinterpret_cast<const char*>(&header), sizeof header}, out));
}

TEST(FrameFilterTest, LeavesOutWhatWasMeantForAnotherHost) {
  const std::string before = frame(guest::Type::reply, "for the old one", 7),
                    hello = frame(guest::Type::hello, "hello hello!"),
                    after = frame(guest::Type::reply, "for the new one", 1);
  for (std::size_t cut = 0; cut <= before.size(); ++cut) {
    FrameFilter filter;
    std::string out;
    ASSERT_TRUE(filter.feed(std::string_view(before).substr(0, cut), out));
    filter.skip_to_hello();
    out.clear();
    const std::string rest = before.substr(cut) + before + hello + hello + after;
    for (const char c : rest) ASSERT_TRUE(filter.feed(std::string_view(&c, 1), out));
    EXPECT_EQ(out, hello + after) << cut;
  }
}

TEST(FrameCollectorTest, PassesOnWholeFramesOnly) {
  const std::string one = frame(guest::Type::start, "request", 1), two = frame(guest::Type::close, "", 1);
  FrameCollector collector;
  std::string out;
  const std::string all = one + two;
  for (std::size_t at = 0; at + 1 < all.size(); ++at)
    ASSERT_TRUE(collector.feed(std::string_view(all).substr(at, 1), out));
  EXPECT_EQ(out, one);
  ASSERT_TRUE(collector.feed(std::string_view(all).substr(all.size() - 1), out));
  EXPECT_EQ(out, all);
  const guest::Header header{guest::kFrameMax + 1, 0, 0, 0};
  EXPECT_FALSE(collector.feed({reinterpret_cast<const char*>(&header), sizeof header}, out));
}

}  // namespace
}  // namespace atl::sandbox::docker
