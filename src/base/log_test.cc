#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/log_subject.h"

namespace atl::log {
namespace {

// What is written to standard error meanwhile.
std::string captured(auto body) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const int saved = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(ends[1], STDERR_FILENO);
  body();
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  ::close(ends[1]);
  std::string text(65536, '\0');
  const ssize_t n = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

class Log : public testing::Test {
 protected:
  ~Log() override { set_level(Level::info); }
};

TEST_F(Log, OneJsonObjectALine) {
  const std::string text = captured([] { warn("disk \"a\"\nis full", {{"bytes", "12"}, {"who", "x\ty"}}); });
  EXPECT_EQ(text.find("{\"time\":\"2"), 0U) << text;
  EXPECT_NE(text.find(R"("level":"warn","message":"disk \"a\"\nis full","bytes":"12","who":"x\ty"})"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

TEST_F(Log, NamesWhomItIsAbout) {
  Subject about{"acme", "ses_1", {}};
  EXPECT_NE(captured([&] {
              info(about, "x", {{"a", "b"}});
            }).find(R"("message":"x","tenant":"acme","session_id":"ses_1","a":"b"})"),
            std::string::npos);
  about.trace = *trace::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
  EXPECT_NE(captured([&] {
              error(about, "x");
            }).find(R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","tenant":"acme")"),
            std::string::npos);
  EXPECT_EQ(captured([&] { info(Subject{}, "x"); }).find("tenant"), std::string::npos);
  EXPECT_TRUE(captured([&] { debug(about, "x"); }).empty());
  EXPECT_FALSE(is_on(Level::debug));
  EXPECT_TRUE(is_on(Level::warn));
}

TEST_F(Log, ALevelHidesWhatIsBelowIt) {
  const auto everything = [] {
    debug("1");
    info("2");
    warn("3");
    error("4");
  };
  const std::pair<const char*, int> rows[] = {
      {"debug", 4}, {"info", 3}, {"warn", 2}, {"error", 1}, {"off", 0}};
  for (const auto& [word, lines] : rows) {
    ASSERT_TRUE(set_level(word));
    const std::string text = captured(everything);
    EXPECT_EQ(std::ranges::count(text, '\n'), lines) << word;
  }
}

TEST_F(Log, AnUnknownWordChangesNothing) {
  EXPECT_FALSE(set_level("loud"));
  EXPECT_FALSE(captured([] { info("still here"); }).empty());
}

TEST_F(Log, OffIsNoLevelToWriteAt) {
  EXPECT_TRUE(captured([] { write(Level::off, "never"); }).empty());
}

}  // namespace
}  // namespace atl::log
