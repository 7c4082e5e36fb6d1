#include "store/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "store/blobs.h"
#include "store/harness_test.h"
#include "store/page_bytes.h"
#include "store/schema.h"

namespace atl::store {
namespace {

namespace asio = boost::asio;

class OnDiskAndInMemory : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto opened = GetParam() ? Store::open(folder_.path()) : Store::open_in_memory();
    ASSERT_TRUE(opened) << opened.error().message();
    store_ = std::move(*opened);
  }
  Folder folder_;
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Store, OnDiskAndInMemory, testing::Bool());

// Looking through much history for a word takes long; whoever asks for something else is served meanwhile.
TEST(Store, WhoLooksThroughMuchHoldsUpNoOther) {
  const Folder folder;
  const auto store = *Store::open(folder.path());
  for (int i = 0; i < 60; ++i) {
    RecordRow row = record("rec_" + std::to_string(i));
    row.code = std::string(200'000, 'x');
    ASSERT_TRUE(wait(store->admit(row)));
  }
  DocumentRow kept{.kind = "volume", .tenant = "other", .id = "v", .name = "v"};
  ASSERT_TRUE(wait(store->put_document(kept)));
  constexpr int kSearches = 60;
  int done = 0, done_before = kSearches;
  boost::asio::io_context& loop = test_loop();
  const auto ask = [&]() -> boost::asio::awaitable<void> {
    auto found = store->get_document("volume", "other", "v");
    EXPECT_TRUE(co_await std::move(found));
    done_before = done;
  };
  // Asked when all of them are on their way.
  const auto search = [&]() -> boost::asio::awaitable<void> {
    auto found = store->list_records({.tenant = "default", .text = "nowhere"});
    EXPECT_TRUE(co_await std::move(found));
    if (++done == 1) boost::asio::co_spawn(loop, ask(), boost::asio::detached);
  };
  for (int i = 0; i < kSearches; ++i) boost::asio::co_spawn(loop, search(), boost::asio::detached);
  loop.restart();
  loop.run();
  EXPECT_EQ(done, kSearches);
  EXPECT_LT(done_before, kSearches / 2) << "it waited for its turn behind them";
}

TEST_P(OnDiskAndInMemory, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(wait(store_->get_session("ses_x")).error().code(), Code::not_found);
  EXPECT_EQ(wait(store_->get_record("default", "exe_x")).error().code(), Code::not_found);
  EXPECT_EQ(wait(store_->get_snapshot("default", "snp_x")).error().code(), Code::not_found);
  EXPECT_EQ(wait(store_->get_document("template", "default", "x")).error().code(), Code::not_found);
  EXPECT_FALSE(*wait(store_->revoke_key("key_x", WallTime())));
  EXPECT_EQ(wait(store_->finish(record("exe_x"), {})).error().code(), Code::not_found);
}

TEST_P(OnDiskAndInMemory, ASessionIsFoundByBothItsIds) {
  ASSERT_TRUE(wait(store_->put_session(session("abc"))));
  EXPECT_EQ(wait(store_->get_session("ses_abc"))->sandbox_id, "iabc");
  EXPECT_EQ(wait(store_->get_session("iabc"))->session_id, "ses_abc");
}

TEST_P(OnDiskAndInMemory, PuttingAgainChangesTheSession) {
  SessionRow row = session("a");
  ASSERT_TRUE(wait(store_->put_session(row)));
  row.state = "stopped";
  row.ended_at = from_unix_micros(9);
  ASSERT_TRUE(wait(store_->put_session(row)));
  auto got = *wait(store_->get_session("ses_a"));
  EXPECT_EQ(got.state, "stopped");
  EXPECT_EQ(unix_micros(*got.ended_at), 9);
  EXPECT_EQ(wait(store_->list_sessions({.tenant = "default"}))->items.size(), 1U);
}

TEST_P(OnDiskAndInMemory, PagesMeetWithoutGapOrOverlap) {
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(wait(store_->put_session(session(std::to_string(i)))));
  ASSERT_TRUE(wait(store_->put_session(session("other", "another"))));
  for (bool newest_first : {true, false}) {
    SessionFilter filter{.tenant = "default", .newest_first = newest_first, .limit = 10};
    std::vector<std::string> seen;
    while (true) {
      auto page = *wait(store_->list_sessions(filter));
      for (auto& item : page.items) seen.push_back(item.sandbox_id);
      if (!page.next) break;
      filter.after = page.next;
    }
    ASSERT_EQ(seen.size(), 25U);
    EXPECT_EQ(seen.front(), newest_first ? "i24" : "i0");
    EXPECT_EQ(seen.back(), newest_first ? "i0" : "i24");
  }
}

TEST_P(OnDiskAndInMemory, FiltersByMetadataStateAndTime) {
  SessionRow row = session("a");
  row.metadata = R"({"k y":"v&1","user":"ann"})";
  ASSERT_TRUE(wait(store_->put_session(row)));
  row = session("b");
  row.state = "paused";
  row.created_at = from_unix_micros(50);
  ASSERT_TRUE(wait(store_->put_session(row)));
  const auto count = [&](SessionFilter filter) {
    filter.tenant = "default";
    auto page = wait(store_->list_sessions(filter));
    EXPECT_TRUE(page) << page.error().message();
    return page ? page->items.size() : 99;
  };
  EXPECT_EQ(count({.metadata = {{"k y", "v&1"}}}), 1U);
  EXPECT_EQ(count({.metadata = {{"k y", "v&1"}, {"user", "ann"}}}), 1U);
  EXPECT_EQ(count({.metadata = {{"k y", "v&1"}, {"user", "bob"}}}), 0U);
  EXPECT_EQ(count({.states = {"paused"}}), 1U);
  EXPECT_EQ(count({.states = {"paused", "running"}}), 2U);
  EXPECT_EQ(count({.created_after = from_unix_micros(1'000'000)}), 1U);
}

TEST_P(OnDiskAndInMemory, ARecordIsAdmittedOnceAndFinishedOnce) {
  ASSERT_TRUE(wait(store_->admit(record("exe_1"))));
  EXPECT_EQ(wait(store_->admit(record("exe_1"))).error().code(), Code::already_exists);
  EXPECT_EQ(wait(store_->get_record("default", "exe_1"))->status, "admitted");
  RecordRow end = record("exe_1");
  end.status = "success";
  end.finished_at = from_unix_micros(6'000'000);
  end.out = std::string("a\0b", 3);
  ASSERT_TRUE(wait(
      store_->finish(end, {{"d1", "ses_a", "default", "exe_1", "/home/user/output/x", "text/plain", 3}})));
  EXPECT_EQ(wait(store_->finish(end, {})).error().code(), Code::already_exists);
  auto got = *wait(store_->get_record("default", "exe_1"));
  EXPECT_EQ(got.status, "success");
  EXPECT_EQ(got.out, end.out);
  EXPECT_EQ(wait(store_->get_record("another", "exe_1")).error().code(), Code::not_found);
  EXPECT_EQ(wait(store_->list_artifacts("ses_a"))->size(), 1U);
  EXPECT_EQ(wait(store_->get_artifact("another", "d1")).error().code(), Code::not_found);
  EXPECT_TRUE(wait(store_->get_artifact("default", "d1")));
}

TEST_P(OnDiskAndInMemory, WhatWasAdmittedAndNeverFinishedIsInterrupted) {
  ASSERT_TRUE(wait(store_->admit(record("exe_1"))));
  ASSERT_TRUE(wait(store_->admit(record("exe_2"))));
  RecordRow denied = record("exe_3");
  denied.status = "denied";
  ASSERT_TRUE(wait(store_->admit(denied)));
  RecordRow end = record("exe_2");
  end.status = "success";
  end.finished_at = from_unix_micros(7);
  ASSERT_TRUE(wait(store_->finish(end, {})));
  EXPECT_EQ(*wait(store_->interrupt_unfinished(from_unix_micros(8), "restart", {})), 1);
  EXPECT_EQ(wait(store_->get_record("default", "exe_1"))->status, "interrupted");
  EXPECT_EQ(wait(store_->get_record("default", "exe_2"))->status, "success");
  EXPECT_EQ(wait(store_->get_record("default", "exe_3"))->status, "denied");
}

TEST_P(OnDiskAndInMemory, HistoryIsFoundByTextStatusAndSession) {
  ASSERT_TRUE(wait(store_->admit(record("exe_1"))));
  ASSERT_TRUE(wait(store_->admit(record("exe_2", "ses_b"))));
  const auto ids = [&](RecordFilter filter) {
    filter.tenant = "default";
    std::string joined;
    const auto page = *wait(store_->list_records(filter));
    for (auto& item : page.items) joined += item.record_id + " ";
    return joined;
  };
  EXPECT_EQ(ids({}), "exe_2 exe_1 ");
  EXPECT_EQ(ids({.session_id = "ses_b"}), "exe_2 ");
  EXPECT_EQ(ids({.text = "exe_1"}), "exe_1 ");
  EXPECT_EQ(ids({.statuses = {"success"}}), "");
  EXPECT_EQ(ids({.from = from_unix_micros(6'000'000)}), "");
  EXPECT_EQ(ids({.newest_first = false, .limit = 1}), "exe_1 ");
}

TEST_P(OnDiskAndInMemory, APageEndsWithItsBytesToo) {
  for (int i = 0; i < 4; ++i) {
    RecordRow row = record("exe_" + std::to_string(i));
    row.code = std::string(kPageBytes * 2 / 3, 'x');
    ASSERT_TRUE(wait(store_->admit(row)));
  }
  RecordFilter filter{.tenant = "default", .newest_first = false, .limit = 100};
  const auto first = *wait(store_->list_records(filter));
  ASSERT_EQ(first.items.size(), 2U);
  ASSERT_TRUE(first.next);
  filter.after = first.next;
  const auto rest = *wait(store_->list_records(filter));
  ASSERT_EQ(rest.items.size(), 2U);
  EXPECT_EQ(rest.items.front().record_id, "exe_2");
  EXPECT_FALSE(rest.next);
}

TEST_P(OnDiskAndInMemory, RetentionTakesTheOldestAndNeverTheUnfinished) {
  for (int i = 0; i < 10; ++i) {
    RecordRow row = record("exe_" + std::to_string(i));
    row.admitted_at = from_unix_micros(i);
    row.code.assign(1000, 'x');
    ASSERT_TRUE(wait(store_->admit(row)));
    row.status = "success";
    row.finished_at = from_unix_micros(i);
    if (i == 0) continue;
    ASSERT_TRUE(wait(store_->finish(row, {})));
  }
  EXPECT_EQ(*wait(store_->remove_records(from_unix_micros(3), 1 << 30)), 2);
  EXPECT_EQ(*wait(store_->remove_records(WallTime(), 5 * 1512)), 2);
  EXPECT_EQ(wait(store_->list_records({.tenant = "default"}))->items.size(), 6U);
  EXPECT_EQ(wait(store_->get_record("default", "exe_0"))->status, "admitted");
}

// A tenant that writes much pushes out its own history, nobody else's.
TEST_P(OnDiskAndInMemory, HistoryIsTrimmedWithinATenant) {
  RecordRow quiet = record("exe_quiet");
  quiet.tenant = "quiet";
  ASSERT_TRUE(wait(store_->admit(quiet)));
  ASSERT_TRUE(wait(store_->finish(ended(quiet), {})));
  for (int i = 0; i < 10; ++i) {
    RecordRow loud = record("exe_" + std::to_string(i));
    loud.tenant = "loud";
    ASSERT_TRUE(wait(store_->admit(loud)));
    loud = ended(loud);
    loud.out = std::string(1000, 'x');
    ASSERT_TRUE(wait(store_->finish(loud, {})));
  }
  EXPECT_GT(*wait(store_->remove_records(WallTime(), 4000)), 5);
  EXPECT_EQ(wait(store_->list_records({.tenant = "quiet"}))->items.size(), 1U);
  const auto left = wait(store_->list_records({.tenant = "loud"}));
  ASSERT_FALSE(left->items.empty());
  EXPECT_EQ(left->items.front().record_id, "exe_9") << "the newest stay";
}

TEST_P(OnDiskAndInMemory, ArtifactsAreTrimmedWithinATenant) {
  for (const char* tenant : {"quiet", "loud"}) {
    RecordRow row = record(std::string("exe_") + tenant, std::string("ses_") + tenant);
    row.tenant = tenant;
    ASSERT_TRUE(wait(store_->admit(row)));
    std::vector<ArtifactRow> artifacts;
    for (int i = 0; i < (row.tenant == "loud" ? 10 : 1); ++i) {
      ArtifactRow one;
      one.digest = row.tenant + std::to_string(i);
      one.session_id = row.session_id, one.tenant = row.tenant, one.record_id = row.record_id;
      one.size_bytes = 100;
      artifacts.push_back(one);
    }
    ASSERT_TRUE(wait(store_->finish(ended(row), artifacts)));
  }
  EXPECT_EQ(*wait(store_->trim_artifacts(300)), 7);
  EXPECT_EQ(wait(store_->list_artifacts("ses_quiet"))->size(), 1U);
  const auto left = wait(store_->list_artifacts("ses_loud"));
  ASSERT_EQ(left->size(), 3U);
  EXPECT_EQ(left->front().digest, "loud7");
}

TEST_P(OnDiskAndInMemory, EndedSessionsGoWithAllThatIsTheirs) {
  SessionRow row = session("a");
  row.state = "stopped";
  row.ended_at = from_unix_micros(5);
  ASSERT_TRUE(wait(store_->put_session(row)));
  ASSERT_TRUE(wait(store_->put_session(session("b"))));
  ASSERT_TRUE(wait(store_->admit(record("exe_1"))));
  EXPECT_EQ(*wait(store_->remove_sessions_ended_before(from_unix_micros(6))), 1);
  EXPECT_EQ(wait(store_->get_record("default", "exe_1")).error().code(), Code::not_found);
  EXPECT_TRUE(wait(store_->get_session("ses_b")));
}

TEST_P(OnDiskAndInMemory, DocumentsHaveUniqueNames) {
  DocumentRow row{.kind = "template", .tenant = "default", .id = "t1", .name = "base", .body = "{}"};
  ASSERT_TRUE(wait(store_->put_document(row)));
  row.id = "t2";
  EXPECT_EQ(wait(store_->put_document(row)).error().code(), Code::already_exists);
  EXPECT_EQ(wait(store_->get_document("template", "default", "base"))->id, "t1");
  EXPECT_TRUE(*wait(store_->remove_document("template", "default", "t1")));
  EXPECT_FALSE(*wait(store_->remove_document("template", "default", "t1")));
}

TEST_P(OnDiskAndInMemory, DocumentsAreListedByKindAndTenantAndGoByAge) {
  for (const auto& [tenant, id, micros] :
       {std::tuple("a", "new", 20), std::tuple("a", "old", 10), std::tuple("b", "x", 10)}) {
    DocumentRow row{.kind = "log", .tenant = tenant, .id = id, .body = "{}"};
    row.created_at = row.updated_at = from_unix_micros(micros);
    ASSERT_TRUE(wait(store_->put_document(row)));
  }
  const auto listed = *wait(store_->list_documents("log", "a"));
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].id, "old");
  EXPECT_TRUE(wait(store_->list_documents("other", "a"))->empty());
  EXPECT_EQ(*wait(store_->remove_documents_before("log", from_unix_micros(15))), 2);
  EXPECT_EQ(wait(store_->list_documents("log", "a"))->size(), 1U);
}

