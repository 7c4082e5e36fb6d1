#include "session/metered_connector.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "auth/denial.h"
#include "quota/book.h"

namespace atl::session {
namespace {

using quota::Quota;

template <class T>
Result<T> waited(Task<T> task) {
  boost::asio::io_context loop;
  std::optional<Result<T>> result;
  boost::asio::co_spawn(loop, std::move(task),
                        [&](std::exception_ptr, Result<T> value) { result.emplace(std::move(value)); });
  loop.run();
  return std::move(*result);
}

// The world: keeps what it was sent.
class World final : public egress::Connector {
 public:
  Task<std::unique_ptr<ByteStream>> connect(egress::Address, std::uint16_t) override {
    ++connections;
    std::unique_ptr<ByteStream> stream = std::make_unique<Stream>(*this);
    co_return stream;
  }
  Task<std::unique_ptr<ByteStream>> secure(std::unique_ptr<ByteStream> stream, std::string) override {
    co_return stream;
  }
  int connections = 0;
  std::string sent;

 private:
  class Stream final : public ByteStream {
   public:
    explicit Stream(World& world) : world_(world) {}
    Task<std::string> read() override { co_return std::string("answer"); }
    Task<void> write(std::string bytes) override {
      world_.sent += bytes;
      co_return Result<void>{};
    }
    Task<void> close_write() override { co_return Result<void>{}; }

   private:
    World& world_;
  };
};

TEST(MeteredConnector, WhatLeavesIsChargedUntilTheBudgetIsUsedUp) {
  auto store = *store::Store::open_in_memory();
  ManualClock clock;
  quota::QuotaBook book(*store, *quota::Quotas::parse(R"({"egress_bytes_per_day":10})"), clock);
  World world;
  auto metered = std::make_unique<MeteredConnector>(world, book, quota::Holder{"acme", "key"}, "ses");
  const egress::Address address = egress::Address::v4({192, 0, 2, 1});
  auto stream = waited(metered->connect(address, 80));
  ASSERT_TRUE(stream);
  EXPECT_TRUE(waited((*stream)->write("12345678")));
  EXPECT_EQ(*waited((*stream)->read()), "answer") << "what comes in is not counted";
  EXPECT_EQ(book.used_by_tenant("acme")[Quota::egress_bytes_per_day], 8U);
  EXPECT_TRUE(waited((*stream)->write("9012")));
  auto over = waited((*stream)->write("x"));
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code(), Code::resource_exhausted);
  EXPECT_TRUE(auth::retry_after_of(over.error()));
  EXPECT_EQ(world.sent, "123456789012");
  EXPECT_FALSE(waited(metered->connect(address, 80)));
  EXPECT_EQ(world.connections, 1) << "nobody is dialled any more";
  // A connection outlives what made it.
  metered.reset();
  clock.advance(std::chrono::hours(24));
  EXPECT_TRUE(waited((*stream)->write("next day")));
  EXPECT_TRUE(waited((*stream)->close_write()));
  EXPECT_EQ(book.used_by_key("key")[Quota::egress_bytes_per_day], 8U);
}

TEST(MeteredConnector, TlsGoesOverWhatIsCounted) {
  auto store = *store::Store::open_in_memory();
  ManualClock clock;
  quota::QuotaBook book(*store, {}, clock);
  World world;
  MeteredConnector metered(world, book, {"acme", ""}, "ses");
  auto bare = waited(metered.connect(egress::Address::v4({192, 0, 2, 1}), 443));
  auto secured = waited(metered.secure(std::move(*bare), "example.com"));
  ASSERT_TRUE(secured);
  ASSERT_TRUE(waited((*secured)->write("hello")));
  EXPECT_EQ(book.used_by_tenant("acme")[Quota::egress_bytes_per_day], 5U);
}

}  // namespace
}  // namespace atl::session
