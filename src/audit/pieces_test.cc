// Entries as lines, keys, the mark, the fold, pages.
#include <sys/stat.h>

#include "audit/fold.h"
#include "audit/harness_test.h"
#include "audit/head.h"
#include "audit/lines.h"
#include "audit/segments.h"
#include "base/json.h"

namespace atl::audit {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(EntryTest, WhatIsNoLineOfOurs) {
  std::string good = render(1, {}, entry_of("a.b", "c"), kNoDigest).text;
  good.pop_back();
  ASSERT_TRUE(parse_line(good));
  for (const std::string& bad : {
           std::string(),
           std::string("null"),
           std::string("[]"),
           std::string("{}"),
           std::string(R"({"seq":0})"),
           std::string(R"({"seq":"1"})"),
           std::string(R"({"seq":1,"outcome":"maybe"})"),
           std::string(R"({"seq":1,"outcome":"ok"})"),
           good + " ",
           " " + good,
           std::string(kLineBytesMax, 'x'),
           std::string(R"({"seq":5,"to":4,"compacted":true,"prev":"","digest":""})"),
           std::string(R"({"seq":5,"compacted":true,"prev":"","digest":""})"),
           std::string(R"({"seq":5,"to":6,"compacted":true,"prev":"","digest":"","more":1})"),
       })
    EXPECT_FALSE(parse_line(bad)) << bad;
  EXPECT_FALSE(seq_of("x"));
  EXPECT_FALSE(seq_of(R"({"seq":)"));
  EXPECT_FALSE(seq_of(R"({"seq":0,)"));
  EXPECT_FALSE(parse_intent("[]"));
  EXPECT_FALSE(parse_intent("{"));
}

TEST(EntryTest, HostileTextStaysOneLineOfBoundedLength) {
  for (const std::string& text :
       {std::string(100'000, '\n'), std::string(100'000, '"'), std::string(100'000, '\x01'),
        std::string(100'000, '\xff'), std::string("\xf0\x9f\x98\x80") + std::string(9999, 'a')}) {
    Entry entry = entry_of(text, text);
    entry.actor = {text, text, text, text, text};
    entry.reason = text;
    entry.details = "\"" + std::string(100'000, 'd') + "\"";
    const Line line = render(UINT32_MAX, {}, entry, kNoDigest);
    EXPECT_LE(line.text.size(), kLineBytesMax);
    EXPECT_EQ(line.text.find('\n'), line.text.size() - 1);
    EXPECT_TRUE(parse_line(std::string_view(line.text).substr(0, line.text.size() - 1)));
    EXPECT_LE(render_intent(entry, Mark::kIntentBytesMax).size(), Mark::kIntentBytesMax);
    EXPECT_TRUE(parse_intent(render_intent(entry, Mark::kIntentBytesMax)));
  }
}

TEST(EntryTest, LongTextsWithTheSameBeginningDiffer) {
  const std::string a = clipped(std::string(5000, 'x') + "a", 300),
                    b = clipped(std::string(5000, 'x') + "b", 300);
  EXPECT_NE(a, b);
  EXPECT_LE(a.size(), 300U);
  EXPECT_EQ(clipped("short", 300), "short");
  EXPECT_EQ(clipped(std::string(200, 'y'), 300), std::string(200, 'y'));
}

TEST(EntryTest, ThereAndBack) {
  Entry entry = entry_of("file.write", "ses_1:/a \"b\"");
  entry.outcome = Outcome::denied;
  entry.reason = "no";
  entry.details = R"({"n":1})";
  std::string text = render(7, from_unix_micros(1'700'000'000'000'000), entry, kNoDigest).text;
  text.pop_back();
  const auto stored = parse_line(text);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->seq, 7U);
  EXPECT_EQ(stored->time, "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(stored->entry.actor.request_id, "req-1");
  EXPECT_EQ(stored->entry.object, entry.object);
  EXPECT_EQ(stored->entry.outcome, Outcome::denied);
  EXPECT_EQ(stored->entry.details, entry.details);
}

TEST(SignerTest, SignsAndChecks) {
  os::TestDirectory directory;
  const auto signer = Signer::open(directory.at("key"));
  ASSERT_TRUE(signer);
  const std::string signature = *signer->sign("text");
  EXPECT_TRUE(signer->is_signed("text", signature));
  EXPECT_FALSE(signer->is_signed("text!", signature));
  EXPECT_FALSE(signer->is_signed("text", "AAAA"));
  EXPECT_FALSE(signer->is_signed("text", "?"));
  const auto again = Signer::open(directory.at("key"));
  EXPECT_EQ(again->fingerprint(), signer->fingerprint());
  struct stat info {};
  ASSERT_EQ(::stat(directory.at("key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_FALSE(Verifier::load(directory.at("nothing")));
}

TEST(HeadTest, DamagedStatements) {
  os::TestDirectory directory;
  const auto signer = Signer::open(directory.at("key"));
  EXPECT_EQ(read_head(directory.at("head"), *signer).error().code(), Code::not_found);
  EXPECT_FALSE(write_statement(directory.at("head"), "", 0, Synced::no));
  EXPECT_FALSE(write_statement(directory.at("no/such"), "x", 0, Synced::no));
  for (const char* bad : {"[]", "{}", R"({"signature":1})", R"({"seq":1,"signature":"AAAA"})", "x"}) {
    ASSERT_TRUE(write_statement(directory.at("head"), bad, 0, Synced::yes));
    EXPECT_EQ(read_head(directory.at("head"), *signer).error().code(), Code::data_loss) << bad;
  }
  // One of the two places is enough, and a statement of another kind is none.
  const Head head{5, "d", "t", true};
  ASSERT_TRUE(write_statement(directory.at("head"), head.render(*signer), 1, Synced::no));
  EXPECT_EQ(read_head(directory.at("head"), *signer)->seq, 5U);
  EXPECT_FALSE(read_retired(directory.at("head"), *signer));
  std::ofstream(directory.at("compacted")) << "garbage\n"
                                           << Compacted{1, 2, 1, "s", "t"}.render(*signer) << "\n";
  EXPECT_THAT(read_compacted(directory.at("compacted"), *signer), SizeIs(1));
  EXPECT_THAT(read_compacted(directory.at("nothing"), *signer), SizeIs(0));
}

TEST(MarkTest, DamagedOrMissing) {
  os::TestDirectory directory;
  EXPECT_EQ(Mark::read_end(directory.at("mark")).error().code(), Code::not_found);
  std::ofstream(directory.at("short")) << "x";
  EXPECT_EQ(Mark::read_end(directory.at("short")).error().code(), Code::data_loss);
  std::ofstream(directory.at("wrong")) << std::string(8192, 'x');
  EXPECT_EQ(Mark::read_end(directory.at("wrong")).error().code(), Code::data_loss);
  auto mark = Mark::open(directory.at("mark"));
  ASSERT_TRUE(mark);
  EXPECT_EQ(Mark::read_end(directory.at("mark"))->seq, 0U);
  EXPECT_FALSE(mark->put(std::string(Mark::kIntentBytesMax + 1, 'x')));
  mark->set_end({3, "abc", "boot"});
  mark->set_end({4, "abd", "boot"});
  const auto end = Mark::read_end(directory.at("mark"));
  EXPECT_EQ(end->seq, 4U);
  EXPECT_EQ(end->digest, "abd");
  EXPECT_EQ(end->boot, "boot");
}

TEST(FoldTest, StrangersAreBoundedWhateverTheySend) {
  Fold fold(std::chrono::seconds(60));
  SteadyTime now{};
  int written = 0;
  for (int i = 0; i < 100'000; ++i) {
    Entry entry = entry_of("login.refuse", "/" + std::to_string(i));
    entry.actor.key_id = kAnonymous;
    entry.actor.address = "10.0." + std::to_string(i / 250 % 250) + "." + std::to_string(i % 250);
    if (fold.take(entry, now)) ++written;
  }
  EXPECT_EQ(written, static_cast<int>(Fold::kStrangersMax));
  EXPECT_LE(fold.size(), Fold::kStrangersMax + 1);
  EXPECT_TRUE(fold.due(now).empty());
  const auto due = fold.due(now + std::chrono::seconds(61));
  EXPECT_EQ(due.size(), Fold::kStrangersMax + 1);
  EXPECT_EQ(fold.size(), 0U);
}

TEST(FoldTest, KnownCallersAreToldApartAndNeverLost) {
  Fold fold(std::chrono::seconds(60));
  const SteadyTime now{};
  EXPECT_TRUE(fold.take(entry_of("session.read", "ses_1"), now));
  EXPECT_FALSE(fold.take(entry_of("session.read", "ses_1"), now));
  EXPECT_TRUE(fold.take(entry_of("session.read", "ses_2"), now));
  EXPECT_TRUE(fold.take(entry_of("session.read", "ses_1", "other"), now));
  int written = 0;
  for (int i = 0; i < 10'000; ++i)
    written += fold.take(entry_of("session.read", "s" + std::to_string(i)), now) ? 1 : 0;
  EXPECT_EQ(written, 10'000) << "what does not fit is written at once";
  EXPECT_LE(fold.size(), Fold::kKnownMax);
  EXPECT_THAT(fold.due(now + std::chrono::hours(1)), SizeIs(1)) << "only what was repeated";
}

class PagesTest : public LogTest {};

TEST_F(PagesTest, NothingThereIsAnEmptyPage) {
  const auto page = read_page(directory_.at("none"), {});
  ASSERT_TRUE(page);
  EXPECT_THAT(page->lines, SizeIs(0));
  EXPECT_EQ(page->next, 0U);
}

TEST_F(PagesTest, DamagedLinesAreSteppedOver) {
  fill(10);
  auto lines = lines_of(segments().front().path);
  lines[1] = "garbage";
  lines.push_back(std::string(3 * kLineBytesMax, 'x'));
  write_lines(segments().front().path, lines);
  Query query;
  EXPECT_THAT(read_page(directory_.path(), query)->lines, SizeIs(11));
}

TEST_F(PagesTest, EveryEntryOnceInOrder) {
  fill(100);
  Query query;
  query.limit = 7;
  std::uint64_t expected = 1;
  while (true) {
    const auto page = read_page(directory_.path(), query);
    ASSERT_TRUE(page);
    for (const std::string& line : page->lines) EXPECT_EQ(*seq_of(line), expected++);
    if (page->next == 0) break;
    query.after = page->next;
  }
  EXPECT_EQ(expected, 103U);
}

TEST_F(PagesTest, PagesOfOneLargeSegmentFindTheirPlace) {
  options_.segment_bytes = 64 << 20;
  fill(3000);
  for (const std::uint64_t after : {0U, 1U, 999U, 1500U, 2999U, 3001U}) {
    Query query;
    query.after = after;
    query.limit = 1;
    const auto page = read_page(directory_.path(), query);
    ASSERT_THAT(page->lines, SizeIs(1));
    EXPECT_EQ(*seq_of(page->lines.front()), after + 1);
  }
}

TEST_F(PagesTest, ABoundOnTheTextThatOnePageLooksAt) {
  fill(50);
  Query query;
  query.action = "no.such";
  query.bytes_max = 1000;
  int pages = 0;
  while (true) {
    const auto page = read_page(directory_.path(), query);
    EXPECT_THAT(page->lines, SizeIs(0));
    ++pages;
    if (page->next == 0) break;
    ASSERT_GT(page->next, query.after);
    query.after = page->next;
  }
  EXPECT_GT(pages, 5);
}

TEST_F(PagesTest, Filters) {
  {
    const auto log = open();
    ASSERT_TRUE(log->append(entry_of("file.write", "ses_1:/a:b", "acme")));
    Entry denied = entry_of("key.create", "key_2");
    denied.outcome = Outcome::denied;
    ASSERT_TRUE(log->append(denied));
    log->close();
  }
  const auto count = [&](Query query) { return read_page(directory_.path(), query)->lines.size(); };
  EXPECT_EQ(count({.actor = "key_1"}), 2U);
  EXPECT_EQ(count({.actor = "system"}), 2U);
  EXPECT_EQ(count({.action = "file.write"}), 1U);
  EXPECT_EQ(count({.action = "file.*"}), 1U);
  EXPECT_EQ(count({.action = "file"}), 0U);
  EXPECT_EQ(count({.object = "ses_1"}), 1U);
  EXPECT_EQ(count({.object = "/a:b"}), 1U);
  EXPECT_EQ(count({.object = "ses_1:/a:b"}), 1U);
  EXPECT_EQ(count({.object = "ses"}), 0U);
  EXPECT_EQ(count({.outcome = "denied"}), 1U);
  EXPECT_EQ(count({.tenant = "acme"}), 1U);
  EXPECT_EQ(count({.tenant = ""}), 2U);
}

TEST(SegmentsTest, OtherFilesAreNoSegments) {
  os::TestDirectory directory;
  for (const char* name : {"x.jsonl", "00000000000000000000.jsonl", "0000000000000000000a.jsonl"})
    std::ofstream(directory.at(name)) << "x";
  std::filesystem::create_directory(directory.at(segment_name(5)));
  EXPECT_THAT(list_segments(directory.path()), SizeIs(0));
  std::ofstream(directory.at(segment_name(7))) << std::string(50'000, 'x');
  ASSERT_THAT(list_segments(directory.path()), SizeIs(1));
  const auto tail = read_tail(directory.at(segment_name(7)));
  EXPECT_EQ(tail->whole_bytes, 50'000U) << "not a line that was cut off";
  EXPECT_FALSE(tail->last);
  EXPECT_FALSE(compact_segment(directory.at("nothing")));
  EXPECT_TRUE(is_look("file.read"));
  EXPECT_FALSE(is_look("file.write"));
}

}  // namespace
}  // namespace atl::audit
