#include "auth/keys.h"

#include <fmt/format.h>
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

constexpr std::size_t kMost = 1000;  // in force, and kept of those that ended

TEST(Keys, ATenantHasAsManyAsItMayAndNoMoreIsKeptOfThoseThatEnded) {
  auto store = *store::Store::open_in_memory();
  Keys keys(*store);
  const auto row = [](std::size_t i, std::string tenant) {
    return store::KeyRow{.key_id = fmt::format("key_{:05}", i),
                         .tenant = std::move(tenant),
                         .role = "viewer",
                         .name = "n",
                         .hash = fmt::format("hash{}", i),
                         .prefix = "e2b_",
                         .created_at = from_unix_micros(static_cast<std::int64_t>(i))};
  };
  for (std::size_t i = 0; i < kMost; ++i) ASSERT_TRUE(wait(store->put_key(row(i, "full"))));
  ASSERT_TRUE(wait(keys.reload()));
  const auto refused = wait(keys.create("full", "more", ""));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::resource_exhausted);
  EXPECT_NE(refused.error().message().find("revoke"), std::string::npos);
  // Others have room of their own, and one that is revoked makes some.
  EXPECT_TRUE(wait(keys.create("other", "n", "")));
  ASSERT_TRUE(wait(keys.revoke("key_00000")));
  EXPECT_TRUE(wait(keys.create("full", "more", "")));
  // Those that ended: by revocation or by their time, the oldest go first.
  for (std::size_t i = 0; i < kMost + 5; ++i) {
    auto ended = row(10'000 + i, "other");
    (i % 2 == 0 ? ended.revoked_at : ended.expires_at) = from_unix_micros(static_cast<std::int64_t>(1 + i));
    ASSERT_TRUE(wait(store->put_key(ended)));
  }
  ASSERT_TRUE(wait(keys.create("other", "n", "")));
  std::vector<std::string> left;
  for (const store::KeyRow& one : *wait(store->list_keys()))
    if (one.tenant == "other" && one.key_id.starts_with("key_1")) left.push_back(one.key_id);
  ASSERT_EQ(left.size(), kMost);
  EXPECT_EQ(left.front(), "key_10005");
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

}  // namespace
}  // namespace atl::auth
