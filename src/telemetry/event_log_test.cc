#include "telemetry/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "os/directory_test.h"
#include "sandbox/limits.h"
#include "telemetry/event_source.h"

namespace atl::telemetry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EventLogTest : public testing::Test {
 protected:
  std::unique_ptr<EventLog> open() {
    options_.directory = directory_.path() + "/events";
    options_.clock = &clock_;
    auto log = EventLog::open(options_);
    EXPECT_TRUE(log) << log.error().message();
    return std::move(*log);
  }
  static void add(EventLog& log, int count) {
    for (int i = 0; i < count; ++i)
      log.append({.type = "session.created", .tenant = "acme", .session_id = "ses_1", .environment = "host"});
  }
  std::vector<std::uint64_t> ids(const EventLog& log, std::uint64_t after, std::size_t max = 1000) {
    std::vector<std::uint64_t> found;
    page_ = log.read_after(after, max);
    for (const EventPtr& event : page_.events) found.push_back(event->id);
    return found;
  }
  std::string last_file() const {
    std::string last;
    for (const auto& entry : std::filesystem::directory_iterator(options_.directory))
      last = std::max(last, entry.path().string());
    return last;
  }

  os::TestDirectory directory_;
  EventLogOptions options_;
  ManualClock clock_;
  EventLog::Page page_;
};

TEST(ParseEvent, RefusesWhatIsNone) {
  for (const char* line :
       {"", "x", "[]", "{}", R"({"id":0})", R"({"id":"1"})", R"({"id":-1})", R"({"id":1.5})"})
    EXPECT_FALSE(parse_event(line)) << line;
}

TEST_F(EventLogTest, GivesWhatWasTold) {
  auto log = open();
  EXPECT_EQ(log->last_id(), 0U);
  EXPECT_TRUE(log->read_after(0, 10).events.empty());
  log->append({.type = "limit.hit",
               .tenant = "ac\"me",
               .session_id = "ses_1",
               .environment = "host",
               .trace_id = "4bf9",
               .data = R"({"limit":"time"})"});
  ASSERT_THAT(ids(*log, 0), ElementsAre(1));
  const Event& event = *page_.events[0];
  EXPECT_EQ(
      event.line,
      R"({"id":1,"time":"2023-11-14T22:13:20.000000Z","type":"limit.hit","tenant":"ac\"me","session_id":"ses_1",)"
      R"("environment":"host","trace_id":"4bf9","data":{"limit":"time"}})");
  EXPECT_EQ(event.tenant, "ac\"me");
  const auto again = parse_event(event.line);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->tenant, "ac\"me");
  EXPECT_EQ(again->environment, "host");
  EXPECT_EQ(again->type, "limit.hit");
}

TEST_F(EventLogTest, GoesOnAfterARestart) {
  {
    auto log = open();
    add(*log, 3);
  }
  auto log = open();
  add(*log, 1);
  EXPECT_THAT(ids(*log, 1), ElementsAre(2, 3, 4));
  EXPECT_EQ(page_.missed, 0U);
}

TEST_F(EventLogTest, CutsOffHalfALine) {
  {
    auto log = open();
    add(*log, 2);
  }
  std::ofstream(last_file(), std::ios::app) << R"({"id":3,"time":"20)";
  auto log = open();
  add(*log, 1);
  EXPECT_THAT(ids(*log, 0), ElementsAre(1, 2, 3));
  log = open();
  EXPECT_THAT(ids(*log, 0), ElementsAre(1, 2, 3));
}

TEST_F(EventLogTest, ReadsFromFilesWhatMemoryLacks) {
  options_.recent_max = 5;
  options_.segment_bytes = 500;
  auto log = open();
  add(*log, 40);
  EXPECT_FALSE(log->is_recent(0));
  EXPECT_TRUE(log->is_recent(35));
  EXPECT_TRUE(log->is_recent(40));
  std::vector<std::uint64_t> all(40);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i + 1;
  EXPECT_EQ(ids(*log, 0), all);
  EXPECT_THAT(ids(*log, 10, 3), ElementsAre(11, 12, 13));
  EXPECT_THAT(ids(*log, 37), ElementsAre(38, 39, 40));
}

TEST_F(EventLogTest, ForgetsTheOldestAndSaysSo) {
  options_.recent_max = 2;
  options_.segment_bytes = 500;
  options_.keep_bytes = 2000;
  auto log = open();
  add(*log, 100);
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(options_.directory))
    bytes += entry.file_size();
  EXPECT_LE(bytes, 2700U);
  const auto found = ids(*log, 0);
  ASSERT_FALSE(found.empty());
  EXPECT_GT(found.front(), 1U);
  EXPECT_EQ(found.back(), 100U);
  EXPECT_EQ(page_.missed, found.front() - 1);
}

