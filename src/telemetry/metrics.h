#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "net/server.h"
#include "session/observer.h"
#include "session/service.h"
#include "telemetry/exposition.h"

namespace atl::telemetry {

// Counts what sessions and the HTTP server report. Labels come from closed sets, so that nobody can make the
// number of time series grow; tenants and the environments of pools are the exception, and of those the first
// kTenantsMax and kPoolsMax have a label of their own while all others share "other". Belongs to the loop
// thread. Numbers begin at zero at every start.
class Metrics final : public session::Observer {
 public:
  static constexpr std::size_t kTenantsMax = 100, kPoolsMax = 50;

  void created(const session::Session& session, std::chrono::nanoseconds took,
               const trace::Context& trace) override;
  void create_failed(std::string_view provider, Code code) override;
  void changed(const session::Session& session, session::State from, session::State to,
               const trace::Context& trace) override;
  void finished(const session::Session& session, const session::ExecutionRecord& record,
                std::chrono::nanoseconds took) override;
  void sampled(const session::Session& session, const sandbox::Usage& usage) override;
  void reached(const session::Session& session, const egress::Attempt& attempt) override;
  void served(const net::Access& access);
  // How much later than planned the loop ran a timer.
  void loop_was_late(std::chrono::nanoseconds by) { loop_lag_.add(by); }

  // Parts of the service that count by themselves. Each is called for every answer, in the order of adding,
  // and must not block; what it refers to must outlive this.
  using Part = std::function<void(Exposition&)>;
  void add(Part part) { parts_.push_back(std::move(part)); }

  std::string render(const std::vector<session::ProviderFacts>& providers, Format format);

 private:
  using Key = std::vector<std::string>;
  struct TenantUse {
    std::uint64_t executions = 0;
    std::chrono::microseconds cpu{0};
    std::int64_t running = 0;
    std::uint64_t memory_bytes = 0, disk_bytes = 0;  // of its sessions, as they were last measured
  };
  struct SessionUse {
    std::uint64_t memory_bytes = 0, disk_bytes = 0;
  };
  void set_use(const session::Session& session, SessionUse now);
  TenantUse& use_of(const std::string& tenant);
  void render_sessions(Exposition& out) const;
  void render_providers(Exposition& out, const std::vector<session::ProviderFacts>& providers);
  void render_executions(Exposition& out) const;
  void render_tenants(Exposition& out) const;
  void render_http(Exposition& out) const;

  std::map<Key, std::int64_t> sessions_;             // provider, state
  std::map<Key, std::uint64_t> session_events_;      // provider, event
  std::map<Key, std::uint64_t> create_failures_;     // provider, code
  std::map<Key, std::uint64_t> executions_;          // provider, type, status
  std::map<Key, std::uint64_t> limit_hits_;          // provider, limit
  std::map<Key, std::uint64_t> requests_;            // method, status
  std::map<Key, std::uint64_t> egress_;              // decision
  std::map<std::string, Histogram> create_seconds_;  // provider
  std::map<Key, Histogram> execute_seconds_;         // provider, language
  std::map<std::string, TenantUse> tenants_;
  std::set<std::string> pools_;                 // environments that have a label
  std::map<std::string, SessionUse> measured_;  // sessions that have not ended
  Histogram request_seconds_;
  Latency loop_lag_;
  std::uint64_t denials_ = 0;
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;
  std::vector<Part> parts_;
};

}  // namespace atl::telemetry
