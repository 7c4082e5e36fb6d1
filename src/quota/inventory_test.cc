#include "quota/inventory.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "auth/denial.h"
#include "quota/book.h"

namespace atl::quota {
namespace {

constexpr std::uint64_t kMegabyte = 1U << 20;

class InventoryTest : public testing::Test {
 protected:
  InventoryTest() : inventory_(book_) {
    // Counting takes a while, as it does on a disk.
    inventory_.add(Quota::stored_mb, [this](std::string) -> Task<std::uint64_t> {
      const std::uint64_t seen = stored_;
      co_await boost::asio::post(loop_, boost::asio::use_awaitable);
      co_return seen;
    });
    inventory_.add(Quota::volumes, [this](std::string) -> Task<std::uint64_t> { co_return volumes_; });
    book_.set_tenant("t", *Quotas::parse(R"({"stored_mb":10,"volumes":2})"));
  }
  template <class T>
  Result<T> wait(Task<T> task) {
    std::optional<Result<T>> result;
    boost::asio::co_spawn(loop_, std::move(task),
                          [&](std::exception_ptr, Result<T> value) { result.emplace(std::move(value)); });
    loop_.restart();
    loop_.run();
    return std::move(*result);
  }
  // One that stores what it has room for.
  Task<void> put(std::uint64_t bytes) {
    const Holder holder{"t", ""};
    CO_TRY(const Reservation room, co_await inventory_.reserve(holder, bytes));
    co_await boost::asio::post(loop_, boost::asio::use_awaitable);
    stored_ += bytes;
    co_return Result<void>{};
  }

  boost::asio::io_context loop_;
  std::unique_ptr<store::Store> store_ = *store::Store::open_in_memory();
  ManualClock clock_;
  QuotaBook book_{*store_, {}, clock_};
  Inventory inventory_;
  std::uint64_t stored_ = 0, volumes_ = 0;
};

TEST_F(InventoryTest, OverItIsRefusedInTheQuotasUnit) {
  stored_ = 10 * kMegabyte - 100;
  auto over = wait(inventory_.reserve({"t", ""}, 101));
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code(), Code::resource_exhausted);
  ASSERT_FALSE(auth::facts_of(over.error()).empty());
  EXPECT_EQ(auth::facts_of(over.error())[0].value, "stored_mb");
  EXPECT_TRUE(wait(inventory_.reserve({"t", ""}, 100)));
  stored_ = 11 * kMegabyte;
  EXPECT_FALSE(wait(inventory_.reserve({"t", ""}, 0))) << "it is over already";
  EXPECT_EQ(wait(inventory_.reserve_up_to({"t", ""}, 5))->bytes(), 0U);
}

TEST_F(InventoryTest, NothingIsCountedWhereNobodyBounds) {
  inventory_.add(Quota::stored_mb, [](std::string) -> Task<std::uint64_t> {
    co_return fail(Code::internal, "nobody was to ask");
  });
  EXPECT_EQ(wait(inventory_.reserve({"free", ""}, 5))->bytes(), 5U);
  EXPECT_FALSE(wait(inventory_.reserve({"t", ""}, 5))) << "what cannot be counted is not let in";
}

TEST_F(InventoryTest, RoomIsHeldUntilItIsGivenBack) {
  {
    const auto held = wait(inventory_.reserve_up_to({"t", ""}, 12 * kMegabyte));
    ASSERT_TRUE(held);
    EXPECT_EQ(held->bytes(), 10 * kMegabyte);
    EXPECT_FALSE(wait(inventory_.reserve({"t", ""}, 1)));
    EXPECT_TRUE(wait(inventory_.reserve({"u", ""}, 1)));
  }
  EXPECT_TRUE(wait(inventory_.reserve({"t", ""}, 1)));
}

TEST_F(InventoryTest, PiecesToo) {
  volumes_ = 1;
  const auto second = wait(inventory_.reserve_one(Quota::volumes, {"t", ""}));
  EXPECT_TRUE(second);
  EXPECT_FALSE(wait(inventory_.reserve_one(Quota::volumes, {"t", ""})));
  EXPECT_EQ(*wait(inventory_.count(Quota::volumes, "t")), 1U);
}

// However many store at the same moment, they never have more together than they may, and room that is there
// is found.
TEST_F(InventoryTest, ManyAtOnceNeverGoOver) {
  int stored = 0, refused = 0;
  for (int i = 0; i < 40; ++i)
    boost::asio::co_spawn(loop_, put(kMegabyte / 2),
                          [&](std::exception_ptr, Result<void> done) { ++(done ? stored : refused); });
  loop_.restart();
  loop_.run();
  EXPECT_EQ(stored, 20);
  EXPECT_EQ(refused, 20);
  EXPECT_EQ(stored_, 10 * kMegabyte);
  stored_ -= kMegabyte;
  EXPECT_TRUE(wait(put(kMegabyte)));
  EXPECT_FALSE(wait(put(1)));
}

}  // namespace
}  // namespace atl::quota