TEST_P(OnDiskAndInMemory, SnapshotsAreListedPageByPageAndMeantByTheirNewestName) {
  for (int i = 1; i <= 3; ++i) {
    SnapshotRow row{
        .snapshot_id = "snp_" + std::to_string(i), .tenant = "a", .name = "same", .session_id = "ses_1"};
    row.attributes = "{}";
    ASSERT_TRUE(wait(store_->put_snapshot(row)));
  }
  const auto first = *wait(store_->list_snapshots("a", "ses_1", 2, std::nullopt));
  ASSERT_EQ(first.items.size(), 2U);
  EXPECT_EQ(first.items[0].snapshot_id, "snp_3");
  const auto rest = *wait(store_->list_snapshots("a", "", 2, first.next));
  ASSERT_EQ(rest.items.size(), 1U);
  EXPECT_FALSE(rest.next);
  EXPECT_TRUE(wait(store_->list_snapshots("a", "ses_2", 2, std::nullopt))->items.empty());
  EXPECT_TRUE(wait(store_->list_snapshots("b", "", 2, std::nullopt))->items.empty());
  EXPECT_EQ(wait(store_->get_snapshot("a", "same"))->snapshot_id, "snp_3");
  EXPECT_FALSE(*wait(store_->remove_snapshot("b", "snp_3")));
  EXPECT_TRUE(*wait(store_->remove_snapshot("a", "snp_3")));
  EXPECT_EQ(wait(store_->get_snapshot("a", "same"))->snapshot_id, "snp_2");
  EXPECT_EQ(wait(store_->snapshot_ids())->size(), 2U);
}

