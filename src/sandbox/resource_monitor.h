#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/limits.h"

namespace atl::sandbox {

class Sandbox;

enum class Resource : std::uint8_t { memory, cpu_time, wall_time, processes, disk, output };
std::string_view to_string(Resource resource);

// Where one resource stands against its limit.
struct LimitStatus {
  Resource resource;
  std::uint64_t used = 0;
  std::uint64_t limit = 0;  // 0: none
  double fraction() const { return limit == 0 ? 0 : static_cast<double>(used) / static_cast<double>(limit); }
  bool is_exceeded() const { return limit != 0 && used > limit; }
};

// Every resource that `limits` bounds, measured by `usage`.
std::vector<LimitStatus> limit_status(const Usage& usage, const Limits& limits);

struct Alert {
  std::string subject;  // what is being watched
  LimitStatus status;
  double threshold = 0;  // the highest fraction that was crossed; above 1: over the limit
  Usage usage;
};

struct MonitorOptions {
  std::chrono::milliseconds interval{200};
  // Fractions of a limit at which to alert, each once until usage falls below it again.
  std::vector<double> thresholds{0.8, 0.95, 1.0};
  std::function<void(const Alert&)> on_alert;
};

// Watches what sandboxes and processes consume and speaks up. The kernel's own limits do not depend on it.
// Belongs to the loop thread.
class ResourceMonitor {
 public:
  // Gives the current usage, or an error when the subject is gone: watching then ends by itself.
  using Source = std::function<Result<Usage>()>;

  explicit ResourceMonitor(boost::asio::any_io_executor executor);
  ~ResourceMonitor();
  ResourceMonitor(const ResourceMonitor&) = delete;
  ResourceMonitor& operator=(const ResourceMonitor&) = delete;

  // Code::already_exists for a subject that is being watched, Code::not_found if the source's first answer is
  // an error. Looks at once, then at every interval; on_alert is called from both.
  Result<void> start(std::string subject, Source source, Limits limits, MonitorOptions options);
  // Any process of this machine that the caller owns (root: any), its children not counted. Code::not_found
  // if there is none, Code::permission_denied if it is somebody else's.
  Result<void> start_process(std::string subject, pid_t pid, Limits limits, MonitorOptions options);
  // Nothing is called for it from here on. An unknown subject is no error.
  void stop(const std::string& subject);
  // Now, and not at the next interval: for those who heard that something changed.
  void look(const std::string& subject) const;
  std::vector<std::string> subjects() const;

  // The last look, and the highest values seen so far. Code::not_found for an unknown subject.
  Result<Usage> current(const std::string& subject) const;
  Result<Usage> peak(const std::string& subject) const;
  Result<std::vector<LimitStatus>> status(const std::string& subject) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // timers that are due already hold it weakly
};

// Usage of one process of this machine from /proc: CPU time, memory now and at its highest, bytes read and
// written.
Result<Usage> process_usage(pid_t pid);

// Ends what goes over a limit that no kernel mechanism enforces. One enforcer a sandbox. Watches from its
// construction until it is destroyed; the monitor must outlive it.
class LimitEnforcer {
 public:
  using End = std::function<void(const LimitStatus&)>;

  // `end` is called once, for the first resource found over its limit.
  LimitEnforcer(ResourceMonitor& monitor, std::string subject, ResourceMonitor::Source source, Limits limits,
                End end, MonitorOptions options = {});
  ~LimitEnforcer();
  LimitEnforcer(const LimitEnforcer&) = delete;
  LimitEnforcer& operator=(const LimitEnforcer&) = delete;

  bool has_ended() const { return *ended_; }

 private:
  ResourceMonitor& monitor_;
  std::string subject_;
  std::shared_ptr<bool> ended_;  // `end` may destroy this while the callback runs
};

}  // namespace atl::sandbox
