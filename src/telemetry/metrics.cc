#include "telemetry/metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "telemetry/event_source.h"

namespace atl::telemetry {
namespace {

template <class Number>
void rows(Exposition& out, const std::vector<std::string_view>& names,
          const std::map<std::vector<std::string>, Number>& values) {
  for (const auto& [key, value] : values) {
    Labels labels;
    for (std::size_t i = 0; i < key.size(); ++i) labels.emplace_back(names[i], key[i]);
    out.sample(labels, value);
  }
}

std::uint64_t resident_bytes() {
  unsigned long pages = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu %lu", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void render_process(Exposition& out) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  out.counter("process_cpu_seconds_total", "CPU time this process used.");
  out.sample({}, seconds);
  out.gauge("process_resident_memory_bytes", "Memory of this process that is in RAM.");
  out.sample({}, resident_bytes());
}

// A server inside a sandbox may answer what it likes, as slowly as it likes: that says nothing about ours.
std::string status_label(const net::Access& access) {
  return access.is_passed_on ? "passed_on" : std::to_string(access.status);
}

}  // namespace

void Metrics::render_providers(Exposition& out, const std::vector<session::ProviderFacts>& providers) {
  std::map<std::vector<std::string>, std::uint64_t> ready, target, events, usable;
  for (const session::ProviderFacts& provider : providers) {
    usable[{provider.name}] = provider.unavailable_because.empty() ? 1 : 0;
    for (const sandbox::PoolLevel& level : provider.pools) {
      // Tenants name images and make environments of their own.
      if (pools_.size() < kPoolsMax) pools_.insert(level.environment);
      const std::string label = pools_.contains(level.environment) ? level.environment : "other";
      // There may be pools of one environment with different limits.
      ready[{provider.name, label}] += level.ready;
      target[{provider.name, label}] += level.target;
    }
    for (const auto& [event, count] : provider.counters) events[{provider.name, event}] = count;
  }
  out.gauge("atoll_provider_up", "1 where a provider makes sandboxes now.");
  rows(out, {"provider"}, usable);
  out.gauge("atoll_pool_ready", "Sandboxes that wait ready.");
  rows(out, {"provider", "environment"}, ready);
  out.gauge("atoll_pool_target", "Sandboxes that should wait ready.");
  rows(out, {"provider", "environment"}, target);
  out.counter("atoll_provider_events_total", "What happened to a provider's sandboxes.");
  rows(out, {"provider", "event"}, events);
}

Metrics::TenantUse& Metrics::use_of(const std::string& tenant) {
  const auto found = tenants_.find(tenant);
  if (found != tenants_.end()) return found->second;
  return tenants_[tenants_.size() < kTenantsMax ? tenant : "other"];
}

void Metrics::created(const session::Session& session, std::chrono::nanoseconds took,
                      const trace::Context& trace) {
  create_seconds_[session.provider].add(took, trace);
  ++session_events_[{session.provider, "created"}];
}

void Metrics::create_failed(std::string_view provider, Code code) {
  ++create_failures_[{std::string(provider), std::string(to_string(code))}];
}

void Metrics::changed(const session::Session& session, session::State from, session::State to,
                      const trace::Context&) {
  if (std::string_view event = event_of(from, to); !event.empty()) {
    event.remove_prefix(event.find('.') + 1);
    ++session_events_[{session.provider, std::string(event)}];
  }
  if (from != to) --sessions_[{session.provider, std::string(to_string(from))}];
  ++sessions_[{session.provider, std::string(to_string(to))}];
  if (session::is_final(to) && measured_.contains(session.session_id)) {
    set_use(session, {});
    measured_.erase(session.session_id);
  }
  TenantUse& use = use_of(session.tenant);
  if (to == session::State::running) ++use.running;
  if (from == session::State::running && from != to) --use.running;
}

void Metrics::finished(const session::Session& session, const session::ExecutionRecord& record,
                       std::chrono::nanoseconds took) {
  // The type of a tool's record is its name, of which tenants can have any number.
  const std::string type = record.kind == "tool" ? "tool" : record.type;
  ++executions_[{session.provider, type, std::string(to_string(record.status))}];
  TenantUse& use = use_of(session.tenant);
  ++use.executions;
  use.cpu += record.usage.cpu_time;
  if (record.status == session::Status::denied) {
    ++denials_;
    return;
  }
  execute_seconds_[{session.provider, type}].add(took, record.trace);
  if (const std::string_view limit = limit_of(record); !limit.empty())
    ++limit_hits_[{session.provider, std::string(limit)}];
}

void Metrics::sampled(const session::Session& session, const sandbox::Usage& usage) {
  if (!session::is_final(session.state)) set_use(session, {usage.memory_bytes, usage.disk_bytes});
}

void Metrics::set_use(const session::Session& session, SessionUse now) {
  TenantUse& of_tenant = use_of(session.tenant);
  SessionUse& before = measured_[session.session_id];
  of_tenant.memory_bytes += now.memory_bytes - before.memory_bytes;
  of_tenant.disk_bytes += now.disk_bytes - before.disk_bytes;
  before = now;
}

void Metrics::reached(const session::Session&, const egress::Attempt& attempt) {
  ++egress_[{attempt.allowed ? "allowed" : "denied"}];
}

void Metrics::served(const net::Access& access) {
  // Anybody can send any word as a method.
  const net::Method method = net::parse_method(access.method);
  const std::string_view word = method == net::Method::other ? "other" : net::to_string(method);
  ++requests_[{std::string(word), status_label(access)}];
  if (!access.is_passed_on) request_seconds_.add(access.duration, access.trace);
  bytes_in_ += access.bytes_in;
  bytes_out_ += access.bytes_out;
}

void Metrics::render_sessions(Exposition& out) const {
  out.gauge("atoll_sessions", "Sessions by provider and state; ended ones since this start.");
  rows(out, {"provider", "state"}, sessions_);
  out.counter("atoll_session_events_total", "What happened to sessions, as events have it.");
  rows(out, {"provider", "event"}, session_events_);
  out.histogram("atoll_create_seconds", "Time to create a session.");
  for (const auto& [provider, histogram] : create_seconds_) out.sample({{"provider", provider}}, histogram);
  out.counter("atoll_create_failures_total", "Sessions that could not be created.");
  rows(out, {"provider", "code"}, create_failures_);
}

void Metrics::render_executions(Exposition& out) const {
  out.histogram("atoll_execute_seconds", "Time from admission to the last record of an execution.");
  for (const auto& [key, histogram] : execute_seconds_)
    out.sample({{"provider", key[0]}, {"language", key[1]}}, histogram);
  out.counter("atoll_executions_total", "Executions and commands by how they ended.");
  rows(out, {"provider", "type", "status"}, executions_);
  out.counter("atoll_limit_hits_total", "Executions that a limit ended.");
  rows(out, {"provider", "limit"}, limit_hits_);
  out.counter("atoll_policy_denials_total", "Executions that a policy refused.");
  out.sample({}, denials_);
  out.counter("atoll_egress_attempts_total", "Connections and look-ups out of sandboxes by decision.");
  rows(out, {"decision"}, egress_);
}

void Metrics::render_tenants(Exposition& out) const {
  out.gauge("atoll_tenant_sessions", "Running sessions of a tenant.");
  for (const auto& [tenant, use] : tenants_) out.sample({{"tenant", tenant}}, use.running);
  out.gauge("atoll_tenant_memory_bytes", "Memory of a tenant's sandboxes, as it was last measured.");
  for (const auto& [tenant, use] : tenants_) out.sample({{"tenant", tenant}}, use.memory_bytes);
  out.gauge("atoll_tenant_disk_bytes", "Disk of a tenant's sandboxes, as it was last measured.");
  for (const auto& [tenant, use] : tenants_) out.sample({{"tenant", tenant}}, use.disk_bytes);
  out.counter("atoll_tenant_executions_total", "Executions and commands of a tenant.");
  for (const auto& [tenant, use] : tenants_) out.sample({{"tenant", tenant}}, use.executions);
  out.counter("atoll_tenant_cpu_seconds_total", "CPU time that a tenant's executions used.");
  for (const auto& [tenant, use] : tenants_)
    out.sample({{"tenant", tenant}}, std::chrono::duration<double>(use.cpu).count());
}

void Metrics::render_http(Exposition& out) const {
  out.counter("atoll_http_requests_total",
              "Requests by method and status; 0 is an aborted answer, passed_on a sandbox's.");
  rows(out, {"method", "status"}, requests_);
  out.histogram("atoll_http_request_seconds", "Time to answer a request.");
  out.sample({}, request_seconds_);
  out.counter("atoll_http_bytes_total", "Bytes received and sent.");
  out.sample({{"direction", "in"}}, bytes_in_);
  out.sample({{"direction", "out"}}, bytes_out_);
  out.histogram("atoll_loop_lag_seconds", "How late the loop came to what was due.");
  out.sample({}, loop_lag_);
}

std::string Metrics::render(const std::vector<session::ProviderFacts>& providers, Format format) {
  // Whoever looks for growth misses the first of a row that was not there before.
  for (const session::ProviderFacts& provider : providers)
    for (const char* event : {"created", "paused", "resumed", "ended", "failed", "lost"})
      session_events_.try_emplace({provider.name, event}, 0);
  Exposition out(format);
  render_sessions(out);
  render_executions(out);
  render_providers(out, providers);
  render_tenants(out);
  render_http(out);
  for (const Part& part : parts_) part(out);
  render_process(out);
  return std::move(out).done();
}

}  // namespace atl::telemetry