TEST_F(EventLogTest, AFullDiskLosesNothingThatMemoryHolds) {
  auto log = open();
  add(*log, 1);
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full{std::filesystem::file_size(last_file()) + 10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &full);
  add(*log, 1);
  EXPECT_EQ(log->state().condition, Condition::degraded);
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(ids(*log, 0), ElementsAre(1, 2));
  add(*log, 1);
  EXPECT_EQ(log->state().condition, Condition::ok);
  // What memory had alone is gone with the process; nothing else is damaged by it.
  log = open();
  EXPECT_THAT(ids(*log, 0), ElementsAre(1));
  // A gap is told where it stands, from memory as from the disk.
  EXPECT_THAT(ids(*log, 1), ElementsAre(3));
  EXPECT_EQ(page_.missed, 1U);
  options_.recent_max = 1;
  log = open();
  EXPECT_THAT(ids(*log, 0), ElementsAre(1));
  EXPECT_EQ(page_.end, 1U);
  EXPECT_THAT(ids(*log, 1), ElementsAre(3));
  EXPECT_EQ(page_.missed, 1U);
}

// Whoever is told that there is something must come to its end: nobody looks for it again and again.
TEST_F(EventLogTest, EventsOfWhichNothingIsLeftAreMissed) {
  options_.segment_bytes = 100;
  {
    auto log = open();
    add(*log, 3);
  }
  for (const auto& entry : std::filesystem::directory_iterator(options_.directory))
    std::ofstream(entry.path(), std::ios::trunc) << "damaged\n";
  const auto log = open();
  EXPECT_EQ(log->last_id(), 2U);
  EXPECT_TRUE(ids(*log, 0).empty());
  EXPECT_EQ(page_.missed, 2U);
  EXPECT_EQ(page_.end, 2U);
  EXPECT_TRUE(ids(*log, 2).empty());
  EXPECT_EQ(page_.missed, 0U);
}

