#include "telemetry/metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

namespace atl::telemetry {
namespace {

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

template <class Number>
void rows(std::string& out, std::string_view name, const std::vector<std::string_view>& labels,
          const std::map<std::vector<std::string>, Number>& values) {
  for (const auto& [key, value] : values) {
    out += name;
    for (std::size_t i = 0; i < key.size(); ++i) {
      fmt::format_to(std::back_inserter(out), "{}{}=\"{}\"", i == 0 ? '{' : ',', labels[i], escaped(key[i]));
    }
    fmt::format_to(std::back_inserter(out), "}} {}\n", value);
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

void append_process(std::string& out) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  head(out, "process_cpu_seconds_total", "counter", "CPU time this process used.");
  fmt::format_to(std::back_inserter(out), "process_cpu_seconds_total {}\n", seconds);
  head(out, "process_resident_memory_bytes", "gauge", "Memory of this process that is in RAM.");
  fmt::format_to(std::back_inserter(out), "process_resident_memory_bytes {}\n", resident_bytes());
}

// Which limit an outcome's reason names; the reason is ours, its first word is the limit.
std::string limit_of(const session::ExecutionRecord& record) {
  switch (record.status) {
    case session::Status::timeout: return "time";
    case session::Status::oom: return "memory";
    case session::Status::killed:
      if (record.reason.find("process") != std::string::npos) return "processes";
      if (record.reason.find("output") != std::string::npos) return "output";
      return "";
    default: return "";
  }
}

}  // namespace

void Histogram::add(std::chrono::nanoseconds took) {
  const double seconds = std::chrono::duration<double>(took).count();
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
  ++counts_[bucket];
  ++total_;
  sum_seconds_ += seconds;
}

void Histogram::append(std::string& out, std::string_view name, const std::string& labels) const {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    below += counts_[i];
    fmt::format_to(std::back_inserter(out), "{}_bucket{{{}le=\"{}\"}} {}\n", name, labels, kBounds[i], below);
  }
  fmt::format_to(std::back_inserter(out), "{}_bucket{{{}le=\"+Inf\"}} {}\n", name, labels, total_);
  const std::string bare = labels.empty() ? "" : "{" + labels.substr(0, labels.size() - 1) + "}";
  fmt::format_to(std::back_inserter(out), "{}_sum{} {}\n{}_count{} {}\n", name, bare, sum_seconds_, name,
                 bare, total_);
}

void Metrics::created(const session::Session& session, std::chrono::nanoseconds took) {
  create_seconds_[session.provider].add(took);
}

void Metrics::create_failed(std::string_view provider, Code code) {
  ++create_failures_[{std::string(provider), std::string(to_string(code))}];
}

void Metrics::changed(const session::Session& session, session::State from, session::State to) {
  if (from != to) --sessions_[{session.provider, std::string(to_string(from))}];
  ++sessions_[{session.provider, std::string(to_string(to))}];
}

void Metrics::finished(const session::Session& session, const session::ExecutionRecord& record,
                       std::chrono::nanoseconds took) {
  ++executions_[{session.provider, record.type, std::string(to_string(record.status))}];
  if (record.status == session::Status::denied) {
    ++denials_;
    return;
  }
  execute_seconds_[session.provider].add(took);
  if (std::string limit = limit_of(record); !limit.empty())
    ++limit_hits_[{session.provider, std::move(limit)}];
}

void Metrics::served(const net::Access& access) {
  ++requests_[{std::string(access.method.size() <= 8 ? access.method : "other"),
               std::to_string(access.status)}];
  request_seconds_.add(access.duration);
  bytes_in_ += access.bytes_in;
  bytes_out_ += access.bytes_out;
}

std::string Metrics::render(const std::vector<session::ProviderFacts>& providers) const {
  std::string out;
  head(out, "atoll_sessions", "gauge", "Sessions by provider and state; ended ones since this start.");
  rows(out, "atoll_sessions", {"provider", "state"}, sessions_);
  head(out, "atoll_create_seconds", "histogram", "Time to create a session.");
  for (const auto& [provider, histogram] : create_seconds_) {
    histogram.append(out, "atoll_create_seconds", fmt::format("provider=\"{}\",", provider));
  }
  head(out, "atoll_create_failures_total", "counter", "Sessions that could not be created.");
  rows(out, "atoll_create_failures_total", {"provider", "code"}, create_failures_);
  head(out, "atoll_execute_seconds", "histogram", "Time from admission to the last record of an execution.");
  for (const auto& [provider, histogram] : execute_seconds_) {
    histogram.append(out, "atoll_execute_seconds", fmt::format("provider=\"{}\",", provider));
  }
  head(out, "atoll_executions_total", "counter", "Executions and commands by how they ended.");
  rows(out, "atoll_executions_total", {"provider", "type", "status"}, executions_);
  head(out, "atoll_limit_hits_total", "counter", "Executions that a limit ended.");
  rows(out, "atoll_limit_hits_total", {"provider", "limit"}, limit_hits_);
  head(out, "atoll_policy_denials_total", "counter", "Executions that a policy refused.");
  fmt::format_to(std::back_inserter(out), "atoll_policy_denials_total {}\n", denials_);
  head(out, "atoll_pool_ready", "gauge", "Sandboxes that wait ready.");
  std::map<Key, std::uint64_t> ready, target;
  for (const session::ProviderFacts& provider : providers) {
    for (const sandbox::PoolLevel& level : provider.pools) {
      ready[{provider.name, level.environment}] = level.ready;
      target[{provider.name, level.environment}] = level.target;
    }
  }
  rows(out, "atoll_pool_ready", {"provider", "environment"}, ready);
  head(out, "atoll_pool_target", "gauge", "Sandboxes that should wait ready.");
  rows(out, "atoll_pool_target", {"provider", "environment"}, target);
  std::map<Key, std::uint64_t> events;
  for (const session::ProviderFacts& provider : providers)
    for (const auto& [event, count] : provider.counters) events[{provider.name, event}] = count;
  head(out, "atoll_provider_events_total", "counter", "What happened to a provider's sandboxes.");
  rows(out, "atoll_provider_events_total", {"provider", "event"}, events);
  head(out, "atoll_http_requests_total", "counter", "Requests by method and status; 0 is an aborted answer.");
  rows(out, "atoll_http_requests_total", {"method", "status"}, requests_);
  head(out, "atoll_http_request_seconds", "histogram", "Time to answer a request.");
  request_seconds_.append(out, "atoll_http_request_seconds", "");
  head(out, "atoll_http_bytes_total", "counter", "Bytes received and sent.");
  fmt::format_to(std::back_inserter(out), "atoll_http_bytes_total{{direction=\"in\"}} {}\n", bytes_in_);
  fmt::format_to(std::back_inserter(out), "atoll_http_bytes_total{{direction=\"out\"}} {}\n", bytes_out_);
  append_process(out);
  return out;
}

}  // namespace atl::telemetry
