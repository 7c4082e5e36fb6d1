#include "audit/log.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "audit/harness_test.h"
#include "audit/head.h"

namespace atl::audit {
namespace {

using testing::HasSubstr;

TEST_F(LogTest, OneProcessAtATime) {
  const auto log = open();
  EXPECT_EQ(Log::open(options_).error().code(), Code::conflict);
}

TEST_F(LogTest, ADamagedKeyIsRefusedAndKept) {
  std::filesystem::create_directories(paths().state);
  std::ofstream(paths().key) << "no key";
  EXPECT_EQ(Log::open(options_).error().code(), Code::data_loss);
  EXPECT_EQ(lines_of(paths().key), std::vector<std::string>{"no key"});
}

TEST_F(LogTest, APublicKeyCannotSign) {
  fill(1);
  std::filesystem::copy_file(paths().public_key, paths().key,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(Log::open(options_));
}

TEST_F(LogTest, AfterCloseNothingIsTaken) {
  const auto log = open();
  auto ticket = log->begin(Kind::change, entry_of("file.write", "ses_1:/f"));
  ASSERT_TRUE(ticket);
  log->close();
  EXPECT_EQ(log->append(entry_of("file.write", "x")).error().code(), Code::unavailable);
  EXPECT_EQ(log->begin(Kind::change, entry_of("file.write", "x")).error().code(), Code::unavailable);
  EXPECT_EQ(ticket->finish(Outcome::ok).error().code(), Code::unavailable);
  EXPECT_EQ(log->sign().error().code(), Code::unavailable);
  // The intent was left, and the next start says so.
  open()->close();
  const auto entries = all_entries();
  const auto left = std::ranges::find(entries, std::string("file.write"),
                                      [](const StoredEntry& one) { return one.entry.action; });
  ASSERT_NE(left, entries.end());
  EXPECT_THAT(left->entry.reason, HasSubstr("interrupted"));
}

TEST_F(LogTest, TooManyUnderWay) {
  const auto log = open();
  std::vector<Ticket> tickets;
  for (std::size_t i = 0; i < Mark::kSlots; ++i) {
    auto ticket = log->begin(Kind::change, entry_of("file.write", "ses_1:/f"));
    ASSERT_TRUE(ticket);
    tickets.push_back(std::move(*ticket));
  }
  EXPECT_EQ(log->begin(Kind::change, entry_of("a.b", "c")).error().code(), Code::resource_exhausted);
  tickets.back().cancel();
  auto again = log->begin(Kind::change, entry_of("a.b", "c"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->finish(Outcome::ok));
  EXPECT_FALSE(again->finish(Outcome::ok)) << "once is enough";
  for (Ticket& ticket : tickets) ticket.cancel();
}

// In a mount namespace of its own, with a disk of a few megabytes.
template <class Body>
void on_small_disk(const std::string& directory, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0) ::_exit(77);
    const std::string mount = "mount --make-rprivate / && mount -t tmpfs -o size=12m tmpfs " + directory;
    if (std::system(mount.c_str()) != 0) ::_exit(77);
    body();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounting is not possible here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

void fill_disk(const std::string& path) {
  std::ofstream file(path);
  const std::string block(64 << 10, 'x');
  while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
  std::ofstream rest(path + ".rest");
  while (rest.write("xxxxxxxx", 8).flush()) {
  }
}

TEST_F(LogTest, AFullDiskStopsChangesButNotEndings) {
  options_.segment_bytes = 64 << 20;
  on_small_disk(directory_.path(), [&] {
    const auto log = open();
    auto under_way = log->begin(Kind::change, entry_of("file.write", "ses_1:/before"));
    ASSERT_TRUE(under_way);
    fill_disk(directory_.at("filling"));
    // What the log took ahead is used up by changes; then they are refused.
    int changes = 0;
    while (true) {
      auto ticket = log->begin(Kind::change, entry_of("file.write", "ses_1:/" + std::string(900, 'p')));
      if (!ticket) {
        EXPECT_EQ(ticket.error().code(), Code::no_space);
        break;
      }
      ASSERT_TRUE(ticket->finish(Outcome::ok));
      ASSERT_LT(++changes, 10'000);
    }
    EXPECT_TRUE(log->facts().full);
    EXPECT_TRUE(under_way->finish(Outcome::ok)) << "its room was promised before the disk was full";
    for (int i = 0; i < 200; ++i) {
      auto ending = log->begin(Kind::ending, entry_of("session.end", "ses_" + std::to_string(i)));
      ASSERT_TRUE(ending);
      ASSERT_TRUE(ending->finish(Outcome::ok));
      auto look = log->begin(Kind::reveal, entry_of("file.read", "ses_1:/f"));
      ASSERT_TRUE(look);
      ASSERT_TRUE(look->finish(Outcome::ok));
    }
    EXPECT_EQ(log->facts().lost, 0U);
    EXPECT_TRUE(log->sign()) << "the head needs no new space";
    EXPECT_TRUE(check().good);
    std::filesystem::remove(directory_.at("filling"));
    auto after = log->begin(Kind::change, entry_of("file.write", "ses_1:/after"));
    ASSERT_TRUE(after);
    EXPECT_TRUE(after->finish(Outcome::ok));
    EXPECT_FALSE(log->facts().full);
    log->close();
    EXPECT_TRUE(check().good);
  });
}

TEST_F(LogTest, WhenTheReserveIsUsedUpLooksAreRefusedAndEndingsGoOn) {
  options_.reserve_bytes = 64 << 10;
  options_.segment_bytes = 64 << 20;
  on_small_disk(directory_.path(), [&] {
    const auto log = open();
    fill_disk(directory_.at("filling"));
    bool refused = false;
    for (int i = 0; i < 1000 && !refused; ++i) {
      auto look = log->begin(Kind::reveal, entry_of("file.read", "ses_1:/" + std::string(900, 'p')));
      refused = !look;
      if (look) (void)look->finish(Outcome::ok);
    }
    EXPECT_TRUE(refused);
    for (int i = 0; i < 1000; ++i) {
      auto ending = log->begin(Kind::ending, entry_of("session.end", std::string(900, 'e')));
      ASSERT_TRUE(ending) << "ending is never refused";
      (void)ending->finish(Outcome::ok);
    }
    EXPECT_GT(log->facts().lost, 0U);
    std::filesystem::remove(directory_.at("filling"));
    log->close();
    const auto entries = all_entries();
    EXPECT_TRUE(std::ranges::any_of(entries,
                                    [](const StoredEntry& one) { return one.entry.action == "audit.lose"; }));
    EXPECT_TRUE(check().good);
  });
}

TEST_F(LogTest, ACrashBetweenAChangeAndItsEntryIsSeen) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto log = Log::open(options_);
    auto done = (*log)->begin(Kind::change, entry_of("file.write", "ses_1:/done"));
    (void)done->finish(Outcome::ok);
    auto begun = (*log)->begin(Kind::change, entry_of("key.create", "key_9"));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  open()->close();
  const auto entries = all_entries();
  const auto left = std::ranges::find(entries, std::string("key.create"),
                                      [](const StoredEntry& one) { return one.entry.action; });
  ASSERT_NE(left, entries.end());
  EXPECT_EQ(left->entry.object, "key_9");
  EXPECT_EQ(left->entry.actor.key_id, "key_1");
  EXPECT_EQ(left->entry.outcome, Outcome::error);
  EXPECT_THAT(left->entry.reason, HasSubstr("interrupted"));
  EXPECT_EQ(std::ranges::count(entries, std::string("file.write"),
                               [](const StoredEntry& one) { return one.entry.action; }),
            1);
  EXPECT_TRUE(check().good) << check().problem;
  open()->close();
  EXPECT_EQ(std::ranges::count(all_entries(), std::string("key.create"),
                               [](const StoredEntry& one) { return one.entry.action; }),
            1)
      << "told once";
}

TEST_F(LogTest, ALineThatWasCutOffIsRemovedAtTheNextStart) {
  fill(4);
  std::ofstream(segments().back().path, std::ios::app) << R"({"seq":99,"time")";
  EXPECT_TRUE(check().good);
  open()->close();
  EXPECT_TRUE(check().good) << check().problem;
  EXPECT_EQ(all_entries().back().entry.action, "audit.stop");
}

TEST_F(LogTest, ADroppedTicketLeavesAnEntry) {
  const auto log = open();
  {
    auto ticket = log->begin(Kind::change, entry_of("session.fork", "ses_1"));
    ASSERT_TRUE(ticket);
  }
  Ticket one = std::move(*log->begin(Kind::change, entry_of("session.pause", "ses_1")));
  one = std::move(*log->begin(Kind::change, entry_of("session.resume", "ses_1")));
  EXPECT_TRUE(one.finish(Outcome::ok));
  const auto entries = all_entries();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_THAT(entries[1].entry.reason, HasSubstr("cut off"));
  EXPECT_THAT(entries[2].entry.reason, HasSubstr("cut off"));
  EXPECT_EQ(entries[3].entry.outcome, Outcome::ok);
}

TEST_F(LogTest, SegmentsFollowEachOther) {
  fill(40);
  ASSERT_GE(segments().size(), 4U);
  const auto entries = all_entries();
  std::string prev(kNoDigest);
  std::uint64_t seq = 0;
  for (const StoredEntry& one : entries) {
    EXPECT_EQ(one.seq, ++seq);
    EXPECT_EQ(one.prev, prev);
    prev = one.digest;
  }
  fill(5);
  EXPECT_EQ(all_entries().size(), entries.size() + 7);
  EXPECT_TRUE(check().good);
}

TEST_F(LogTest, RetentionByAgeLeavesASignedStatement) {
  fill(40);
  const auto before = segments();
  options_.keep = std::chrono::hours(1);
  clock_.advance(std::chrono::hours(2));
  const auto log = open();
  ASSERT_TRUE(log->append(entry_of("file.write", "ses_1:/new")));
  ASSERT_TRUE(log->tidy());
  const auto after = segments();
  EXPECT_LT(after.size(), before.size());
  EXPECT_GT(after.front().first_seq, 1U);
  Verdict verdict = check();
  EXPECT_TRUE(verdict.good) << verdict.problem;
  EXPECT_EQ(verdict.first_seq, after.front().first_seq);
  log->close();
  verdict = check();
  EXPECT_TRUE(verdict.good) << verdict.problem;
  // One more segment than was signed for.
  std::filesystem::remove(segments().front().path);
  verdict = check();
  EXPECT_FALSE(verdict.good);
  EXPECT_EQ(verdict.wrong_seq, after.front().first_seq);
}

TEST_F(LogTest, RetentionBySizeAndNothingThatIsNotForwarded) {
  fill(40);
  options_.keep_bytes = 5000;
  std::uint64_t forwarded = 0;
  options_.forwarded = [&] { return forwarded; };
  const auto log = open();
  const auto before = segments().size();
  ASSERT_TRUE(log->tidy());
  EXPECT_EQ(segments().size(), before);
  forwarded = 1000;
  ASSERT_TRUE(log->tidy());
  EXPECT_LT(segments().size(), before);
  std::uint64_t total = 0;
  for (const Segment& segment : segments()) total += segment.bytes;
  EXPECT_LE(total, 8000U);
  EXPECT_TRUE(check().good) << check().problem;
  const auto entries = all_entries();
  EXPECT_TRUE(std::ranges::any_of(entries,
                                  [](const StoredEntry& one) { return one.entry.action == "audit.retire"; }));
}

TEST_F(LogTest, ASegmentThatACrashLeftBehindIsRemoved) {
  fill(40);
  options_.keep = std::chrono::hours(1);
  const std::string spare = directory_.at("spare"), oldest = segments().front().path;
  std::filesystem::copy_file(oldest, spare);
  clock_.advance(std::chrono::hours(2));
  const auto log = open();
  ASSERT_TRUE(log->tidy());
  log->close();
  const auto first_after = segments().front().first_seq;
  // Only the newest of the removed can stand before what is left; others leave a gap and are wrong.
  std::filesystem::copy_file(spare, oldest);
  open()->close();
  EXPECT_FALSE(std::filesystem::exists(oldest));
  EXPECT_EQ(segments().front().first_seq, first_after);
  EXPECT_TRUE(check().good) << check().problem;
}

TEST_F(LogTest, CompactionDropsTheTextOfLooksAndKeepsTheChain) {
  fill(40);
  options_.compact_after = std::chrono::hours(1);
  clock_.advance(std::chrono::hours(2));
  const auto log = open();
  ASSERT_TRUE(log->append(entry_of("file.read", "ses_1:/new")));
  const auto bytes_before = segments().front().bytes;
  ASSERT_TRUE(log->tidy());
  ASSERT_TRUE(log->tidy()) << "a second time changes nothing";
  EXPECT_LT(segments().front().bytes, bytes_before);
  const Verdict verdict = check();
  EXPECT_TRUE(verdict.good) << verdict.problem;
  EXPECT_EQ(verdict.entries, log->facts().seq);
  const auto entries = all_entries();
  const auto reads = std::ranges::count_if(entries, [](const StoredEntry& one) {
    return one.entry.action == "file.read" && one.entry.object != "ses_1:/new";
  });
  const auto writes =
      std::ranges::count_if(entries, [](const StoredEntry& one) { return one.entry.action == "file.write"; });
  EXPECT_LT(reads, 4) << "those of the last segment are left";
  EXPECT_EQ(writes, 26);
  log->close();
  // A line that was kept is as safe as before.
  auto lines = lines_of(segments().front().path);
  for (std::string& line : lines)
    if (const auto at = line.find("file.write"); at != std::string::npos) {
      line.replace(at, 10, "file.wrote");
      break;
    }
  write_lines(segments().front().path, lines);
  EXPECT_FALSE(check().good);
}

TEST_F(LogTest, TheThreadSignsFoldsAndTells) {
  options_.clock = &Clock::machine();
  options_.sign_every = std::chrono::milliseconds(20);
  options_.fold = std::chrono::milliseconds(50);
  const auto log = open();
  std::atomic<int> told = 0;
  log->set_listener([&] { ++told; });
  Entry refused = entry_of("login.refuse", "/api/sessions");
  refused.actor.key_id = kAnonymous;
  refused.outcome = Outcome::denied;
  for (int i = 0; i < 100; ++i) log->fold(refused);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto key = Signer::open(paths().key);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto head = read_head(paths().head, *key);
    if (head && head->seq >= 3 && told > 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto entries = all_entries();
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_THAT(entries[2].entry.details, HasSubstr(R"("repeated":99)"));
  EXPECT_GE(read_head(paths().head, *key)->seq, 3U);
  EXPECT_GT(told, 0);
}

TEST_F(LogTest, PowerDurabilityWaitsForTheDisk) {
  options_.durability = Durability::power;
  const auto log = open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(log->append(entry_of("file.write", "ses_1:/f")));
    EXPECT_TRUE(wait(log->settle()));
  }
  EXPECT_TRUE(wait(log->settle())) << "nothing new";
  log->close();
  EXPECT_TRUE(wait(log->settle()));
  EXPECT_TRUE(check().good);
}

TEST_F(LogTest, ManyThreads) {
  const auto log = open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        auto ticket = log->begin(Kind::change, entry_of("file.write", "ses_" + std::to_string(t)));
        ASSERT_TRUE(ticket);
        ASSERT_TRUE(ticket->finish(Outcome::ok));
      }
    });
  for (std::thread& thread : threads) thread.join();
  log->close();
  const Verdict verdict = check();
  EXPECT_TRUE(verdict.good) << verdict.problem;
  EXPECT_EQ(verdict.entries, 802U);
}

TEST_F(LogTest, AMachineThatLostPowerGoesOnAfterWhatIsLeft) {
  fill(5);
  // The mark of another boot that knows of more than what reached the disk; what was signed is there.
  {
    auto mark = Mark::open(paths().mark);
    ASSERT_TRUE(mark);
    mark->set_end({9, std::string(64, 'a'), "another-boot"});
  }
  open()->close();
  const auto entries = all_entries();
  EXPECT_EQ(entries[7].entry.action, "audit.start");
  EXPECT_THAT(entries[7].entry.reason, HasSubstr("without an orderly end"));
  EXPECT_TRUE(check().good) << check().problem;
}

TEST_F(LogTest, WithoutAMarkTheSignedHeadDecides) {
  fill(5);
  std::filesystem::remove(paths().mark);
  auto lines = lines_of(segments().back().path);
  lines.pop_back();
  write_lines(segments().back().path, lines);
  open()->close();
  EXPECT_EQ(check().wrong_seq, 7U);
}

}  // namespace
}  // namespace atl::audit
