#include "quota/book.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <random>

#include "auth/denial.h"

namespace atl::quota {
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

std::string fact(const Error& error, std::string_view name) {
  for (const auth::Fact& one : auth::facts_of(error))
    if (one.name == name) return one.value;
  return "";
}

Claim session(const std::string& id, const std::string& tenant, const std::string& key = "",
              std::uint64_t memory = 0) {
  Claim claim{id, {tenant, key}, {}};
  claim.amounts[Quota::sessions] = 1;
  claim.amounts[Quota::memory_mb] = memory;
  return claim;
}

class QuotaBookTest : public testing::Test {
 protected:
  std::unique_ptr<store::Store> store_ = *store::Store::open_in_memory();
  ManualClock clock_;
  Quotas quotas(const std::string& json) { return *Quotas::parse(json); }
};

TEST(Quotas, RefuseWhatIsNone) {
  for (const char* json : {"[]", "{\"fish\":1}", R"({"sessions":-1})", R"({"sessions":1.5})",
                           R"({"sessions":"5"})", R"({"sessions":1e300})", "{"})
    EXPECT_FALSE(Quotas::parse(json)) << json;
  EXPECT_EQ(Quotas::parse(R"({"fish":1})").error().field(), "fish");
}

TEST(Quotas, KeepWhatIsUnset) {
  Quotas some = *Quotas::parse(R"({"sessions":5,"memory_mb":null})");
  EXPECT_EQ(some[Quota::sessions], 5U);
  EXPECT_FALSE(some[Quota::memory_mb]);
  EXPECT_EQ(*Quotas::parse(some.to_json()), some);
  Quotas defaults = *Quotas::parse(R"({"sessions":1,"memory_mb":7})");
  EXPECT_EQ(some.over(defaults)[Quota::sessions], 5U);
  EXPECT_EQ(some.over(defaults)[Quota::memory_mb], 7U);
}

TEST_F(QuotaBookTest, OverItIsRefusedWithItsFacts) {
  QuotaBook book(*store_, quotas(R"({"sessions":2})"), clock_);
  EXPECT_TRUE(book.admit(session("a", "t")));
  EXPECT_TRUE(book.admit(session("b", "t")));
  auto third = book.admit(session("c", "t"));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), Code::resource_exhausted);
  EXPECT_EQ(fact(third.error(), "quota"), "sessions");
  EXPECT_EQ(fact(third.error(), "limit"), "2");
  EXPECT_EQ(fact(third.error(), "used"), "2");
  EXPECT_EQ(fact(third.error(), "holder"), "tenant");
  EXPECT_TRUE(book.admit(session("x", "other")));
  book.release("a");
  book.release("a");
  book.release("never");
  EXPECT_TRUE(book.admit(session("c", "t")));
  EXPECT_EQ(book.used_by_tenant("t")[Quota::sessions], 2U);
}

TEST_F(QuotaBookTest, AKeyHasItsOwn) {
  QuotaBook book(*store_, {}, clock_);
  book.set_key("k", quotas(R"({"sessions":1})"));
  EXPECT_TRUE(book.admit(session("a", "t", "k")));
  auto second = book.admit(session("b", "t", "k"));
  ASSERT_FALSE(second);
  EXPECT_EQ(fact(second.error(), "holder"), "key");
  EXPECT_TRUE(book.admit(session("b", "t", "other")));
  EXPECT_EQ(book.used_by_key("k")[Quota::sessions], 1U);
}

TEST_F(QuotaBookTest, AClaimThatGrowsAsksForTheDifference) {
  QuotaBook book(*store_, quotas(R"({"memory_mb":100})"), clock_);
  EXPECT_TRUE(book.admit(session("a", "t", "", 60)));
  EXPECT_TRUE(book.admit(session("a", "t", "", 100)));
  EXPECT_FALSE(book.admit(session("a", "t", "", 101)));
  EXPECT_EQ(book.used_by_tenant("t")[Quota::memory_mb], 100U);
  EXPECT_TRUE(book.admit(session("a", "t", "", 10)));
  book.hold(session("b", "t", "", 500));  // it exists, whatever the quota says
  EXPECT_EQ(book.used_by_tenant("t")[Quota::memory_mb], 510U);
  EXPECT_TRUE(book.admit(session("a", "t", "", 5)));
}