TEST_F(EventLogTest, TextsThatAProgramChoseAreCut) {
  auto log = open();
  EventSource source(*log);
  session::ExecutionRecord record;
  record.status = session::Status::error;
  record.error = std::string(5'000'000, '\x01');
  source.finished({}, record, {});
  ASSERT_THAT(ids(*log, 0), ElementsAre(1));
  EXPECT_LT(page_.events[0]->line.size(), 8'000U);
}

TEST_F(EventLogTest, CannotBeOpenedWhereItCannotWrite) {
  options_.directory = directory_.path() + "/file";
  std::ofstream(options_.directory) << "in the way";
  EXPECT_FALSE(EventLog::open(options_));
  // What is named like a segment and is none.
  options_.directory = directory_.path() + "/odd";
  std::filesystem::create_directories(options_.directory + "/00000000000000000007.jsonl");
  EXPECT_FALSE(EventLog::open(options_));
}

TEST_F(EventLogTest, NamesThatAreNoSegmentsStay) {
  options_.directory = directory_.path() + "/events";
  std::filesystem::create_directories(options_.directory);
  for (const char* name : {"webhook.position", "00000000000000000000.jsonl", "0000000000000000000x.jsonl"})
    std::ofstream(options_.directory + "/" + name) << "5";
  auto log = open();
  EXPECT_EQ(log->last_id(), 0U);
  add(*log, 1);
  EXPECT_THAT(ids(*log, 0), ElementsAre(1));
}

// Lines that were damaged on the disk are left out; those behind them are not.
TEST_F(EventLogTest, DamagedLinesAreSteppedOver) {
  {
    auto log = open();
    add(*log, 2);
  }
  std::ofstream(last_file(), std::ios::app) << "no event\n";
  auto log = open();
  add(*log, 1);
  EXPECT_THAT(ids(*log, 0), ElementsAre(1, 2, 3));
}

// Ids grow; a line that says otherwise was damaged.
TEST_F(EventLogTest, LinesOutOfOrderAreSteppedOver) {
  {
    auto log = open();
    add(*log, 3);
  }
  std::ofstream(last_file(), std::ios::app) << R"({"id":2,"type":"x","tenant":"acme"})"
                                            << "\n";
  auto log = open();
  add(*log, 1);
  EXPECT_THAT(ids(*log, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ids(*log, 1, 2), ElementsAre(2, 3));
}

TEST_F(EventLogTest, TellsListeners) {
  auto log = open();
  int told = 0;
  const int number =
      log->listen([&](const Event& event) { told += event.type == "session.created" ? 1 : 0; });
  add(*log, 2);
  log->unlisten(number);
  add(*log, 1);
  EXPECT_EQ(told, 2);
}

TEST_F(EventLogTest, WhatHappensToSessionsBecomesEvents) {
  auto log = open();
  EventSource source(*log);
  session::Session session;
  session.session_id = "ses_1";
  session.tenant = "acme";
  session.provider = "native";
  session.limits.memory_bytes = 1000;
  using session::State;
  source.changed(session, State::creating, State::creating, {});
  source.changed(session, State::creating, State::running, {});
  source.created(session, std::chrono::milliseconds(2), {});
  session::ExecutionRecord record;
  record.record_id = "exe_1";
  source.started(session, record);
  record.status = session::Status::oom;
  source.finished(session, record, std::chrono::milliseconds(5));
  record.status = session::Status::denied;
  source.finished(session, record, {});
  sandbox::Usage usage;
  for (const std::uint64_t bytes : {500U, 950U, 990U, 700U, 960U}) {
    usage.memory_bytes = bytes;
    source.sampled(session, usage);
  }
  source.changed(session, State::running, State::paused, {});
  source.changed(session, State::paused, State::running, {});
  source.changed(session, State::running, State::stopping, {});
  source.changed(session, State::stopping, State::stopped, {});
  std::vector<std::string> types;
  for (const EventPtr& event : log->read_after(0, 100).events) types.push_back(event->type);
  EXPECT_THAT(types, ElementsAre("session.created", "execution.started", "execution.finished", "limit.hit",
                                 "execution.denied", "alert", "alert", "session.paused", "session.resumed",
                                 "session.ended"));
}

TEST(LimitOf, NamesTheLimitThatEndedIt) {
  session::ExecutionRecord record;
  record.status = session::Status::timeout;
  EXPECT_EQ(limit_of(record), "time");
  record.status = session::Status::killed;
  EXPECT_EQ(limit_of(record), "");
  record.reason = "too many processes";
  EXPECT_EQ(limit_of(record), "processes");
  record.reason = "too much output";
  EXPECT_EQ(limit_of(record), "output");
}

TEST_F(EventLogTest, EndsOfEveryKindAreToldApart) {
  auto log = open();
  EventSource source(*log);
  session::Session session;
  session.session_id = "ses_2";
  session.parent = "ses_1";
  session.reason = "why";
  using session::State;
  const auto trace = *trace::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  source.created(session, {}, trace);
  source.changed(session, State::creating, State::failed, trace);
  source.changed(session, State::running, State::lost, {});
  session::ExecutionRecord record;
  record.status = session::Status::error;
  record.reason = "a reason", record.error = "ValueError";
  record.trace = trace;
  source.finished(session, record, {});
  const auto page = log->read_after(0, 10);
  ASSERT_EQ(page.events.size(), 4U);
  EXPECT_THAT(page.events[0]->line, HasSubstr(R"("parent":"ses_1")"));
  EXPECT_EQ(page.events[1]->type, "session.failed");
  EXPECT_EQ(page.events[2]->type, "session.lost");
  EXPECT_THAT(page.events[2]->line, HasSubstr(R"("reason":"why")"));
  // What was asked for names its request's trace.
  for (const std::size_t at : {0U, 1U, 3U})
    EXPECT_THAT(page.events[at]->line, HasSubstr(R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736")")) << at;
  EXPECT_THAT(page.events[2]->line, testing::Not(HasSubstr("trace_id")));
  EXPECT_THAT(page.events[3]->line, HasSubstr(R"("reason":"a reason","error":"ValueError")"));
}

TEST(HealthTest, SaysSinceWhen) {
  ManualClock clock;
  Health health(clock);
  ComponentState state;
  health.add(
      "part", [&] { return state; }, "mend it");
  health.add("other", [] { return ComponentState{Condition::off, "nobody asked"}; });
  const WallTime start = clock.now();
  clock.advance(std::chrono::seconds(5));
  auto seen = health.look();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].since, start);
  EXPECT_EQ(seen[0].remedy, "");
  EXPECT_EQ(Health::worst(seen), Condition::ok);
  state = {Condition::degraded, "away"};
  seen = health.look();
  EXPECT_EQ(seen[0].since, clock.now());
  EXPECT_EQ(seen[0].remedy, "mend it");
  EXPECT_EQ(Health::worst(seen), Condition::degraded);
  state = {Condition::down, "gone"};
  EXPECT_EQ(Health::worst(health.look()), Condition::down);
  EXPECT_EQ(to_string(Condition::ok), "ok");
  EXPECT_EQ(to_string(Condition::degraded), "degraded");
  EXPECT_EQ(to_string(Condition::down), "down");
  EXPECT_EQ(to_string(Condition::off), "off");
}

}  // namespace
}  // namespace atl::telemetry
