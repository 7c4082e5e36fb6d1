#pragma once

#include <memory>
#include <string>

#include "audit/forward.h"
#include "audit/log.h"
#include "config/configuration.h"

namespace atl::daemon {

// The audit log of the service and what is sent elsewhere of it, from the settings `audit.*`.
class Auditing {
 public:
  // Opens the log, says in it with which configuration the service starts, and begins to forward. A bad
  // setting is Code::invalid_argument that names it.
  static Result<std::unique_ptr<Auditing>> open(const config::Configuration& configuration,
                                                const std::string& data, audit::Durability durability);
  ~Auditing();

  const std::shared_ptr<audit::Log>& log() const { return log_; }
  // The names of targets whose last batch failed.
  std::vector<std::string> failing_targets() const {
    return forwarder_ ? forwarder_->failing() : std::vector<std::string>();
  }
  // Writes an entry about something that the service did by itself, or failed to do (`error`).
  void tell(std::string action, std::string object, std::string tenant = {}, const Error* error = nullptr);
  // A tenant's secret went into a request of one of its sessions. Only its name is written.
  void tell_secret(const std::string& tenant, const std::string& name);
  // Signs the head and ends: later entries are refused.
  void close();

 private:
  Auditing() = default;
  std::unique_ptr<audit::Forwarder> forwarder_;
  std::shared_ptr<audit::Log> log_;
};

}  // namespace atl::daemon