TEST_P(OnDiskAndInMemory, KeysAreRevokedOnceAndWhatWasDoneIsKept) {
  ASSERT_TRUE(wait(store_->put_key({.key_id = "key_1", .tenant = "a", .hash = "h"})));
  EXPECT_EQ(wait(store_->put_key({.key_id = "key_2", .tenant = "a", .hash = "h"})).error().code(),
            Code::already_exists);
  EXPECT_FALSE(wait(store_->list_keys())->at(0).revoked_at);
  EXPECT_TRUE(*wait(store_->revoke_key("key_1", from_unix_micros(5))));
  EXPECT_FALSE(*wait(store_->revoke_key("key_1", from_unix_micros(6))));
  EXPECT_FALSE(*wait(store_->revoke_key("key_9", from_unix_micros(6))));
  EXPECT_EQ(wait(store_->list_keys())->at(0).revoked_at, from_unix_micros(5));
  for (const char* action : {"create", "revoke"})
    ASSERT_TRUE(wait(store_->audit({.tenant = "a", .key_id = "key_1", .action = action})));
  const auto audit = *wait(store_->list_audit(1));
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit[0].action, "revoke");
}

TEST_P(OnDiskAndInMemory, SessionsAreFoundByStateAndArtifactsByDigest) {
  SessionRow paused = session("p");
  paused.state = "paused";
  ASSERT_TRUE(wait(store_->put_session(session("r"))));
  ASSERT_TRUE(wait(store_->put_session(paused)));
  EXPECT_EQ(wait(store_->sessions_in({"running", "paused"}))->size(), 2U);
  EXPECT_EQ(wait(store_->sessions_in({"paused"}))->at(0).session_id, "ses_p");
  EXPECT_TRUE(wait(store_->sessions_in({}))->empty());
  ASSERT_TRUE(wait(store_->admit(record("exe_1"))));
  const ArtifactRow artifact{"d1", "ses_a", "default", "exe_1", "/x", "text/plain", 3, {}};
  ASSERT_TRUE(wait(store_->finish(ended(record("exe_1")), {artifact, artifact})));
  EXPECT_EQ(*wait(store_->artifact_digests()), std::vector<std::string>{"d1"});
  EXPECT_EQ(wait(store_->get_artifact("default", "d1"))->path, "/x");
  EXPECT_EQ(wait(store_->get_artifact("other", "d1")).error().code(), Code::not_found);
}

