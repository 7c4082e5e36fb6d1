#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "net/server.h"
#include "session/observer.h"
#include "session/service.h"

namespace atl::telemetry {

// Counts of how often something took how long. Bounds in seconds, fixed, from 0.1 ms to a minute.
class Histogram {
 public:
  static constexpr std::array kBounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                         0.05,   0.1,     0.25,   0.5,   1.0,    5.0,   15.0, 60.0};
  void add(std::chrono::nanoseconds took);
  // Appends the lines of one histogram. `labels` is `a="b",` or empty.
  void append(std::string& out, std::string_view name, const std::string& labels) const;

 private:
  std::array<std::uint64_t, kBounds.size() + 1> counts_{};
  std::uint64_t total_ = 0;
  double sum_seconds_ = 0;
};

// What happened, as numbers: a reader of what sessions and the server report. Belongs to the loop thread.
class Metrics final : public session::Observer {
 public:
  void created(const session::Session& session, std::chrono::nanoseconds took) override;
  void create_failed(std::string_view provider, Code code) override;
  void changed(const session::Session& session, session::State from, session::State to) override;
  void finished(const session::Session& session, const session::ExecutionRecord& record,
                std::chrono::nanoseconds took) override;
  void served(const net::Access& access);

  // The Prometheus text format, version 0.0.4.
  std::string render(const std::vector<session::ProviderFacts>& providers) const;

 private:
  using Key = std::vector<std::string>;
  std::map<Key, std::int64_t> sessions_;              // provider, state
  std::map<Key, std::uint64_t> create_failures_;      // provider, code
  std::map<Key, std::uint64_t> executions_;           // provider, type, status
  std::map<Key, std::uint64_t> limit_hits_;           // provider, limit
  std::map<Key, std::uint64_t> requests_;             // method, status
  std::map<std::string, Histogram> create_seconds_;   // provider
  std::map<std::string, Histogram> execute_seconds_;  // provider
  Histogram request_seconds_;
  std::uint64_t denials_ = 0;
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;
};

}  // namespace atl::telemetry
