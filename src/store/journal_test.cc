#include "store/journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "store/entry.h"
#include "store/harness_test.h"
#include "store/schema.h"

namespace atl::store {
namespace {

using Entries = std::vector<std::pair<std::uint64_t, std::string>>;

Result<void> replay_into(Journal& journal, Entries& entries, std::uint64_t applied = 0) {
  return journal.replay(applied, [&](std::uint64_t number, std::string_view payload) -> Result<void> {
    entries.emplace_back(number, payload);
    return {};
  });
}

void overwrite(const std::string& path, std::streamoff at, char with) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at);
  file.put(with);
}

TEST(Journal, GivesBackWhatItTookInOrderAndOnlyWhatIsNew) {
  Folder folder;
  const std::string path = folder.path() + "/j";
  {
    auto journal = *Journal::open(path);
    EXPECT_EQ(*journal.append("one"), 1U);
    EXPECT_EQ(*journal.append(std::string("t\0wo", 4)), 2U);
    EXPECT_EQ(*journal.append(""), 3U);
  }
  auto journal = *Journal::open(path);
  Entries all, late;
  ASSERT_TRUE(replay_into(journal, all));
  EXPECT_EQ(all, (Entries{{1, "one"}, {2, std::string("t\0wo", 4)}, {3, ""}}));
  ASSERT_TRUE(replay_into(journal, late, 2));
  EXPECT_EQ(late, (Entries{{3, ""}}));
  EXPECT_EQ(*journal.append("four"), 4U);
  ASSERT_TRUE(journal.clear());
  EXPECT_EQ(journal.bytes(), 0U);
  EXPECT_EQ(*journal.append("five"), 5U) << "numbers go on";
}

TEST(Journal, HasOneOwner) {
  Folder folder;
  auto mine = *Journal::open(folder.path() + "/j");
  auto yours = Journal::open(folder.path() + "/j");
  ASSERT_FALSE(yours);
  EXPECT_EQ(yours.error().code(), Code::conflict);
}

// Cut at every byte: what was whole comes back, what was not was never acknowledged, and the next append
// stands where the torn one stood.
TEST(Journal, AnAppendCutOffAnywhereIsLeftOut) {
  Folder folder;
  const std::string path = folder.path() + "/j";
  std::uint64_t first = 0, all = 0;
  {
    auto journal = *Journal::open(path);
    ASSERT_TRUE(journal.append("first"));
    first = journal.bytes();
    ASSERT_TRUE(journal.append("second"));
    all = journal.bytes();
  }
  for (std::uint64_t size = first; size < all; ++size) {
    const std::string copy = folder.path() + "/cut" + std::to_string(size);
    std::filesystem::copy_file(path, copy);
    std::filesystem::resize_file(copy, size);
    auto journal = *Journal::open(copy);
    Entries entries, again;
    ASSERT_TRUE(replay_into(journal, entries)) << size;
    EXPECT_EQ(entries, (Entries{{1, "first"}})) << size;
    ASSERT_EQ(*journal.append("other"), 2U);
    ASSERT_TRUE(replay_into(journal, again));
    EXPECT_EQ(again, (Entries{{1, "first"}, {2, "other"}})) << size;
  }
}

// Every single changed byte of an entry that was acknowledged is noticed, in the last entry as in any other,
// and costs nothing but that entry where its head still says how long it is.
TEST(Journal, DamageIsToldWhereverItIs) {
  Folder folder;
  const std::string path = folder.path() + "/j";
  std::uint64_t first = 0, all = 0;
  {
    auto journal = *Journal::open(path);
    ASSERT_TRUE(journal.append("first"));
    first = journal.bytes();
    ASSERT_TRUE(journal.append("second"));
    all = journal.bytes();
  }
  constexpr std::uint64_t kHead = 32;
  for (std::uint64_t at = 0; at < all; ++at) {
    const std::string copy = folder.path() + "/hit" + std::to_string(at);
    std::filesystem::copy_file(path, copy);
    overwrite(copy, static_cast<std::streamoff>(at), '\x5a');
    auto journal = *Journal::open(copy);
    Entries entries;
    auto replayed = replay_into(journal, entries);
    ASSERT_FALSE(replayed) << at;
    EXPECT_EQ(replayed.error().code(), Code::data_loss) << at;
    Entries readable;
    if (at >= first) readable = {{1, "first"}};
    if (at >= kHead && at < first) readable = {{2, "second"}};
    EXPECT_EQ(entries, readable) << at;
    ASSERT_TRUE(journal.set_aside());
    EXPECT_EQ(std::filesystem::file_size(copy + ".damaged"), all);
    EXPECT_TRUE(journal.append("third"));
  }
}