TEST_F(QuotaBookTest, CreatesPerMinuteMakeRoomAgain) {
  QuotaBook book(*store_, quotas(R"({"creates_per_minute":2})"), clock_);
  const Holder holder{"t", "k"};
  EXPECT_TRUE(book.admit_create(holder));
  clock_.advance(std::chrono::seconds(20));
  EXPECT_TRUE(book.admit_create(holder));
  auto third = book.admit_create(holder);
  ASSERT_FALSE(third);
  EXPECT_EQ(auth::retry_after_of(third.error()), 40U);
  clock_.advance(std::chrono::seconds(41));
  EXPECT_TRUE(book.admit_create(holder));
  EXPECT_FALSE(book.admit_create(holder));
  book.set_tenant("t", quotas(R"({"creates_per_minute":0})"));
  EXPECT_FALSE(book.admit_create(holder));
}

TEST_F(QuotaBookTest, ADaysBudgetEndsWithTheDay) {
  QuotaBook book(*store_, quotas(R"({"cpu_seconds_per_day":10,"egress_bytes_per_day":100})"), clock_);
  const Holder holder{"t", "k"};
  EXPECT_TRUE(book.check(holder, Quota::cpu_seconds_per_day, 0, 0));
  book.charge(holder, "s", Quota::cpu_seconds_per_day, 9'999'999);
  EXPECT_TRUE(book.check(holder, Quota::cpu_seconds_per_day, 0, 0));
  book.charge(holder, "s", Quota::cpu_seconds_per_day, 1);
  auto over = book.check(holder, Quota::cpu_seconds_per_day, 0, 0);
  ASSERT_FALSE(over);
  ASSERT_TRUE(auth::retry_after_of(over.error()));
  EXPECT_LE(*auth::retry_after_of(over.error()), 86401U);
  book.charge(holder, "s", Quota::egress_bytes_per_day, 100);
  EXPECT_FALSE(book.check(holder, Quota::egress_bytes_per_day, 0, 0));
  clock_.advance(std::chrono::hours(24));
  EXPECT_TRUE(book.check(holder, Quota::cpu_seconds_per_day, 0, 0));
  EXPECT_TRUE(book.check(holder, Quota::egress_bytes_per_day, 0, 0));
}

TEST_F(QuotaBookTest, WhatWasConsumedSurvivesARestart) {
  const Holder holder{"t", "k"};
  {
    QuotaBook book(*store_, {}, clock_);
    book.charge(holder, "s", Quota::egress_bytes_per_day, 70);
    book.charge(holder, "s", Quota::egress_bytes_per_day, 30);
    ASSERT_TRUE(wait(book.save()));
    ASSERT_TRUE(wait(book.save()));
  }
  store::RecordRow record;
  record.record_id = "exe_1";
  record.session_id = "s";
  record.tenant = "t";
  record.key_id = "k";
  record.status = "admitted";
  record.admitted_at = clock_.now();
  ASSERT_TRUE(wait(store_->admit(record)));
  record.status = "success";
  record.finished_at = clock_.now();
  record.usage = R"({"cpu_time_us":5000000,"wall_time_us":7000000})";
  ASSERT_TRUE(wait(store_->finish(record, {})));
  QuotaBook book(*store_, quotas(R"({"cpu_seconds_per_day":5,"egress_bytes_per_day":101})"), clock_);
  ASSERT_TRUE(wait(book.start()));
  EXPECT_EQ(book.used_by_tenant("t")[Quota::cpu_seconds_per_day], 5U);
  EXPECT_EQ(book.used_by_key("k")[Quota::egress_bytes_per_day], 100U);
  EXPECT_FALSE(book.check(holder, Quota::cpu_seconds_per_day, 0, 0));
  EXPECT_TRUE(book.check(holder, Quota::egress_bytes_per_day, 0, 0));
  store::UsageFilter filter;
  filter.by_session = true;
  const auto rows = *wait(store_->list_usage(filter));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].executions, 1);
  EXPECT_EQ(rows[0].wall_us, 7'000'000);
  EXPECT_EQ(rows[0].egress_bytes, 100);
}

