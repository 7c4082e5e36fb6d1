#include "telemetry/event_source.h"

#include <fmt/format.h>

#include "base/json.h"
#include "sandbox/resource_monitor.h"

namespace atl::telemetry {
namespace {

// Of a text that a program inside chose, such as the name of its exception: an event is small.
constexpr std::size_t kFieldMax = 1024;

// The members of a small JSON object.
class Fields {
 public:
  Fields& text(std::string_view name, std::string_view value) {
    begin(name);
    json::append_quoted(out_, value.substr(0, kFieldMax));
    return *this;
  }
  template <class Number>
  Fields& number(std::string_view name, Number value) {
    begin(name);
    fmt::format_to(std::back_inserter(out_), "{}", value);
    return *this;
  }
  std::string done() { return std::move(out_) + "}"; }

 private:
  void begin(std::string_view name) {
    if (out_.size() > 1) out_ += ',';
    json::append_quoted(out_, name);
    out_ += ':';
  }
  std::string out_ = "{";
};

double milliseconds(std::chrono::nanoseconds took) {
  return std::chrono::duration<double, std::milli>(took).count();
}

std::string id_of(const trace::Context& trace) {
  return trace.is_valid() ? trace::to_hex(trace.trace_id) : std::string();
}

constexpr double kAlertAbove = 0.9, kAlertAgainBelow = 0.8;

}  // namespace

std::string_view event_of(session::State from, session::State to) {
  using session::State;
  if (from == to) return {};
  switch (to) {
    case State::running: return from == State::paused ? "session.resumed" : "";
    case State::paused: return "session.paused";
    case State::stopped: return "session.ended";
    case State::failed: return "session.failed";
    case State::lost: return "session.lost";
    case State::creating:
    case State::stopping: return {};
  }
  std::unreachable();
}

std::string_view limit_of(const session::ExecutionRecord& record) {
  switch (record.status) {
    case session::Status::timeout: return "time";
    case session::Status::oom: return "memory";
    case session::Status::killed:
      // The reason is ours; its first words name the limit.
      if (record.reason.find("process") != std::string::npos) return "processes";
      if (record.reason.find("output") != std::string::npos) return "output";
      return {};
    default: return {};
  }
}

void EventSource::created(const session::Session& session, std::chrono::nanoseconds took,
                          const trace::Context& trace) {
  const std::string trace_id = id_of(trace);
  Fields data;
  data.text("provider", session.provider);
  data.number("duration_ms", milliseconds(took));
  if (!session.parent.empty()) data.text("parent", session.parent);
  log_.append({.type = "session.created",
               .tenant = session.tenant,
               .session_id = session.session_id,
               .environment = session.environment,
               .trace_id = trace_id,
               .data = data.done()});
}

void EventSource::changed(const session::Session& session, session::State from, session::State to,
                          const trace::Context& trace) {
  if (session::is_final(to)) alerted_.erase(session.session_id);
  const std::string_view type = event_of(from, to);
  if (type.empty()) return;
  const std::string trace_id = id_of(trace);
  Fields data;
  data.text("provider", session.provider).text("reason", session.reason);
  log_.append({.type = type,
               .tenant = session.tenant,
               .session_id = session.session_id,
               .environment = session.environment,
               .trace_id = trace_id,
               .data = data.done()});
}

void EventSource::started(const session::Session& session, const session::ExecutionRecord& record) {
  Fields data;
  data.text("record_id", record.record_id).text("kind", record.kind).text("type", record.type);
  const std::string trace = id_of(record.trace);
  log_.append({.type = "execution.started",
               .tenant = session.tenant,
               .session_id = session.session_id,
               .environment = session.environment,
               .trace_id = trace,
               .data = data.done()});
}

void EventSource::finished(const session::Session& session, const session::ExecutionRecord& record,
                           std::chrono::nanoseconds took) {
  const std::string trace = id_of(record.trace);
  const bool denied = record.status == session::Status::denied;
  Fields data;
  data.text("record_id", record.record_id).text("kind", record.kind).text("type", record.type);
  data.text("status", to_string(record.status)).number("exit_code", record.exit_code);
  data.number("duration_ms", milliseconds(took));
  data.number("cpu_ms", static_cast<double>(record.usage.cpu_time.count()) / 1000);
  if (!record.reason.empty()) data.text("reason", record.reason);
  if (!record.error.empty()) data.text("error", record.error);
  log_.append({.type = denied ? "execution.denied" : "execution.finished",
               .tenant = session.tenant,
               .session_id = session.session_id,
               .environment = session.environment,
               .trace_id = trace,
               .data = data.done()});
  const std::string_view limit = limit_of(record);
  if (limit.empty()) return;
  Fields hit;
  hit.text("limit", limit).text("record_id", record.record_id).text("reason", record.reason);
  log_.append({.type = "limit.hit",
               .tenant = session.tenant,
               .session_id = session.session_id,
               .environment = session.environment,
               .trace_id = trace,
               .data = hit.done()});
}

void EventSource::sampled(const session::Session& session, const sandbox::Usage& usage) {
  for (const sandbox::LimitStatus& status : sandbox::limit_status(usage, session.limits)) {
    using sandbox::Resource;
    // The others are those of single executions and have their own end.
    const bool lasts = status.resource == Resource::memory || status.resource == Resource::disk ||
                       status.resource == Resource::processes;
    if (!lasts) continue;
    const std::uint32_t bit = 1U << static_cast<unsigned>(status.resource);
    const auto found = alerted_.find(session.session_id);
    const bool was_told = found != alerted_.end() && (found->second & bit) != 0;
    if (was_told && status.fraction() < kAlertAgainBelow) found->second &= ~bit;
    if (was_told || status.fraction() < kAlertAbove) continue;
    alerted_[session.session_id] |= bit;
    Fields data;
    data.text("resource", sandbox::to_string(status.resource));
    data.number("used", status.used).number("limit", status.limit);
    log_.append({.type = "alert",
                 .tenant = session.tenant,
                 .session_id = session.session_id,
                 .environment = session.environment,
                 .data = data.done()});
  }
}

}  // namespace atl::telemetry
