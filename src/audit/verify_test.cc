// Every way to change a log that verify() must see, each done to a log of several segments.
#include <unistd.h>

#include "audit/harness_test.h"
#include "audit/head.h"

namespace atl::audit {
namespace {

using testing::HasSubstr;

class VerifyTest : public LogTest {
 protected:
  // The file and the line of an entry.
  std::pair<std::string, std::size_t> find(std::uint64_t seq) {
    for (const Segment& segment : segments()) {
      const auto lines = lines_of(segment.path);
      for (std::size_t i = 0; i < lines.size(); ++i)
        if (seq_of(lines[i]) == seq) return {segment.path, i};
    }
    ADD_FAILURE() << "no entry " << seq;
    return {};
  }
  template <class Change>
  void tamper(std::uint64_t seq, Change change) {
    const auto [path, at] = find(seq);
    auto lines = lines_of(path);
    change(lines, at);
    write_lines(path, lines);
  }
  void expect_wrong(std::uint64_t seq, const std::string& word) {
    const Verdict verdict = check();
    EXPECT_FALSE(verdict.good);
    EXPECT_EQ(verdict.wrong_seq, seq) << verdict.problem;
    EXPECT_THAT(verdict.problem, HasSubstr("entry " + std::to_string(seq)));
    EXPECT_THAT(verdict.problem, HasSubstr(word));
  }
};

TEST_F(VerifyTest, WithoutALogThereIsNoVerdict) {
  EXPECT_EQ(verify({.data = directory_.at("nothing")}).error().code(), Code::not_found);
}

TEST_F(VerifyTest, AKeyThatIsNoneIsAnError) {
  fill(3);
  std::ofstream(directory_.at("other.pem")) << "no key";
  EXPECT_EQ(verify({.data = directory_.path(), .public_key = directory_.at("other.pem")}).error().code(),
            Code::data_loss);
}

TEST_F(VerifyTest, AHeadThatAnotherKeySignedIsAnError) {
  fill(3);
  ASSERT_TRUE(Signer::open(directory_.at("other.pem")));
  const auto verdict = verify({.data = directory_.path(), .public_key = directory_.at("other.pem")});
  EXPECT_EQ(verdict.error().code(), Code::data_loss);
  EXPECT_THAT(verdict.error().message(), HasSubstr("signature"));
}

TEST_F(VerifyTest, ChangedText) {
  fill(30);
  tamper(12, [](auto& lines, std::size_t at) { lines[at].replace(lines[at].find("key_1"), 5, "key_2"); });
  expect_wrong(12, "changed");
  EXPECT_THAT(check().place, HasSubstr(".jsonl line "));
}

TEST_F(VerifyTest, ChangedTextWithItsDigestMadeAnew) {
  fill(30);
  tamper(12, [](auto& lines, std::size_t at) {
    const auto stored = parse_line(lines[at]);
    Entry other = stored->entry;
    other.actor.key_id = "key_2";
    std::string text = render(stored->seq, *from_rfc3339(stored->time), other, stored->prev).text;
    text.pop_back();
    lines[at] = text;
  });
  expect_wrong(12, "changed");
}

TEST_F(VerifyTest, ChangedDigestOrNoJson) {
  fill(30);
  tamper(7, [](auto& lines, std::size_t at) { lines[at][lines[at].size() - 5] ^= 1; });
  expect_wrong(7, "changed");
  tamper(6, [](auto& lines, std::size_t at) { lines[at] = "garbage"; });
  expect_wrong(6, "changed");
}

TEST_F(VerifyTest, RemovedEntry) {
  fill(30);
  tamper(15, [](auto& lines, std::size_t at) { lines.erase(lines.begin() + static_cast<long>(at)); });
  expect_wrong(15, "removed");
}

TEST_F(VerifyTest, RemovedFirstEntry) {
  fill(30);
  tamper(1, [](auto& lines, std::size_t at) { lines.erase(lines.begin() + static_cast<long>(at)); });
  expect_wrong(1, "removed");
}

TEST_F(VerifyTest, AddedCopy) {
  fill(30);
  tamper(15, [](auto& lines, std::size_t at) {
    const std::string copy = lines[at];
    lines.insert(lines.begin() + static_cast<long>(at), copy);
  });
  expect_wrong(15, "added");
}

TEST_F(VerifyTest, AddedInTheMiddleWithAGoodDigest) {
  fill(30);
  tamper(15, [](auto& lines, std::size_t at) {
    const auto stored = parse_line(lines[at]);
    std::string text =
        render(15, *from_rfc3339(stored->time), entry_of("key.create", "key_x"), stored->prev).text;
    text.pop_back();
    lines.insert(lines.begin() + static_cast<long>(at), text);
  });
  expect_wrong(15, "added");
}

TEST_F(VerifyTest, AddedAtTheEndAfterAnOrderlyStop) {
  fill(30);
  const auto last = all_entries().back();
  std::string text = render(last.seq + 1, clock_.now(), entry_of("key.create", "key_x"), last.digest).text;
  std::ofstream(segments().back().path, std::ios::app) << text;
  expect_wrong(last.seq + 1, "added");
}

TEST_F(VerifyTest, ReorderedEntries) {
  fill(30);
  tamper(14, [](auto& lines, std::size_t at) {
    const std::size_t other = at + 1 < lines.size() ? at + 1 : at - 1;
    std::swap(lines[at], lines[other]);
  });
  const Verdict verdict = check();
  EXPECT_FALSE(verdict.good);
  EXPECT_TRUE(verdict.wrong_seq == 13 || verdict.wrong_seq == 14) << verdict.problem;
  EXPECT_THAT(verdict.problem, HasSubstr("out of order"));
}

TEST_F(VerifyTest, TruncatedTailAgainstTheSignedHead) {
  fill(30);
  const auto last = all_entries().back().seq;
  tamper(last, [](auto& lines, std::size_t) { lines.pop_back(); });
  expect_wrong(last, "removed");
  // Also if the mark, which nobody signed, is gone.
  std::filesystem::remove(paths().mark);
  expect_wrong(last, "signed head");
}

TEST_F(VerifyTest, TruncatedTailAfterAKill) {
  options_.sign_every = std::chrono::hours(1);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto log = Log::open(options_);
    for (int i = 0; i < 5; ++i) (void)(*log)->append(entry_of("file.write", "ses_1:/f"));
    ::_exit(0);  // as SIGKILL: nothing is signed or closed
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(check().good);
  tamper(6, [](auto& lines, std::size_t) { lines.pop_back(); });
  expect_wrong(6, "removed");
}

TEST_F(VerifyTest, RemovedSegmentSwappedSegmentRenamedSegment) {
  fill(40);
  const auto all = segments();
  ASSERT_GE(all.size(), 4U);
  const std::string spare = directory_.at("spare");
  std::filesystem::rename(all[1].path, spare);
  expect_wrong(all[1].first_seq, "removed");
  std::filesystem::rename(all[2].path, all[1].path);
  expect_wrong(all[1].first_seq, "removed");
  std::filesystem::rename(spare, all[2].path);
  const Verdict swapped = check();
  EXPECT_FALSE(swapped.good);
  EXPECT_EQ(swapped.wrong_seq, all[1].first_seq);
  EXPECT_THAT(swapped.problem, HasSubstr("out of order"));
}

TEST_F(VerifyTest, RemovedFirstSegmentThatNobodySignedFor) {
  fill(40);
  std::filesystem::remove(segments().front().path);
  expect_wrong(1, "removed");
}

TEST_F(VerifyTest, AForgedRetirementIsSeen) {
  fill(40);
  const auto all = segments();
  std::filesystem::remove(all.front().path);
  std::ofstream(paths().retired) << R"({"last_seq":3,"last_digest":"00","segments":1,"signature":"AAAA"})"
                                 << "\n";
  expect_wrong(1, "not signed");
}

TEST_F(VerifyTest, AForgedCompactionIsSeen) {
  fill(40);
  tamper(9, [&](auto& lines, std::size_t at) {
    const auto stored = parse_line(lines[at]);
    std::string text = render_run(9, 9, stored->prev, stored->digest);
    text.pop_back();
    lines[at] = text;
  });
  expect_wrong(9, "nobody signed");
}

TEST_F(VerifyTest, AHeadKeptElsewhereSeesALogMadeShorterWithItsWitnesses) {
  fill(10);
  std::string kept;
  {
    const auto key = Signer::open(paths().key);
    const auto head = read_head(paths().head, *key);
    kept = head->render(*key);
  }
  std::ofstream(directory_.at("head")) << kept << "\n";
  EXPECT_TRUE(check({.head = directory_.at("head")}).good);
  // Everything is put back to an earlier state, its signed head too.
  const auto last = all_entries().back();
  tamper(last.seq, [](auto& lines, std::size_t) { lines.pop_back(); });
  {
    const auto key = Signer::open(paths().key);
    const auto before = all_entries().back();
    std::filesystem::remove(paths().head);
    ASSERT_TRUE(write_statement(paths().head, Head{before.seq, before.digest, before.time}.render(*key), 0,
                                Synced::no));
    std::filesystem::remove(paths().mark);
  }
  EXPECT_TRUE(check().good) << "without a witness elsewhere nothing can be seen";
  const Verdict verdict = check({.head = directory_.at("head")});
  EXPECT_FALSE(verdict.good);
  EXPECT_EQ(verdict.wrong_seq, last.seq);
}

TEST_F(VerifyTest, AServiceThatContinuesATruncatedLogDoesNotHideIt) {
  fill(30);
  const auto last = all_entries().back().seq;
  tamper(last, [](auto& lines, std::size_t) { lines.pop_back(); });
  const auto log = open();
  ASSERT_TRUE(log->append(entry_of("file.write", "ses_1:/later")));
  log->close();
  expect_wrong(last, "removed");
  const auto entries = all_entries();
  const auto start = std::ranges::find(entries, last + 1, &StoredEntry::seq);
  ASSERT_NE(start, entries.end());
  EXPECT_EQ(start->entry.action, "audit.start");
  EXPECT_EQ(start->entry.outcome, Outcome::error);
}

TEST_F(VerifyTest, AGoodLogIsGoodClosedOrNot) {
  fill(30);
  Verdict verdict = check();
  EXPECT_TRUE(verdict.good) << verdict.problem;
  EXPECT_EQ(verdict.entries, 32U);
  EXPECT_EQ(verdict.signed_seq, verdict.last_seq);
  const auto log = open();
  ASSERT_TRUE(log->append(entry_of("file.write", "ses_1:/again")));
  verdict = check();
  EXPECT_TRUE(verdict.good) << verdict.problem;
  EXPECT_EQ(verdict.last_seq, 34U);
}

}  // namespace
}  // namespace atl::audit
