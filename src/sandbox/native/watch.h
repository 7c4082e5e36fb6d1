#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <map>
#include <memory>
#include <string>

#include "sandbox/native/sandbox.h"
#include "sandbox/resource_monitor.h"

namespace atl::sandbox::native {

// Watches live sandboxes on the daemon's side: tells of thresholds that somebody asked for, and ends what
// goes over a limit that this machine's kernel does not enforce. Does nothing where neither is wanted.
// Belongs to the loop thread.
class Watcher {
 public:
  Watcher(boost::asio::any_io_executor executor, MonitorOptions alerts)
      : executor_(executor), alerts_(std::move(alerts)), monitor_(std::move(executor)) {}

  // Holds the state weakly: watching ends with the sandbox, or by remove().
  void add(const std::shared_ptr<NativeState>& state);
  // No alert of it comes from here on. An unknown name is no error.
  void remove(const std::string& name);

 private:
  struct Watched {
    std::unique_ptr<LimitEnforcer> enforcer;
    // Readable when the memory limit was reached, or one of the thresholds below it (cgroup.h).
    std::unique_ptr<boost::asio::posix::stream_descriptor> memory;
    std::unique_ptr<boost::asio::posix::stream_descriptor> levels;
    std::uint64_t oom_kills = 0;
  };
  void tell_memory(Watched& watched, const NativeState& state);
  void listen(const std::shared_ptr<Watched>& watched, const std::weak_ptr<NativeState>& state);
  void watch_levels(const std::shared_ptr<Watched>& watched, const NativeState& state);
  void listen_levels(const std::shared_ptr<Watched>& watched, const std::string& name);

  boost::asio::any_io_executor executor_;
  MonitorOptions alerts_;
  ResourceMonitor monitor_;
  std::map<std::string, std::shared_ptr<Watched>> watched_;  // reads under way hold theirs, too
};

}  // namespace atl::sandbox::native