TEST(Store, AFileThatIsNoDatabaseIsRefusedAndLeftAlone) {
  Folder folder;
  std::ofstream(folder.path() + "/atoll.db") << std::string(8192, 'x');
  auto opened = Store::open(folder.path());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::data_loss);
  EXPECT_EQ(std::filesystem::file_size(folder.path() + "/atoll.db"), 8192U);
}

TEST(Store, ASchemaFromTheFutureIsRefused) {
  Folder folder;
  ASSERT_TRUE(Store::open(folder.path()));
  {
    auto connection = Connection::open(folder.path() + "/atoll.db", Access::read_write);
    ASSERT_TRUE(connection->script("PRAGMA user_version=9999"));
  }
  auto opened = Store::open(folder.path());
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("9999"), std::string::npos);
}

constexpr const char* kUndoRights =
    "DROP TRIGGER record_ends_usage; DROP TABLE usage; DROP TABLE tenants; DROP INDEX sessions_by_creation; "
    "ALTER TABLE keys DROP COLUMN kind; ALTER TABLE keys DROP COLUMN scopes; "
    "ALTER TABLE keys DROP COLUMN networks; ALTER TABLE keys DROP COLUMN quotas; "
    "ALTER TABLE keys DROP COLUMN expires_at; ALTER TABLE keys DROP COLUMN last_used_at; "
    "ALTER TABLE keys DROP COLUMN old_hash; ALTER TABLE keys DROP COLUMN old_until";

