#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "sandbox/container/container_sandbox.h"
#include "sandbox/resource_monitor.h"

namespace atl::sandbox::container {

// Tells of sandboxes that come near their limits, of memory that ran out among them. Does nothing if nobody
// wants to hear of it. Belongs to the loop thread.
class Watcher {
 public:
  Watcher(boost::asio::any_io_executor executor, MonitorOptions alerts);
  // Until it ends; keeps no sandbox alive. Alerts name it by the id that it has now.
  void add(const std::shared_ptr<ContainerState>& state);

 private:
  boost::asio::any_io_executor executor_;
  MonitorOptions alerts_;
  ResourceMonitor monitor_;
};

}  // namespace atl::sandbox::container
