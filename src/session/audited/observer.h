#pragma once

#include <memory>

#include "audit/log.h"
#include "session/observer.h"

namespace atl::session::audited {

// Entries for what happens to sessions by itself: an end by age, a sandbox that was lost, a pause for want of
// use. What somebody asked for is AuditedService's to write. Tells `next` everything, before it.
class AuditedObserver final : public Observer {
 public:
  AuditedObserver(Observer& next, std::shared_ptr<audit::Log> log) : next_(next), log_(std::move(log)) {}

  void created(const Session& session, std::chrono::nanoseconds took, const trace::Context& trace) override {
    next_.created(session, took, trace);
  }
  void create_failed(std::string_view provider, Code code) override { next_.create_failed(provider, code); }
  void changed(const Session& session, State from, State to, const trace::Context& trace) override;
  void started(const Session& session, const ExecutionRecord& record) override {
    next_.started(session, record);
  }
  void sampled(const Session& session, const sandbox::Usage& usage) override {
    next_.sampled(session, usage);
  }
  void reached(const Session& session, const egress::Attempt& attempt) override {
    next_.reached(session, attempt);
  }
  void finished(const Session& session, const ExecutionRecord& record,
                std::chrono::nanoseconds took) override {
    next_.finished(session, record, took);
  }

 private:
  Observer& next_;
  std::shared_ptr<audit::Log> log_;
};

}  // namespace atl::session::audited