// A store of every version that there was, with something in it, becomes one of today and loses nothing.
TEST(Store, OlderSchemasAreBroughtForward) {
  const std::vector<std::string> undo = {"ALTER TABLE sessions DROP COLUMN volumes",
                                         "ALTER TABLE sessions DROP COLUMN egress",
                                         "DROP TABLE journal",
                                         "ALTER TABLE sessions DROP COLUMN hibernation",
                                         "ALTER TABLE record_ends DROP COLUMN interpreter_restarted",
                                         "ALTER TABLE record_ends DROP COLUMN tool",
                                         kUndoRights,
                                         "DROP INDEX artifacts_by_tenant"};
  ASSERT_EQ(static_cast<std::size_t>(schema_version()), undo.size() + 1)
      << "a new step needs its way back here";
  for (int version = 1; version < schema_version(); ++version) {
    Folder folder;
    {
      auto store = *Store::open(folder.path());
      ASSERT_TRUE(wait(store->put_session(session("old"))));
      ASSERT_TRUE(wait(store->admit(record("exe_old", "ses_old"))));
    }
    {
      auto db = *Connection::open(folder.path() + "/atoll.db", Access::read_write);
      for (int step = schema_version(); step > version; --step)
        ASSERT_TRUE(db.script(undo[static_cast<std::size_t>(step) - 2])) << step;
      ASSERT_TRUE(db.script("PRAGMA user_version=" + std::to_string(version)));
    }
    auto store = Store::open(folder.path());
    ASSERT_TRUE(store) << version << ": " << store.error().message();
    const auto found = wait((*store)->get_session("ses_old"));
    ASSERT_TRUE(found) << version;
    EXPECT_EQ(found->volumes, "{}");
    EXPECT_EQ(found->hibernation, "{}");
    EXPECT_EQ(wait((*store)->get_record("default", "exe_old"))->code, record("exe_old").code);
    EXPECT_TRUE(wait((*store)->put_session(session("new"))));
    EXPECT_TRUE(wait((*store)->get_session("ses_new")));
  }
}

