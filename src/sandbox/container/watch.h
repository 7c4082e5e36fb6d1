#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "sandbox/container/container_sandbox.h"
#include "sandbox/resource_monitor.h"

namespace atl::sandbox::container {

// Calls alerts.on_alert when a sandbox comes near one of its limits, or when the kernel ended a process of it
// for want of memory. Does nothing if on_alert is empty. Belongs to the loop thread.
class Watcher {
 public:
  Watcher(boost::asio::any_io_executor executor, MonitorOptions alerts);
  // Watches the sandbox until it ends, without keeping it alive. Alerts carry the id that it has at this
  // moment.
  void add(const std::shared_ptr<ContainerState>& state);

 private:
  boost::asio::any_io_executor executor_;
  MonitorOptions alerts_;
  ResourceMonitor monitor_;
};

}  // namespace atl::sandbox::container
