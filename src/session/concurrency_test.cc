// Many callers at once: the table of states holds, nothing waits for ever, every admitted execution ends.
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <random>

#include "session/service_harness_test.h"

namespace atl::session {
namespace {

// Remembers every change and complains about those that the table does not have.
class Witness final : public Observer {
 public:
  void created(const Session&, std::chrono::nanoseconds, const trace::Context&) override {}
  void create_failed(std::string_view, Code) override {}
  void changed(const Session& session, State from, State to, const trace::Context&) override {
    const auto known = states.find(session.session_id);
    if (known == states.end()) {
      EXPECT_EQ(from, to) << "a session is first seen where it begins";
    } else {
      EXPECT_EQ(known->second, from) << session.session_id;
      EXPECT_TRUE(may_become(from, to)) << to_string(from) << " to " << to_string(to);
    }
    states[session.session_id] = to;
    ++changes;
  }
  void finished(const Session&, const ExecutionRecord& record, std::chrono::nanoseconds) override {
    EXPECT_NE(record.status, Status::admitted);
    ++finished_count[record.record_id];
  }

  std::map<std::string, State> states;
  std::map<std::string, int> finished_count;
  int changes = 0;
};

class ConcurrencyTest : public ServiceTest {
 protected:
  void SetUp() override {
    observer_ = &witness_;
    ServiceTest::SetUp();
  }

  // One caller: random calls on random sessions. An Error is an answer like any other, as long as it is one
  // that the contract names.
  asio::awaitable<void> call_at_random(unsigned seed, std::vector<Session>& sessions, int calls) {
    std::mt19937 random(seed);
    for (int i = 0; i < calls; ++i) {
      const std::string id = sessions[random() % sessions.size()].session_id;
      switch (random() % 12) {
        case 0: judge(co_await service_->pause(ann_, id, {})); break;
        case 1:
        case 2: judge(co_await service_->resume(ann_, id, std::nullopt)); break;
        case 3:
          if (random() % 8 == 0) judge(co_await service_->destroy(ann_, id));
          break;
        case 4: judge(co_await service_->snapshot(ann_, id, "", {})); break;
        case 5: {
          ForkRequest copies;  // named: g++ 12 destroys a braced argument of an awaited call twice
          if (auto forked = co_await service_->fork(ann_, id, std::move(copies));
              forked && forked->sessions.front())
            sessions.push_back(*forked->sessions.front());
          break;
        }
        case 6: {
          CommandRequest command{.argv = {"print hi"}};
          judge(co_await service_->run_command(ann_, id, std::move(command), ""));
          break;
        }
        case 7: judge(co_await service_->get(ann_, id)); break;
        case 8: {
          CreateRequest request;
          if (auto made = co_await service_->create(ann_, request)) sessions.push_back(*made);
          break;
        }
        default: {
          ExecuteRequest request{.code = "print x"};
          judge(co_await service_->run(ann_, id, std::move(request)));
        }
      }
      co_await asio::post(loop_, asio::use_awaitable);
    }
    ++callers_done_;
  }
  template <class T>
  void judge(const Result<T>& result) {
    ++answers_;
    if (result) return;
    const Code code = result.error().code();
    EXPECT_TRUE(code == Code::conflict || code == Code::unavailable || code == Code::canceled)
        << to_string(code) << ": " << result.error().message();
  }

  Witness witness_;
  int answers_ = 0;
  std::size_t callers_done_ = 0;
};

TEST_F(ConcurrencyTest, RandomCallsFollowTheTable) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::vector<Session> sessions;
    for (int i = 0; i < 3; ++i) sessions.push_back(create());
    constexpr std::size_t kCallers = 12;
    callers_done_ = 0;
    for (unsigned i = 0; i < kCallers; ++i) {
      asio::co_spawn(loop_, call_at_random(seed * 100 + i, sessions, 40), asio::detached);
    }
    ASSERT_TRUE(until([&] { return callers_done_ == kCallers; })) << "somebody waits for ever";
    for (const Session& session : sessions) {
      auto ended = wait(service_->destroy(ann_, session.session_id));
      ASSERT_TRUE(ended) << ended.error().message();
      EXPECT_TRUE(is_final(ended->state));
    }
  }
  EXPECT_GT(answers_, 1000);
  for (const auto& [id, state] : witness_.states) EXPECT_TRUE(is_final(state)) << id;
  for (const auto& [id, count] : witness_.finished_count) EXPECT_EQ(count, 1) << id;
  // The store knows the same.
  ListRequest everything;
  everything.limit = 1000;
  std::size_t stored = 0;
  do {
    const auto page = *wait(service_->list(ann_, everything));
    for (const Session& session : page.items) EXPECT_EQ(session.state, witness_.states[session.session_id]);
    stored += page.items.size();
    everything.cursor = page.next_cursor;
  } while (!everything.cursor.empty());
  EXPECT_EQ(stored, witness_.states.size());
  EXPECT_TRUE(wait(service_->history(ann_, {.statuses = {Status::admitted}}))->items.empty());
}