// Until schema 5 what a session left on the disk was told among its limits.
TEST(Store, WhatHibernatesGetsAColumnOfItsOwn) {
  const std::string parked = R"("hibernation":{"state":"hib_1","contexts":{"python":"ctx"}})";
  const struct {
    std::string id, limits, limits_after, hibernation;
  } cases[] = {
      {"both", R"({"disk_bytes":1,)" + parked + R"(,"left_behind":["a","b"]})", R"({"disk_bytes":1})",
       R"({"state":"hib_1","contexts":{"python":"ctx"},"left_behind":["a","b"]})"},
      {"state", R"({"disk_bytes":1,)" + parked + "}", R"({"disk_bytes":1})",
       R"({"state":"hib_1","contexts":{"python":"ctx"}})"},
      {"lost", R"({"disk_bytes":1,"left_behind":["a"]})", R"({"disk_bytes":1})", R"({"left_behind":["a"]})"},
      {"none", R"({"disk_bytes":1})", R"({"disk_bytes":1})", "{}"},
      {"damaged", "no JSON", "no JSON", "{}"},
  };
  Folder folder;
  {
    auto store = *Store::open(folder.path());
    for (const auto& one : cases) {
      SessionRow row = session(one.id);
      row.limits = one.limits;
      ASSERT_TRUE(wait(store->put_session(row)));
    }
  }
  {
    auto db = *Connection::open(folder.path() + "/atoll.db", Access::read_write);
    ASSERT_TRUE(db.script(std::string(kUndoRights) +
                          "; DROP INDEX artifacts_by_tenant; ALTER TABLE sessions DROP COLUMN hibernation; "
                          "ALTER TABLE record_ends DROP COLUMN "
                          "interpreter_restarted; ALTER TABLE record_ends DROP COLUMN tool; "
                          "PRAGMA user_version=4"));
  }
  auto store = Store::open(folder.path());
  ASSERT_TRUE(store) << store.error().message();
  for (const auto& one : cases) {
    const auto found = wait((*store)->get_session("ses_" + one.id));
    ASSERT_TRUE(found) << one.id;
    EXPECT_EQ(found->limits, one.limits_after) << one.id;
    EXPECT_EQ(found->hibernation, one.hibernation) << one.id;
  }
}