TEST_F(QuotaBookTest, OldUsageGoes) {
  QuotaBook book(*store_, {}, clock_);
  book.charge({"t", "k"}, "s", Quota::egress_bytes_per_day, 5);
  ASSERT_TRUE(wait(book.save()));
  clock_.advance(std::chrono::hours(24 * kKeptDays));
  ASSERT_TRUE(wait(book.save()));
  EXPECT_EQ(wait(store_->list_usage({}))->size(), 1U);
  clock_.advance(std::chrono::hours(24));
  ASSERT_TRUE(wait(book.save()));
  EXPECT_TRUE(wait(store_->list_usage({}))->empty());
}

TEST_F(QuotaBookTest, CountedElsewhereIsCheckedOnly) {
  QuotaBook book(*store_, quotas(R"({"volumes":2})"), clock_);
  EXPECT_TRUE(book.check({"t", ""}, Quota::volumes, 1, 1));
  EXPECT_FALSE(book.check({"t", ""}, Quota::volumes, 2, 1));
  EXPECT_TRUE(book.check({"t", ""}, Quota::templates, 1000, 1));
}

TEST(Quotas, RatesThatMakeNoSenseAreRefused) {
  const auto field = [](const char* json, const Quotas& defaults) {
    auto checked = Quotas::parse(json)->check(defaults);
    return checked ? std::string() : checked.error().field();
  };
  Quotas rate;
  rate[Quota::requests_per_second] = 5;
  EXPECT_EQ(field(R"({"requests_per_second":0})", {}), "requests_per_second");
  EXPECT_EQ(field(R"({"requests_per_second":1,"requests_burst":0})", {}), "requests_burst");
  EXPECT_EQ(field(R"({"requests_burst":7})", {}), "requests_burst");
  EXPECT_EQ(field(R"({"requests_burst":7})", rate), "");
  EXPECT_EQ(field(R"({"sessions":0})", {}), "");
}

TEST_F(QuotaBookTest, CallsAreCountedForKeyAndTenant) {
  Quotas of_keys = quotas(R"({"requests_per_second":1,"requests_burst":3})");
  QuotaBook book(*store_, {}, clock_, of_keys);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(book.admit_call({"t", "k"}));
  auto fourth = book.admit_call({"t", "k"});
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().code(), Code::resource_exhausted);
  EXPECT_EQ(fact(fourth.error(), "quota"), "requests_per_second");
  EXPECT_EQ(fact(fourth.error(), "holder"), "key");
  EXPECT_EQ(auth::retry_after_of(fourth.error()), 1U);
  EXPECT_TRUE(book.admit_call({"t", "other"})) << "each key for itself";
  book.set_key("k", quotas(R"({"requests_per_second":100,"requests_burst":100})"));
  clock_.advance(std::chrono::seconds(1));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(book.admit_call({"t", "k"})) << "its own over the default";
  EXPECT_EQ(book.of_key("k")[Quota::requests_per_second], 100U);
  EXPECT_EQ(book.of_key("other")[Quota::requests_burst], 3U);

  book.set_tenant("t", quotas(R"({"requests_per_second":1,"requests_burst":2})"));
  EXPECT_TRUE(book.admit_call({"t", "a"}));
  EXPECT_TRUE(book.admit_call({"t", "b"}));
  auto third = book.admit_call({"t", "c"});
  ASSERT_FALSE(third);
  EXPECT_EQ(fact(third.error(), "holder"), "tenant");
  EXPECT_TRUE(book.admit_call({"", "box"})) << "calls that nobody proved are not the tenant's";
  // Refused by the tenant's quota, the key has lost nothing.
  book.set_tenant("t", {});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(book.admit_call({"t", "c"}));
  EXPECT_FALSE(book.admit_call({"t", "c"}));
}