// A command whose caller is canceled (its client went away) is killed, and the record says why.
TEST_F(ConcurrencyTest, ACommandWhoseCallerGoesAwayEnds) {
  const Session session = create();
  asio::cancellation_signal gone;
  bool ended = false;
  CommandRequest command{.argv = {"sleep"}};
  asio::co_spawn(loop_, service_->run_command(ann_, session.session_id, std::move(command), ""),
                 asio::bind_cancellation_slot(
                     gone.slot(), [&](std::exception_ptr, Result<ExecutionRecord>) { ended = true; }));
  ASSERT_TRUE(until([&] { return wait(service_->processes(ann_, session.session_id))->size() == 1; }));
  gone.emit(asio::cancellation_type::terminal);
  ASSERT_TRUE(until([&] { return ended; }));
  ASSERT_TRUE(until(
      [&] { return wait(service_->history(ann_, {.statuses = {Status::killed}}))->items.size() == 1; }));
  EXPECT_EQ(wait(service_->history(ann_, {}))->items[0].reason, "the client went away");
}

TEST_F(ConcurrencyTest, AnExecutionWhoseCallerGoesAwayEnds) {
  const Session session = create();
  asio::cancellation_signal gone;
  bool ended = false;
  ExecuteRequest request{.code = "sleep"};
  asio::co_spawn(loop_, service_->run(ann_, session.session_id, std::move(request)),
                 asio::bind_cancellation_slot(
                     gone.slot(), [&](std::exception_ptr, Result<ExecutionRecord>) { ended = true; }));
  ASSERT_TRUE(until([&] { return wait(service_->contexts(ann_, session.session_id))->size() == 1; }));
  gone.emit(asio::cancellation_type::terminal);
  ASSERT_TRUE(until([&] { return ended; }));
  ASSERT_TRUE(until(
      [&] { return wait(service_->history(ann_, {.statuses = {Status::killed}}))->items.size() == 1; }));
}

// Two executions side by side report what was used once, not twice.
TEST_F(ConcurrencyTest, ExecutionsSideBySideShareTheCpuTime) {
  const Session session = create();
  std::optional<ExecutionRecord> slow;
  ExecuteRequest request{.code = "sleep"};
  asio::co_spawn(loop_, service_->run(ann_, session.session_id, std::move(request)),
                 [&](std::exception_ptr, Result<ExecutionRecord> value) { slow = std::move(*value); });
  ASSERT_TRUE(until([&] { return wait(service_->contexts(ann_, session.session_id))->size() == 1; }));
  const ExecutionRecord quick = run(session, "work 1000");
  EXPECT_EQ(quick.usage.cpu_time, std::chrono::microseconds(500));
  const ExecutionRecord alone = run(create(), "work 1000");
  EXPECT_EQ(alone.usage.cpu_time, std::chrono::microseconds(1000));
  ASSERT_TRUE(wait(service_->destroy(ann_, session.session_id)));
  ASSERT_TRUE(until([&] { return slow.has_value(); }));
}

TEST_F(ConcurrencyTest, TheEndOfTheServiceEndsEverySession) {
  for (int i = 0; i < 50; ++i) create();
  ASSERT_TRUE(wait(service_->shut_down("the test ends")));
  EXPECT_TRUE(service_->peek_all().empty());
  const auto page = *wait(service_->list(ann_, {.states = {State::stopped}}));
  EXPECT_EQ(page.items.size(), 50U);
  for (const Session& session : page.items) EXPECT_EQ(session.reason, "the test ends");
  EXPECT_EQ(wait(service_->create(ann_, {})).error().code(), Code::unavailable);
}

}  // namespace
}  // namespace atl::session