// An entry that is missing in between, or there twice, is damage as well.
TEST(Journal, NumbersFollowOneAnother) {
  Folder folder;
  const std::string path = folder.path() + "/j";
  {
    auto journal = *Journal::open(path);
    for (const char* word : {"a", "b", "c"}) ASSERT_TRUE(journal.append(word));
  }
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const std::size_t entry = bytes.size() / 3;
  for (const std::string& wrong :
       {bytes.substr(0, entry) + bytes.substr(2 * entry), bytes.substr(0, 2 * entry) + bytes.substr(entry)}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << wrong;
    auto journal = *Journal::open(path);
    Entries entries;
    auto replayed = replay_into(journal, entries);
    ASSERT_FALSE(replayed);
    EXPECT_EQ(replayed.error().code(), Code::data_loss);
    EXPECT_EQ(entries.front(), (std::pair<std::uint64_t, std::string>(1, "a")));
  }
}

TEST(Journal, AFailedAppendLeavesItAsItWas) {
  Folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto journal = *Journal::open(folder.path() + "/j");
    bool good = journal.append("first").has_value();
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    good = good && !journal.append(std::string(1U << 20, 'x'));
    good = good && journal.append("second").has_value();
    Entries entries;
    good = good && replay_into(journal, entries).has_value() && entries.size() == 2;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Entry, WhatCannotBeReadIsRefusedAtEveryLength) {
  auto db = *Connection::open(":memory:", Access::read_write);
  ASSERT_TRUE(migrate(db));
  ASSERT_TRUE(put_admission(db, record("exe_a")));
  SessionRow row = session("s");
  row.expires_at = from_unix_micros(7);
  const std::vector<ArtifactRow> artifacts{{"d", "s", "t", "exe_a", "/p", "text/plain", 3, {}}};
  for (const std::string& whole : {encode_session(row), encode_admission(record("exe_b")),
                                   encode_end(ended(record("exe_a")), artifacts)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      auto applied = apply_entry(db, std::string_view(whole).substr(0, size));
      ASSERT_FALSE(applied) << size;
      EXPECT_EQ(applied.error().code(), Code::internal);
    }
    EXPECT_FALSE(apply_entry(db, whole + "x"));
    ASSERT_TRUE(apply_entry(db, whole));
  }
  EXPECT_FALSE(apply_entry(db, "\x7f"));
}

// A journal that an earlier program left behind: its sessions end one member earlier.
TEST(Entry, SessionsOfSchema4AreBroughtForward) {
  auto db = *Connection::open(":memory:", Access::read_write);
  ASSERT_TRUE(migrate(db));
  SessionRow row = session("s");
  row.hibernation.clear();
  row.limits = R"({"disk_bytes":1,"hibernation":{"state":"hib_1"},"left_behind":["a"]})";
  std::string older = encode_session(row);
  older.resize(older.size() - sizeof(std::int64_t));
  EXPECT_FALSE(apply_entry(db, older));
  older[0] = '\1';
  ASSERT_TRUE(apply_entry(db, older));
  std::string limits, hibernation;
  ASSERT_TRUE(db.query("SELECT limits, hibernation FROM sessions",
                       [&](const Row& found) { limits = found.text(0), hibernation = found.text(1); }));
  EXPECT_EQ(limits, R"({"disk_bytes":1})");
  EXPECT_EQ(hibernation, R"({"state":"hib_1","left_behind":["a"]})");
}

// The journal of a process that was killed is written once, by whoever opens the store next.
TEST(Store, AJournalIsWrittenOnce) {
  Folder folder;
  const std::string path = folder.path() + "/atoll.journal";
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = Store::open(folder.path());
    (void)wait((*store)->put_session(session("a")));
    (void)wait((*store)->admit(record("exe_1")));
    (void)wait((*store)->finish(ended(record("exe_1")), {}));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::string copy = folder.path() + "/copy";
  std::filesystem::copy_file(path, copy);
  {
    auto store = *Store::open(folder.path());
    EXPECT_EQ(wait(store->get_record("default", "exe_1"))->status, "success");
    EXPECT_EQ(*wait(store->remove_records(from_unix_micros(1LL << 50), 1 << 30)), 1);
  }
  // The same entries again, as after a crash between the transaction and the emptying of the journal.
  std::filesystem::copy_file(copy, path, std::filesystem::copy_options::overwrite_existing);
  auto store = *Store::open(folder.path());
  EXPECT_EQ(wait(store->get_record("default", "exe_1")).error().code(), Code::not_found)
      << "what was removed does not come back";
  EXPECT_TRUE(wait(store->get_session("ses_a")));
}

