#include "session/artifacts.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "os/directory_test.h"

namespace atl::session {
namespace {

class OutputKeeperTest : public testing::Test {
 protected:
  template <class T>
  Result<T> wait(Task<T> task) {
    std::optional<Result<T>> result;
    boost::asio::co_spawn(loop_, std::move(task), [&](std::exception_ptr thrown, Result<T> value) {
      EXPECT_EQ(thrown, nullptr);
      result.emplace(std::move(value));
    });
    loop_.run();
    loop_.restart();
    return std::move(*result);
  }
  std::string read(const std::string& digest) {
    auto reading = wait(blobs_->open_read(digest));
    std::string all;
    while (reading) {
      const auto piece = wait((*reading)->next());
      if (!piece || piece->empty()) break;
      all += *piece;
    }
    return all;
  }

  os::TestDirectory directory_;
  boost::asio::io_context loop_;
  std::unique_ptr<store::Blobs> blobs_ = std::move(*store::Blobs::open(directory_.path() + "/blobs"));
  ArtifactRoom room_{nullptr, {}};
  OutputKeeper keeper_{blobs_.get(), 10, 1 << 20, room_};
};

// A command ended, its record was written without waiting any longer for a reader that dawdles, and the
// reader reads on.
TEST_F(OutputKeeperTest, WhatComesAfterTheRecordIsNotKept) {
  ASSERT_TRUE(wait(keeper_.add("0123456789")));
  ASSERT_TRUE(wait(keeper_.add("abc")));
  const auto kept = wait(keeper_.finish("stdout"));
  ASSERT_TRUE(kept && *kept);
  EXPECT_EQ((*kept)->size_bytes, 13U);
  const auto late = wait(keeper_.add("too late"));
  EXPECT_TRUE(late) << late.error().message();
  EXPECT_EQ(read((*kept)->digest), "0123456789abc");
}

TEST_F(OutputKeeperTest, WhatComesAfterAShortTextMakesNoFile) {
  ASSERT_TRUE(wait(keeper_.add("short")));
  const auto kept = wait(keeper_.finish("stdout"));
  ASSERT_TRUE(kept);
  EXPECT_FALSE(*kept);
  EXPECT_TRUE(wait(keeper_.add(std::string(100, 'x'))));
  EXPECT_EQ(keeper_.text(), "short");
}

// The record is written while a piece is on its way to the disk.
TEST_F(OutputKeeperTest, TheRecordMayComeAtEveryWait) {
  for (int polls = 0; polls < 12; ++polls) {
    OutputKeeper keeper(blobs_.get(), 10, 1 << 20, room_);
    const std::string piece(100, 'x');
    const auto add = [](OutputKeeper& to, const std::string& bytes) -> boost::asio::awaitable<void> {
      const auto added = co_await to.add(bytes);
      EXPECT_TRUE(added) << added.error().message();
    };
    boost::asio::co_spawn(loop_, add(keeper, piece), boost::asio::detached);
    for (int poll = 0; poll < polls; ++poll) loop_.run_one_for(std::chrono::milliseconds(20));
    loop_.restart();
    const auto kept = wait(keeper.finish("stdout"));
    ASSERT_TRUE(kept) << kept.error().message();
    if (*kept) {
      EXPECT_EQ(read((*kept)->digest).size(), (*kept)->size_bytes) << polls;
    }
  }
}

}  // namespace
}  // namespace atl::session
