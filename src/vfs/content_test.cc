#include "vfs/content.h"

#include <gtest/gtest.h>

#include <random>

namespace atl::vfs {
namespace {

TEST(Content, IsEmptyByDefault) {
  Content none;
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.is_flat());
  EXPECT_EQ(none.flat(), "");
  EXPECT_EQ(none.str(), "");
  EXPECT_EQ(none.memory_bytes(), 0U);
  EXPECT_EQ(none, Content(""));
  char out[4];
  EXPECT_EQ(none.read(10, out), 0U);
}

TEST(Content, SharesUntilChanged) {
  Content a("hello");
  Content b = a;
  EXPECT_TRUE(a.same_as(b));
  EXPECT_EQ(a.flat().data(), b.flat().data());
  b.append(" world");
  EXPECT_EQ(a.str(), "hello");
  EXPECT_EQ(b.str(), "hello world");
  a = b;
  a.write(0, "J");
  EXPECT_EQ(a.str(), "Jello world");
  EXPECT_EQ(b.str(), "hello world");
}

TEST(Content, FillsGapsWithZeros) {
  Content a("ab");
  a.write(4, "cd");
  EXPECT_EQ(a.str(), std::string("ab\0\0cd", 6));
  a.resize(3);
  a.resize(5);
  EXPECT_EQ(a.str(), std::string("ab\0\0\0", 5));
  a.resize(0);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.substr(5, 3), "");
}

TEST(Content, SharesChunksOfLargeFiles) {
  Content a(std::string(10 * Content::kChunkBytes, 'x'));
  EXPECT_FALSE(a.is_flat());
  Content b = a;
  b.write(5 * Content::kChunkBytes + 7, "y");
  EXPECT_EQ(a.run(0).data(), b.run(0).data());
  EXPECT_NE(a.run(5 * Content::kChunkBytes).data(), b.run(5 * Content::kChunkBytes).data());
  EXPECT_NE(a, b);
  EXPECT_EQ(b.substr(5 * Content::kChunkBytes + 6, 3), "xyx");
  EXPECT_GT(a.memory_bytes(), 10 * Content::kChunkBytes);
}

// Random edits of a few contents that share history, against plain strings.
TEST(Content, BehavesLikeAString) {
  std::mt19937 random(7);
  std::vector<std::pair<Content, std::string>> pairs(4);
  for (int step = 0; step < 3000; ++step) {
    auto& [content, model] = pairs[random() % pairs.size()];
    std::size_t size = model.size();
    switch (random() % 5) {
      case 0: {
        std::string bytes(random() % (random() % 8 == 0 ? 200'000 : 300),
                          static_cast<char>('a' + random() % 26));
        std::size_t at = random() % (size + 100);
        content.write(at, bytes);
        if (!bytes.empty()) {
          if (model.size() < at + bytes.size()) model.resize(at + bytes.size());
          model.replace(at, bytes.size(), bytes);
        }
        break;
      }
      case 1: content.append("tail"), model += "tail"; break;
      case 2: {
        std::size_t to = random() % (size + size / 4 + 10);
        if (to > 400'000) to = 1000;
        content.resize(to);
        model.resize(to);
        break;
      }
      case 3: pairs[random() % pairs.size()] = std::pair(content, model); break;
      default: {
        std::size_t at = random() % (size + 10);
        ASSERT_EQ(content.substr(at, 1000), at < model.size() ? model.substr(at, 1000) : "");
      }
    }
    ASSERT_EQ(pairs[0].first.size(), pairs[0].second.size());
  }
  for (auto& [content, model] : pairs) EXPECT_EQ(content.str(), model);
}

}  // namespace
}  // namespace atl::vfs
