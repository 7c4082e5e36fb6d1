#include "auth/keys.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace atl::auth {
namespace {

template <class T>
Result<T> wait(Task<T> task) {
  boost::asio::io_context loop;
  std::optional<Result<T>> result;
  boost::asio::co_spawn(loop, std::move(task),
                        [&](std::exception_ptr, Result<T> value) { result.emplace(std::move(value)); });
  loop.run();
  return std::move(*result);
}

TEST(Keys, HaveTheFormThatClientsAccept) {
  const std::string key = new_key();
  EXPECT_EQ(key.size(), 44U);
  EXPECT_TRUE(is_key(key));
  EXPECT_FALSE(is_key("e2b_"));
  EXPECT_FALSE(is_key("e2b_ABCDEF0123"));
  EXPECT_FALSE(is_key("sk_0123456789"));
  EXPECT_NE(new_key(), new_key());
}

TEST(Keys, AWrongKeyIsRefusedAndARevokedOneToo) {
  auto store = *store::Store::open_in_memory();
  Keys keys(*store);
  EXPECT_EQ(keys.check("").error().code(), Code::unauthenticated);
  auto created = wait(keys.create("default", "first", ""));
  ASSERT_TRUE(created);
  EXPECT_EQ(keys.check(created->key)->tenant, "default");
  EXPECT_EQ(keys.check(created->key + "0").error().code(), Code::unauthenticated);
  EXPECT_EQ(keys.check(created->row.hash).error().code(), Code::unauthenticated);
  ASSERT_TRUE(wait(keys.revoke(created->row.key_id)));
  EXPECT_EQ(keys.check(created->key).error().code(), Code::unauthenticated);
  EXPECT_EQ(wait(keys.revoke(created->row.key_id)).error().code(), Code::not_found);
  EXPECT_EQ(wait(keys.create("default", "again", created->key)).error().code(), Code::conflict);
}

TEST(Keys, AreStoredHashedOnly) {
  auto store = *store::Store::open_in_memory();
  Keys keys(*store);
  const std::string key = "e2b_00112233445566778899";
  ASSERT_TRUE(wait(keys.create("default", "preset", key)));
  auto rows = *wait(store->list_keys());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].hash.find("00112233445566778899"), std::string::npos);
  EXPECT_EQ(rows[0].prefix, "e2b_00112233");
}

TEST(Keys, PresettingTheSameKeyAgainChangesNothing) {
  auto store = *store::Store::open_in_memory();
  Keys keys(*store);
  const std::string key = "e2b_00112233445566778899";
  auto first = *wait(keys.create("default", "preset", key));
  auto second = *wait(keys.create("default", "preset", key));
  EXPECT_EQ(first.row.key_id, second.row.key_id);
  Keys other(*store);
  EXPECT_FALSE(other.check(key));
  ASSERT_TRUE(wait(other.reload()));
  EXPECT_EQ(other.check(key)->key_id, first.row.key_id);
}

TEST(RateLimiter, AdmitsABurstThenTheRateEachKeyForItself) {
  ManualClock clock;
  RateLimiter limiter({.per_second = 10, .burst = 1000}, clock);
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(limiter.take("a"));
  auto wait_for = limiter.take("a");
  ASSERT_TRUE(wait_for);
  EXPECT_EQ(wait_for->count(), 100);
  EXPECT_FALSE(limiter.take("b"));
  clock.advance(std::chrono::milliseconds(100));
  EXPECT_FALSE(limiter.take("a"));
  EXPECT_TRUE(limiter.take("a"));
}

TEST(RateLimiter, WithoutARateThereIsNoLimit) {
  ManualClock clock;
  RateLimiter limiter({}, clock);
  for (int i = 0; i < 100'000; ++i) ASSERT_FALSE(limiter.take("a"));
  EXPECT_EQ(limiter.buckets(), 0U);
}

TEST(RateLimiter, ARateAloneBringsFiveSecondsOfBurst) {
  ManualClock clock;
  RateLimiter limiter({.per_second = 2}, clock);
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(limiter.take("a"));
  EXPECT_EQ(limiter.take("a")->count(), 500);
}

TEST(RateLimiter, ForgetsWhoHasBeenQuiet) {
  ManualClock clock;
  RateLimiter limiter({.per_second = 1, .burst = 2}, clock);
  for (int i = 0; i < 1024; ++i) ASSERT_FALSE(limiter.take(std::to_string(i)));
  clock.advance(std::chrono::milliseconds(500));
  EXPECT_FALSE(limiter.take("late"));
  EXPECT_GT(limiter.buckets(), 1024U);  // none is full yet: whoever waits is not let in early
  clock.advance(std::chrono::seconds(5));
  for (int i = 0; i < 1100; ++i) ASSERT_FALSE(limiter.take("again" + std::to_string(i)));
  EXPECT_LT(limiter.buckets(), 1200U);
}

}  // namespace
}  // namespace atl::auth
