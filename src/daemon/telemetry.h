#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "config/configuration.h"
#include "net/server.h"
#include "sandbox/measured.h"
#include "sandbox/provider.h"
#include "session/providers.h"
#include "store/store.h"
#include "telemetry/delivery.h"
#include "telemetry/event_log.h"
#include "telemetry/event_source.h"
#include "telemetry/followers.h"
#include "telemetry/health.h"
#include "telemetry/metrics.h"
#include "telemetry/span_exporter.h"
#include "tools/tool_executor.h"

namespace atl::daemon {

class Auditing;
class Indexing;

// Metrics, events, traces and health of the service, from the settings `trace.*` and `events.*`. Belongs to
// the loop thread.
class Telemetry {
 public:
  // A bad setting is Code::invalid_argument that names it.
  static Result<std::unique_ptr<Telemetry>> open(const config::Configuration& configuration,
                                                 const std::string& data, std::string installation);
  ~Telemetry();

  // What sessions tell.
  session::Observer& observer() { return observers_; }
  telemetry::Metrics& metrics() { return metrics_; }
  telemetry::EventLog& events() { return *events_; }
  telemetry::Followers& followers() { return followers_; }
  telemetry::Health& health() { return health_; }

  // What else shows numbers and health; it must outlive this.
  void watch(const store::Store& store);
  void watch(const Auditing& auditing);
  void watch(const sandbox::Provider& provider);
  void watch(const session::AbsentProvider& absent);
  // Its answers say what is degraded.
  void watch(net::Server& server) { server_ = &server; }
  void watch(const tools::ToolExecutor& tools);
  // Also becomes an observer of sessions.
  void watch(Indexing& indexing);
  // Measures how late the loop is, until the loop ends or stop().
  void start(boost::asio::io_context& loop);
  void stop();

 private:
  Telemetry() = default;
  Result<void> start_tracing(const config::Configuration& configuration, std::string installation);
  Result<void> start_deliveries(const config::Configuration& configuration, const std::string& directory);
  void show_deliveries();
  // Those of a provider that forks interpreters.
  void watch_zygotes(const sandbox::Provider& provider, const sandbox::Measured& measured);
  void tell_degraded();
  boost::asio::awaitable<void> measure_loop();

  telemetry::Metrics metrics_;
  telemetry::Health health_;
  std::unique_ptr<telemetry::EventLog> events_;
  telemetry::Followers followers_;  // reads the log
  std::unique_ptr<telemetry::EventSource> source_;
  telemetry::Observers observers_{{}};
  std::unique_ptr<telemetry::SpanExporter> spans_;
  std::unique_ptr<telemetry::Deliveries> deliveries_;
  std::vector<std::pair<std::string, const sandbox::Pooled*>> pools_;  // by the provider's name
  net::Server* server_ = nullptr;
  bool stopping_ = false;
};

}  // namespace atl::daemon