TEST_F(QuotaBookTest, WhatIsUnderWayCountsAgainstTheDay) {
  QuotaBook book(*store_, quotas(R"({"cpu_seconds_per_day":10})"), clock_);
  const Holder holder{"t", "k"};
  EXPECT_FALSE(QuotaBook(*store_, {}, clock_).cpu_left(holder)) << "nobody bounds it";
  Claim one{"one", holder, {}}, two{"two", holder, {}};
  one.amounts[Quota::executions] = two.amounts[Quota::executions] = 1;
  ASSERT_TRUE(book.admit(one));
  ASSERT_TRUE(book.admit(two));
  book.note_cpu("one", std::chrono::seconds(3));
  book.note_cpu("two", std::chrono::seconds(2));
  book.note_cpu("one", std::chrono::seconds(4));
  book.note_cpu("never", std::chrono::seconds(100));
  ASSERT_TRUE(book.cpu_left(holder));
  EXPECT_EQ(book.cpu_left(holder)->time, std::chrono::seconds(4));
  EXPECT_EQ(book.cpu_left(holder)->executions, 2U);
  EXPECT_EQ(book.used_by_tenant("t")[Quota::cpu_seconds_per_day], 6U);
  // Its end takes the place of what was noted.
  book.release("one");
  book.charge(holder, "s", Quota::cpu_seconds_per_day, 5'000'000);
  EXPECT_EQ(book.cpu_left(holder)->time, std::chrono::seconds(3));
  book.note_cpu("two", std::chrono::seconds(9));
  EXPECT_EQ(book.cpu_left(holder)->time, std::chrono::seconds(0));
  EXPECT_FALSE(book.check(holder, Quota::cpu_seconds_per_day, 0, 0));
  book.release("two");
  EXPECT_EQ(book.cpu_left(holder)->time, std::chrono::seconds(5));
  book.set_key("k", quotas(R"({"cpu_seconds_per_day":6})"));
  EXPECT_EQ(book.cpu_left(holder)->time, std::chrono::seconds(1)) << "the least of both";
}

TEST_F(QuotaBookTest, TheLeastOfTenantAndKeyIsTheLimit) {
  QuotaBook book(*store_, quotas(R"({"stored_mb":10})"), clock_);
  EXPECT_EQ(book.limit({"t", "k"}, Quota::stored_mb), 10U);
  book.set_key("k", quotas(R"({"stored_mb":3})"));
  EXPECT_EQ(book.limit({"t", "k"}, Quota::stored_mb), 3U);
  EXPECT_EQ(book.limit({"t", ""}, Quota::stored_mb), 10U);
  EXPECT_FALSE(book.limit({"t", "k"}, Quota::volumes));
}

// Whatever comes and goes: never over, and nothing is left when all is given back.
TEST_F(QuotaBookTest, RandomClaimsNeverExceedAndNeverStick) {
  QuotaBook book(*store_, quotas(R"({"sessions":7,"memory_mb":300})"), clock_);
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::string id = std::to_string(random() % 40), tenant = random() % 2 == 0 ? "a" : "b";
    if (random() % 3 == 0) {
      book.release(tenant + id);
    } else {
      (void)book.admit(session(tenant + id, tenant, "k" + tenant, random() % 100));
    }
    for (const char* one : {"a", "b"}) {
      ASSERT_LE(book.used_by_tenant(one)[Quota::sessions], 7U);
      ASSERT_LE(book.used_by_tenant(one)[Quota::memory_mb], 300U);
    }
  }
  for (const char* tenant : {"a", "b"})
    for (int id = 0; id < 40; ++id) book.release(tenant + std::to_string(id));
  EXPECT_EQ(book.claims(), 0U);
  for (const char* tenant : {"a", "b"}) EXPECT_TRUE(book.used_by_tenant(tenant).empty());
}

}  // namespace
}  // namespace atl::quota