TEST(Store, ADamagedJournalIsKeptAndTheRestServes) {
  Folder folder;
  const std::string path = folder.path() + "/atoll.journal";
  { ASSERT_TRUE(Store::open(folder.path())); }
  {
    auto journal = *Journal::open(path);
    ASSERT_TRUE(journal.append(encode_session(session("good"))));
    const auto second = static_cast<std::streamoff>(journal.bytes());
    ASSERT_TRUE(journal.append(encode_session(session("bad"))));
    ASSERT_TRUE(journal.append(encode_session(session("after"))));
    overwrite(path, second + 50, '\x5a');
  }
  auto store = Store::open(folder.path());
  ASSERT_TRUE(store) << store.error().message();
  EXPECT_TRUE(wait((*store)->get_session("ses_good")));
  EXPECT_FALSE(wait((*store)->get_session("ses_bad")));
  EXPECT_TRUE(wait((*store)->get_session("ses_after")));
  EXPECT_TRUE(std::filesystem::exists(path + ".damaged"));
  EXPECT_TRUE(wait((*store)->put_session(session("new"))));
}

// An entry that is whole and makes no sense to the database is kept with the file; the others are written.
TEST(Store, AnEntryThatCannotBeStoredIsKept) {
  Folder folder;
  const std::string path = folder.path() + "/atoll.journal";
  { ASSERT_TRUE(Store::open(folder.path())); }
  {
    auto journal = *Journal::open(path);
    ASSERT_TRUE(journal.append(encode_end(ended(record("exe_never_admitted")), {})));
    ASSERT_TRUE(journal.append(""));
    ASSERT_TRUE(journal.append(encode_session(session("good"))));
  }
  auto store = Store::open(folder.path());
  ASSERT_TRUE(store) << store.error().message();
  EXPECT_TRUE(wait((*store)->get_session("ses_good")));
  EXPECT_TRUE(std::filesystem::exists(path + ".damaged"));
}

// The one entry that a crash could also have cut off: cut off it is left out without a word, damaged it is
// kept.
TEST(Store, DamageToTheLastEntryIsNoTornAppend) {
  for (const bool cut : {true, false}) {
    Folder folder;
    const std::string path = folder.path() + "/atoll.journal";
    { ASSERT_TRUE(Store::open(folder.path())); }
    {
      auto journal = *Journal::open(path);
      ASSERT_TRUE(journal.append(encode_session(session("good"))));
      ASSERT_TRUE(journal.append(encode_session(session("last"))));
      const auto end = journal.bytes();
      if (cut) std::filesystem::resize_file(path, end - 1);
      if (!cut) overwrite(path, static_cast<std::streamoff>(end) - 1, '\x5a');
    }
    auto store = Store::open(folder.path());
    ASSERT_TRUE(store) << store.error().message();
    EXPECT_TRUE(wait((*store)->get_session("ses_good")));
    EXPECT_FALSE(wait((*store)->get_session("ses_last")));
    EXPECT_EQ(std::filesystem::exists(path + ".damaged"), !cut);
  }
}

TEST(Store, ASecondProcessWorksWithoutTheJournal) {
  Folder folder;
  auto first = *Store::open(folder.path());
  auto second = Store::open(folder.path());
  ASSERT_TRUE(second) << second.error().message();
  ASSERT_TRUE(wait((*second)->put_session(session("b"))));
  EXPECT_TRUE(wait(first->get_session("ses_b")));
  ASSERT_TRUE(wait(first->put_session(session("a"))));
  ASSERT_TRUE(wait(first->get_session("ses_a")));
  EXPECT_TRUE(wait((*second)->get_session("ses_a")));
}

TEST(Store, DurableBeyondThePowerMeansNoJournal) {
  Folder folder;
  auto store = *Store::open(folder.path(), Durability::power);
  ASSERT_TRUE(wait(store->admit(record("exe_1"))));
  EXPECT_EQ(wait(store->admit(record("exe_1"))).error().code(), Code::already_exists);
  ASSERT_TRUE(wait(store->finish(ended(record("exe_1")), {})));
  EXPECT_EQ(std::filesystem::file_size(folder.path() + "/atoll.journal"), 0U);
}

// More than the journal may hold goes through it, and it is emptied on the way.
TEST(Store, TheJournalDoesNotGrowWithoutBound) {
  Folder folder;
  auto store = *Store::open(folder.path());
  RecordRow row = record("");
  row.code.assign(100U << 10, 'x');
  for (int i = 0; i < 200; ++i) {
    row.record_id = "exe_" + std::to_string(i);
    ASSERT_TRUE(wait(store->admit(row)));
    if (i % 20 == 0) {
      ASSERT_TRUE(wait(store->list_records({.tenant = "default", .limit = 1})));
    }
  }
  // A page ends with its bytes as well as with its number.
  std::size_t seen = 0;
  RecordFilter filter{.tenant = "default", .limit = 1000};
  do {
    const auto page = wait(store->list_records(filter));
    ASSERT_TRUE(page);
    ASSERT_FALSE(page->items.empty());
    seen += page->items.size();
    filter.after = page->next;
  } while (filter.after);
  EXPECT_EQ(seen, 200U);
  EXPECT_LT(std::filesystem::file_size(folder.path() + "/atoll.journal"), 12U << 20);
}

}  // namespace
}  // namespace atl::store