TEST(Store, HistoryCannotBeRewritten) {
  auto connection = Connection::open(":memory:", Access::read_write);
  ASSERT_TRUE(migrate(*connection));
  ASSERT_TRUE(connection->run(
      "INSERT INTO records VALUES (1,'e','s','i','t','k','x','python','','1','admitted',0,'')"));
  auto changed = connection->run("UPDATE records SET code='2'");
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().message().find("append-only"), std::string::npos);
}

TEST(Store, OneFailureInABatchDoesNotTakeItsNeighboursAlong) {
  auto store = *Store::open_in_memory();
  asio::io_context loop;
  std::vector<bool> good;
  for (int i = 0; i < 100; ++i) {
    const auto done = [&](std::exception_ptr, Result<void> result) { good.push_back(result.has_value()); };
    asio::co_spawn(loop, store->admit(record("exe_" + std::to_string(i / 2))), done);
  }
  loop.run();
  EXPECT_EQ(std::ranges::count(good, true), 50);
  EXPECT_EQ(wait(store->list_records({.tenant = "default", .limit = 1000}))->items.size(), 50U);
}

TEST(Store, WhatWasAcknowledgedSurvivesTheEndOfTheProcess) {
  Folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = Store::open(folder.path());
    for (int i = 0; i < 20; ++i) (void)wait((*store)->admit(record("exe_" + std::to_string(i))));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  auto store = Store::open(folder.path());
  ASSERT_TRUE(store) << store.error().message();
  EXPECT_EQ(wait((*store)->list_records({.tenant = "default"}))->items.size(), 20U);
}

// A limit on the size of files stands in for a full disk: SQLite sees the same failed write.
TEST(Store, AFullDiskIsSaidAndWhatWasThereStays) {
  Folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto store = Store::open(folder.path());
    (void)wait((*store)->admit(record("exe_first")));
    const rlimit limit{256U << 10, 256U << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    RecordRow big = record("exe_big");
    big.code.assign(2U << 20, 'x');
    const bool refused = !wait((*store)->admit(big));
    const bool reads = wait((*store)->get_record("default", "exe_first")).has_value();
    ::_exit(refused && reads ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Blobs, TheSameBytesAreOneFile) {
  Folder folder;
  auto blobs = *Blobs::open(folder.path() + "/artifacts");
  std::string digests[2];
  for (std::string& digest : digests) {
    auto writing = *wait(blobs->create());
    ASSERT_TRUE(wait(writing->write("hello ")));
    ASSERT_TRUE(wait(writing->write("world")));
    EXPECT_EQ(writing->size(), 11U);
    digest = *wait(writing->finish());
  }
  EXPECT_EQ(digests[0], "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
  EXPECT_EQ(digests[0], digests[1]);
  auto reading = *wait(blobs->open_read(digests[0]));
  EXPECT_EQ(reading->size(), 11U);
  EXPECT_EQ(*wait(reading->next()), "hello world");
  EXPECT_EQ(*wait(reading->next()), "");
}

TEST(Blobs, DroppedAndUnnamedFilesGo) {
  Folder folder;
  const std::string directory = folder.path() + "/artifacts";
  auto blobs = *Blobs::open(directory);
  {
    auto dropped = *wait(blobs->create());
    ASSERT_TRUE(wait(dropped->write("x")));
  }
  // The disk thread lets go of the file before it takes the next job.
  EXPECT_FALSE(wait(blobs->open_read(std::string(64, '0'))));
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  auto writing = *wait(blobs->create());
  const std::string digest = *wait(writing->finish());
  EXPECT_EQ(*wait(blobs->collect_garbage({digest})), 0);
  EXPECT_EQ(*wait(blobs->collect_garbage({})), 1);
  EXPECT_EQ(wait(blobs->open_read(digest)).error().code(), Code::not_found);
  EXPECT_EQ(wait(blobs->open_read("../../etc/passwd")).error().code(), Code::not_found);
}

}  // namespace
}  // namespace atl::store
