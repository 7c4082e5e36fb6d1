#pragma once

#include <vector>

#include "session/observer.h"
#include "telemetry/event_log.h"

namespace atl::telemetry {

// Passes everything on to several observers, in this order. Belongs to the loop thread; the observers must
// outlive it.
class Observers final : public session::Observer {
 public:
  explicit Observers(std::vector<session::Observer*> all) : all_(std::move(all)) {}
  void created(const session::Session& session, std::chrono::nanoseconds took,
               const trace::Context& trace) override {
    for (auto* one : all_) one->created(session, took, trace);
  }
  void create_failed(std::string_view provider, Code code) override {
    for (auto* one : all_) one->create_failed(provider, code);
  }
  void changed(const session::Session& session, session::State from, session::State to,
               const trace::Context& trace) override {
    for (auto* one : all_) one->changed(session, from, to, trace);
  }
  void started(const session::Session& session, const session::ExecutionRecord& record) override {
    for (auto* one : all_) one->started(session, record);
  }
  void finished(const session::Session& session, const session::ExecutionRecord& record,
                std::chrono::nanoseconds took) override {
    for (auto* one : all_) one->finished(session, record, took);
  }
  void sampled(const session::Session& session, const sandbox::Usage& usage) override {
    for (auto* one : all_) one->sampled(session, usage);
  }
  void reached(const session::Session& session, const egress::Attempt& attempt) override {
    for (auto* one : all_) one->reached(session, attempt);
  }

 private:
  std::vector<session::Observer*> all_;
};

// Makes events of what happens to sessions: session.*, execution.*, limit.hit and alert. Belongs to the loop
// thread; `log` must outlive it.
class EventSource final : public session::Observer {
 public:
  explicit EventSource(EventLog& log) : log_(log) {}

  void created(const session::Session& session, std::chrono::nanoseconds took,
               const trace::Context& trace) override;
  void create_failed(std::string_view, Code) override {}
  void changed(const session::Session& session, session::State from, session::State to,
               const trace::Context& trace) override;
  void started(const session::Session& session, const session::ExecutionRecord& record) override;
  void finished(const session::Session& session, const session::ExecutionRecord& record,
                std::chrono::nanoseconds took) override;
  // An alert when a resource passes nine tenths of its limit, and none again before it has fallen below
  // eight.
  void sampled(const session::Session& session, const sandbox::Usage& usage) override;

 private:
  EventLog& log_;
  std::map<std::string, std::uint32_t> alerted_;  // by session; a bit for each resource
};

// The event of a change of state, "session.paused"; empty: it is none.
std::string_view event_of(session::State from, session::State to);

// Which limit ended an execution: time, memory, processes or output; empty if none did.
std::string_view limit_of(const session::ExecutionRecord& record);

}  // namespace atl::telemetry
